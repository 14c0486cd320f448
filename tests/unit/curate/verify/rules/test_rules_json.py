"""JSON against a schema: values that it accepts, values that it does not, and ways around it."""

import json
import time

import pytest

from curate.verify import Item, Policy, verify_many
from curate.verify.rules.json_schema import fault, judge, written

PERSON = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "minLength": 1},
        "age": {"type": "integer", "minimum": 0},
        "born": {"type": "string", "format": "date"},
    },
    "required": ["name", "age"],
    "additionalProperties": False,
}
TRUTH = json.dumps(PERSON)
ADA = '{"name": "Ada", "age": 36}'


@pytest.mark.parametrize(
    "response",
    [
        ADA,
        f"\n{ADA}\n",
        f"Here it is:\n```json\n{ADA}\n```\nAnything else?",
        f"```\n{ADA}\n```",
        '{"name": "Ada", "age": 36.0, "born": "1815-12-10"}',
    ],
)
def test_a_value_that_the_schema_accepts_is_correct(response: str) -> None:
    assert judge(response, TRUTH) is True


@pytest.mark.parametrize(
    "response",
    [
        "", "{}", "null", '{"name": "Ada"}', '{"name": "", "age": 1}', '{"name": "Ada", "age": "36"}',
        '{"name": "Ada", "age": -1}', '{"name": "Ada", "age": true}', '{"name": "Ada", "age": 36, "x": 1}',
        '{"name": "Ada", "age": 36, "born": "yesterday"}', "{'name': 'Ada', 'age': 36}",
        '{"name": "Ada", "age": NaN}', f"Here it is: {ADA}", f"[{ADA}]", f"{ADA} {ADA}",
        # two values for one key, and two values in two blocks: a hedge
        '{"name": "Ada", "age": "x", "age": 36}', f"```json\n{{}}\n```\nor\n```json\n{ADA}\n```",
        "[" * 100_000,
    ],
)  # fmt: skip
def test_everything_else_is_wrong(response: str) -> None:
    assert judge(response, TRUTH) is False


def test_a_schema_that_is_none_is_undecided_and_says_why() -> None:
    assert fault(TRUTH) is None
    assert judge(ADA, '{"type": "objekt"}') is None
    assert "is no JSON Schema" in (fault('{"type": "objekt"}') or "")
    assert fault("Ada") == "is no JSON Schema"
    assert "outside of it" in (fault('{"$ref": "http://127.0.0.1:9/schema.json"}') or "")


def test_the_draft_is_the_one_that_the_schema_names() -> None:
    tuple4 = {"$schema": "http://json-schema.org/draft-04/schema#", "minimum": 3, "exclusiveMinimum": True}
    assert judge("4", json.dumps(tuple4)) is True
    assert judge("3", json.dumps(tuple4)) is False


def test_only_a_cell_with_words_of_a_schema_is_one() -> None:
    assert written(TRUTH) == written(PERSON) == json.dumps(PERSON, sort_keys=True)
    for cell in ("CREATE TABLE t (a int)", {"table": "t", "columns": ["a"]}, None, 3, "{", {"type": "objekt"}):
        assert written(cell) is None


def test_a_pattern_that_never_ends_is_stopped_and_costs_one_verdict() -> None:
    slow = json.dumps({"type": "string", "pattern": "^(a+)+$"})
    start = time.monotonic()
    found = verify_many(
        [Item(json.dumps("a" * 40 + "!"), slow, "json"), Item(json.dumps("aa"), slow, "json")],
        policy=Policy(timeout_s=1.0),
    )
    assert time.monotonic() - start < 20
    assert [(one.verdict, one.reason) for one in found] == [("undecided", "timeout"), ("correct", "accepted")]
