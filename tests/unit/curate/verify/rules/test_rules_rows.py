"""Rows of public pools whose problems a rule judges, and rows that only look like them."""

import json
from typing import Any

import pytest
from support.pools import pool_of, run

from curate.ingest.builder import Builder
from curate.ingest.mapping import guess
from curate.verifiable.stage import VerifiableConfig, stage

SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
KWARGS = {"num_words": 50, "relation": "at least", "language": None}
WORDS = "length_constraints:number_words"
ENTRY = {"source_dataset": "chain_sum", "source_index": 0, "difficulty": {"num_terms": [2, 6]}}
USER = [{"role": "user", "content": "Write."}]
ROWS: dict[str, tuple[str, dict[str, Any]]] = {
    "IFEval": ("instructions", {"key": 7, "prompt": "Write.", "instruction_id_list": [WORDS], "kwargs": [KWARGS]}),
    "IF_multi_constraints": (
        "instructions",
        {
            "key": "x_1", "messages": USER, "ground_truth": str([{"instruction_id": [WORDS], "kwargs": [KWARGS]}]),
            "dataset": "ifeval", "constraint_type": "multi", "constraint": "at least 50 words",
        },
    ),
    "RLVR-IFeval": (
        "instructions",
        {
            "messages": USER, "dataset": "ifeval", "constraint_type": "Number Words",
            "ground_truth": json.dumps({"func_name": "validate_word_constraint", "N": 50, "quantifier": "at least"}),
        },
    ),
    "json-mode-eval": ("json", {"prompt": USER, "completion": '{"a": 1}', "schema": json.dumps(SCHEMA)}),
    "a schema as a table": ("json", {"question": "Extract a.", "json_schema": SCHEMA}),
    "reasoning-gym": ("puzzle", {"question": "Sort b, a.", "answer": "a, b", "metadata": ENTRY}),
    "reasoning-gym in JSON": ("puzzle", {"question": "Sort b, a.", "answer": "a, b", "metadata": json.dumps(ENTRY)}),
    "reasoning-gym without an answer": ("puzzle", {"question": "Make 7.", "answer": None, "metadata": ENTRY}),
    "a number of reasoning-gym": ("math", {"question": "1 + 1?", "answer": "-2", "metadata": ENTRY}),
    "text to SQL": ("math", {"question": "How many?", "answer": "3", "schema": "CREATE TABLE t (a int)"}),
    "metadata": ("math", {"question": "1 + 1?", "answer": "2", "metadata": {"source": "web"}}),
    "a kind of the source's own": ("math", {"question": "1 + 1?", "answer": "2", "kind": "words"}),
    "mathematics by name": ("math", {"question": "1 + 1?", "answer": "2", "kind": "math", "metadata": ENTRY}),
    "a table as an answer": ("math", {"question": "1 + 1?", "answer": '{"a": 2}'}),
}  # fmt: skip


def problem(record: dict[str, Any], **stated: str) -> dict[str, Any]:
    return Builder(guess([record], stated, "pool"), "pool", 10_000).problem(record, 0)


@pytest.mark.parametrize("name", ROWS)
def test_the_kind_is_recognised_by_the_row(name: str) -> None:
    kind, record = ROWS[name]
    found = problem(record)
    assert found["kind"] == kind
    # an artifact's row is read as it was written
    again = problem({"prompt": found["prompt"], "ground_truth": found["ground_truth"], "kind": kind})
    assert again["ground_truth"] == found["ground_truth"]
    assert (again["kind"], again["key"]) == (found["kind"], found["key"])


def test_every_public_form_of_a_constraint_becomes_the_same_ground_truth() -> None:
    truths = {problem(record)["ground_truth"] for kind, record in ROWS.values() if kind == "instructions"}
    assert truths == {
        json.dumps({"instruction_id_list": [WORDS], "kwargs": [{"num_words": 50, "relation": "at least"}]})
    }


def test_a_named_kind_is_kept_with_its_cell_whatever_it_holds() -> None:
    words = problem({"question": "Primary colours?", "answer": ["red", "green"]}, kind="words")
    assert (words["kind"], words["ground_truth"]) == ("words", '["red", "green"]')
    named = problem({"question": "1 + 1?", "answer": "2", "metadata": ENTRY}, kind="puzzle")
    assert json.loads(named["ground_truth"]) == {"question": "1 + 1?", "answer": "2", "metadata": ENTRY}
    assert problem({"question": "Q?", "answer": "red, green"}, kind="words")["ground_truth"] == "red, green"
    odd = problem({"question": "Q?", "answer": "no schema"}, kind="json")
    assert (odd["kind"], odd["ground_truth"]) == ("json", "no schema")


def asked(*constraints: tuple[str, dict[str, Any]]) -> str:
    return json.dumps({"instruction_id_list": [one for one, _ in constraints], "kwargs": [a for _, a in constraints]})


def test_a_rule_that_nothing_can_judge_or_that_tests_nothing_is_dropped_with_its_evidence() -> None:
    comma = ("punctuation:no_comma", dict[str, Any]())
    rows = [
        ("instructions", asked((WORDS, KWARGS)), None, None),
        ("instructions", asked(("new:sonnet", {})), "no_verifier", "constraint new:sonnet is unknown"),
        ("instructions", None, "no_verifier", "there is no ground truth"),
        ("instructions", asked(comma), "no_tests", "the answer 'ok' meets its rule"),
        ("instructions", asked(comma, (WORDS, KWARGS)), None, None),
        ("json", json.dumps(SCHEMA), None, None),
        ("json", json.dumps({"type": "object", "properties": {}}), "no_tests", "the answer '{}' meets its rule"),
        ("json", "no schema", "no_verifier", "is no JSON Schema"),
        ("words", '["red"]', None, None),
        ("words", "[]", "no_verifier", "names no words"),
        ("math", "2", None, None),
    ]
    pool = pool_of(
        [{"prompt": f"Task {n}?", "kind": kind, "ground_truth": truth} for n, (kind, truth, *_) in enumerate(rows)]
    )
    found = run(stage(VerifiableConfig()), pool)
    assert list(found.select("drop_reason", "drop_detail").iter_rows()) == [tuple(row[2:]) for row in rows]
