"""Columns of known shapes are found, stated ones are used, and wrong ones are reported."""

import json
from pathlib import Path
from typing import Any

import pytest
from support.places import CASES

from curate.errors import UserError
from curate.ingest.builder import Builder, Unusable
from curate.ingest.choices import first_index
from curate.ingest.layouts import layout
from curate.ingest.mapping import guess
from curate.records import problem_key


def problem(record: dict[str, Any], **stated: str) -> dict[str, Any]:
    return Builder(guess([record], stated, "pool"), "pool", 1_000).problem(record, 0)


def seen(record: dict[str, Any], **stated: str) -> dict[str, Any]:
    """The fields that a record's columns fill, without those of every problem."""
    fields = ("prompt", "ground_truth", "choices", "solution")
    return {name: value for name, value in problem(record, **stated).items() if name in fields and value is not None}


SHAPES: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"question": "Q?", "answer": "7"}, {"prompt": "Q?", "ground_truth": "7"}),
    (
        {"question": "Q?", "answer": "3+4\n#### 7"},
        {"prompt": "Q?", "ground_truth": "7", "solution": "3+4\n#### 7"},
    ),
    (
        {"problem": "Q?", "solution": r"It is \boxed{7}."},
        {"prompt": "Q?", "ground_truth": "7", "solution": r"It is \boxed{7}."},
    ),
    ({"problem": "Q?", "solution": "no mark"}, {"prompt": "Q?", "solution": "no mark"}),
    (
        {"problem": "Q?", "answer": 27.0, "solution": "because", "url": "u"},
        {"prompt": "Q?", "ground_truth": "27", "solution": "because"},
    ),
    ({"prompt": "Q?", "answer": 7}, {"prompt": "Q?", "ground_truth": "7"}),
    (
        {
            "prompt": [{"role": "system", "content": "S"}, {"role": "user", "content": "Q?"}],
            "reward_model": {"ground_truth": "7"},
        },
        {"prompt": "S\n\nQ?", "ground_truth": "7"},
    ),
    (
        {"messages": [{"role": "user", "content": "Q?"}, {"role": "assistant", "content": r"\boxed{7}"}]},
        {"prompt": "Q?", "ground_truth": "7", "solution": r"\boxed{7}"},
    ),
    (
        {"conversations": [{"from": "human", "value": "Q?"}, {"from": "gpt", "value": r"so \boxed{7}"}]},
        {"prompt": "Q?", "ground_truth": "7", "solution": r"so \boxed{7}"},
    ),
    (
        {"question": "Q?", "choices": ["x", "y", "z"], "answer": 2},
        {"prompt": "Q?", "ground_truth": "C", "choices": ["x", "y", "z"]},
    ),
    (
        {"question": "Q?", "options": ["A)x", "B)y"], "rationale": "r", "correct": "B"},
        {"prompt": "Q?", "ground_truth": "B", "choices": ["x", "y"], "solution": "r"},
    ),
    (
        {"question": "Q?", "options": {"A": "x", "B": "y"}, "label": "A", "answer": None},
        {"prompt": "Q?", "ground_truth": "A", "choices": ["x", "y"]},
    ),
    (
        {"question": "Q?", "choices": {"text": ["x", "y"], "label": ["A", "B"]}, "answerKey": "B"},
        {"prompt": "Q?", "ground_truth": "B", "choices": ["x", "y"]},
    ),
    (
        {"question": "Q?", "A": "x", "B": "y", "C": "z", "D": "w", "answer": "D"},
        {"prompt": "Q?", "ground_truth": "D", "choices": ["x", "y", "z", "w"]},
    ),
    ({"Body": "Context.", "Question": "Q?", "Answer": 3.0}, {"prompt": "Context.\n\nQ?", "ground_truth": "3"}),
    ({"instruction": "Do.", "input": "", "output": "7"}, {"prompt": "Do.", "ground_truth": "7", "solution": "7"}),
    (
        {"instruction": "Do.", "output": "First this, then that."},
        {"prompt": "Do.", "solution": "First this, then that."},
    ),
    (
        {"question": "Q?", "final_answer": ["1", "2"], "solution": ["s"]},
        {"prompt": "Q?", "ground_truth": "1, 2", "solution": "s"},
    ),
]


@pytest.mark.parametrize(("record", "fields"), SHAPES)
def test_known_shapes_are_recognised(record: dict[str, Any], fields: dict[str, Any]) -> None:
    assert seen(record) == fields


def test_the_shapes_of_public_sets_are_read_correctly() -> None:
    lines = (CASES / "shape_cases.jsonl").read_text(encoding="utf-8").splitlines()
    wrong = []
    for case in map(json.loads, lines):
        records = [case["record"]]
        found = layout((), guess(records, {}, "pool"), records).builder("pool", 10_000).problem(case["record"], 0)
        if {field: found[field] for field in case["problem"]} != case["problem"]:
            wrong.append(f"{case['set']}: {found}")
    assert len(lines) > 100
    assert wrong == []


CODE: list[dict[str, Any]] = [
    {"text": "Write f.", "test_list": ["assert f(1) == 2"], "code": "def f(x): return 2", "task_id": 1},
    {
        "prompt": "def f(x):\n",
        "test": "def check(c):\n assert c(1) == 2",
        "entry_point": "f",
        "canonical_solution": "    return 2",
    },
    {
        "problem": "Write.",
        "tests": {"functional": "def check(c):\n assert c(1) == 2\n"},
        "solutions": "class Solution: pass",
    },
    {"question": "Print.", "input_output": json.dumps({"inputs": ["1"], "outputs": ["2"]}), "solutions": ["print(2)"]},
    {"prompt": "Print.", "reward_model": {"ground_truth": json.dumps({"inputs": ["1"], "outputs": ["2"]})}},
]


@pytest.mark.parametrize("record", CODE)
def test_code_with_tests_is_recognised(record: dict[str, Any]) -> None:
    found = problem(record)
    assert found["kind"] == "code"
    assert json.loads(found["tests"])["style"] in ("assert", "stdio", "call")
    assert found["ground_truth"] is None


def test_a_solution_that_is_the_body_of_the_prompts_function_is_made_whole() -> None:
    assert problem(CODE[1])["solution"] == "def f(x):\n    return 2"
    late = {**CODE[1], "canonical_solution": "\n   \n    y = 2\n    return y\n"}
    assert problem(late)["solution"] == f"{CODE[1]['prompt'].strip()}\n\n   \n    y = 2\n    return y"


def test_a_source_of_math_and_code_keeps_answers_and_tests() -> None:
    code, math = CODE[4], {"prompt": "Q?", "reward_model": {"ground_truth": "7"}}
    builder = Builder(guess([math, code], {}, "pool"), "pool", 1_000)
    kinds = [(row["kind"], row["ground_truth"]) for row in (builder.problem(code, 0), builder.problem(math, 1))]
    assert kinds == [("code", None), ("math", "7")]


def test_the_nameless_index_column_is_not_part_of_the_problem() -> None:
    assert seen({"": "0", "question": "Q?", "answer": "7"}) == {"prompt": "Q?", "ground_truth": "7"}


def test_the_error_for_a_missing_prompt_lists_the_fields_of_tables() -> None:
    with pytest.raises(UserError, match=r"columns: row_idx, row\.question, row\.answer"):
        guess([{"row_idx": 0, "row": {"question": "Q?", "answer": "7"}}], {}, "pool")


def test_stated_columns_override_guesses() -> None:
    record = {"question": "wrong", "answer": "1", "task": {"text": "Q?"}, "key": "7"}
    assert seen(record, prompt="task.text", ground_truth="key") == {"prompt": "Q?", "ground_truth": "7"}
    assert seen({"a": "X.", "b": "Q?", "question": "wrong"}, prompt="a+b")["prompt"] == "X.\n\nQ?"


@pytest.mark.parametrize(
    ("record", "stated", "line"),
    [
        (
            {"foo": "x", "bar": 1},
            {},
            r"pool: no column looks like the problem \(columns: foo, bar\); name it with --map prompt=COLUMN",
        ),
        ({"question": "x"}, {"promt": "question"}, "pool: map.promt is no field of a problem; did you mean prompt?"),
        (
            {"question": "x"},
            {"prompt": "questions"},
            "pool: map.prompt is 'questions', which is no column; did you mean question?",
        ),
    ],
)
def test_a_wrong_map_names_the_nearest_right_one(record: dict[str, Any], stated: dict[str, str], line: str) -> None:
    with pytest.raises(UserError, match=line):
        guess([record], stated, "pool")


@pytest.mark.parametrize(
    ("prompt", "reason"),
    [
        (None, "no_prompt"),
        ("", "no_prompt"),
        (" \n", "no_prompt"),
        ("?", "no_prompt"),
        (" ___ . ", "no_prompt"),
        (5, "wrong_type"),
        ({"a": 1}, "wrong_type"),
        ([], "no_prompt"),
        (["a"], "wrong_type"),
        ([{"role": "assistant", "content": "hello"}], "no_prompt"),
        ("a\0b", "nul_bytes"),
        ("half \ud83d a pair", "invalid_utf8"),
        ("x" * 1_001, "too_large"),
    ],
)
def test_an_unusable_prompt_has_a_reason(prompt: Any, reason: str) -> None:
    builder = Builder(guess([{"prompt": "Q?", "answer": "1"}], {}, "pool"), "pool", 1_000)
    with pytest.raises(Unusable) as caught:
        builder.problem({"prompt": prompt, "answer": "1"}, 0)
    assert caught.value.reason == reason


def test_all_other_columns_stay_in_extra() -> None:
    record = {"question": "Q?", "answer": "7", "level": 3, "tags": ["a"], "note": "\ud83d"}
    assert json.loads(problem(record)["extra"]) == {"level": 3, "tags": ["a"], "note": "\ud83d"}


def test_the_key_is_that_of_prompt_kind_and_choices() -> None:
    record = {"question": "Q?", "choices": ["x", "y"], "answer": 1}
    assert problem(record)["key"] == problem_key("Q?", "math", ["x", "y"])


@pytest.mark.parametrize(
    ("answers", "start"), [([0, 1, 3], 0), ([1, 2, 3], 0), ([1, 2, 4], 1), (["A", "B"], 0), ([0, 4], 0), ([], 0)]
)
def test_indexes_count_from_one_only_if_they_must(answers: list[Any], start: int) -> None:
    assert first_index((answer, ["w", "x", "y", "z"]) for answer in answers) == start


def prompts(*records: dict[str, Any], **stated: str) -> list[str]:
    builder = layout((), guess(records, stated, "pool"), records).builder("pool", 1_000)
    return [builder.problem(record, row)["prompt"] for row, record in enumerate(records)]


@pytest.mark.parametrize(
    ("prompt", "numbers", "filled"),
    [
        ("Bryan has number0 books on number1 shelves.", "56.0 9.0", "Bryan has 56 books on 9 shelves."),
        ("Bryan has number0 books on number1 shelves.", [56, 9.5], "Bryan has 56 books on 9.5 shelves."),
        ("Bryan has [NUM1] books on [NUM2] shelves.", "56, 9", "Bryan has 56 books on 9 shelves."),
        ("Bryan has temp_a books on temp_b shelves.", "[56, 9]", "Bryan has 56 books on 9 shelves."),
        ("Is number1 larger?", "3 4", "Is number1 larger?"),
        ("char temp_a[50];", "1", "char temp_a[50];"),
    ],
)
def test_placeholders_are_filled_with_the_rows_numbers(prompt: str, numbers: Any, filled: str) -> None:
    assert prompts({"Question": prompt, "Numbers": numbers, "Answer": "1"}) == [filled]


@pytest.mark.parametrize("numbers", [None, "56.0"])
def test_placeholders_without_their_numbers_drop_the_row(numbers: str | None) -> None:
    with pytest.raises(Unusable) as caught:
        prompts({"Question": "Has number0 books on number1 shelves.", "Numbers": numbers, "Answer": "1"})
    assert caught.value.reason == "placeholder"


def test_a_stated_map_may_name_alternatives_and_joined_columns() -> None:
    rows = [{"problem": "P?"}, {"question": "Q?"}, {"a": "A.", "b": "B?"}, {"question": "", "problem": "R?"}]
    assert prompts(*rows, prompt="problem or question or a+b") == ["P?", "Q?", "A.\n\nB?", "R?"]
    with pytest.raises(UserError, match=r"map.prompt is 'c', which is no column"):
        guess(rows, {"prompt": "problem or c"}, "pool")
    lines = guess(rows, {"prompt": "problem or a+b"}, "pool").lines()
    assert lines[0] == "prompt       <- problem or a+b"


def test_a_column_whose_name_contains_the_word_or_is_one_column() -> None:
    assert prompts({"this or that": "Q?"}, prompt="this or that") == ["Q?"]


def test_the_problem_may_be_in_a_table(tmp_path: Path) -> None:
    rows = [{"question": {"text": f"Sum to {n}!", "lang": "en"}, "answers": {"text": [str(n)]}} for n in range(3)]
    assert prompts(*rows) == [f"Sum to {n}!" for n in range(3)]
    assert seen(rows[2])["ground_truth"] == "2"


def test_a_body_continues_the_stub_that_is_python() -> None:
    record = {
        "complete_prompt": "def task_func(n):\n    '''Double.'''\n",
        "instruct_prompt": "Double it. Begin with:\n```\ndef task_func(n):\n```",
        "canonical_solution": "    return 2 * n",
        "entry_point": "task_func",
        "test": "import unittest\nclass T(unittest.TestCase):\n    def test(self): self.assertEqual(task_func(2), 4)",
    }
    problem = Builder(guess([record], {}, "pool"), "pool", 1_000).problem(record, 0)
    assert problem["prompt"] == record["instruct_prompt"]
    assert problem["solution"] == record["complete_prompt"] + "\n    return 2 * n"
    assert problem["kind"] == "code"


def test_a_class_to_complete_is_a_problem() -> None:
    record = {
        "skeleton": "class Calc:\n    def add(self, a, b): ...",
        "solution_code": "class Calc:\n    def add(self, a, b): return a + b",
        "test": "import unittest\nclass T(unittest.TestCase):\n    def test(self): self.assertTrue(Calc().add(1, 2))",
    }
    problem = Builder(guess([record], {}, "pool"), "pool", 1_000).problem(record, 0)
    assert (problem["prompt"], problem["solution"]) == (record["skeleton"], record["solution_code"])
    assert json.loads(problem["tests"])["entry_points"] == ["Calc"]
