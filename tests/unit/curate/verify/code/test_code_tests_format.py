"""Rows of public code sets become tests of one format."""

import json

import pytest

from curate.verify.code import public_sets
from curate.verify.code.tests_format import parse_tests

CASES = json.dumps([{"input": "1 2\n", "output": "3\n", "testtype": "stdin"}])
FUNCTIONAL = json.dumps([{"input": "[1, 2]\n3", "output": "[3]", "testtype": "functional"}])

CHECK = "def check(candidate):\n    assert candidate(1) == 1"

ROWS = {
    "humaneval": ({"prompt": "def f(x):\n    '''F.'''\n", "entry_point": "f", "test": CHECK}, "assert"),
    "mbpp": ({"code": "def f(x): return x", "test_list": ["assert f(1) == 1"], "test_setup_code": ""}, "assert"),
    "mbpp_without_code": ({"test_list": ["assert f(1) == 1"], "test_imports": ["import math"]}, "assert"),
    "asserts": ({"solution": "def f(x): return x", "tests": ["assert f(1) == 1", "assert f(2) == 2"]}, "assert"),
    "asserts_as_text": ({"tests": "import math\nassert f(1) == 1\nassert f(4) == math.sqrt(16)"}, "assert"),
    "asserts_of_a_broken_reference": ({"code": "def f(", "tests": json.dumps(["assert f(1) == 1"])}, "assert"),
    "leetcode": ({"solutions": "s", "tests": {"functional": CHECK + "\n\ncheck(Solution().f)"}}, "assert"),
    "livecodebench_stdin": ({"public_test_cases": CASES, "private_test_cases": "eJx..."}, "stdio"),
    "livecodebench_call": ({"public_test_cases": FUNCTIONAL, "metadata": '{"func_name": "f"}'}, "call"),
    "apps_stdin": ({"input_output": json.dumps({"inputs": ["1\n"], "outputs": ["2\n"]})}, "stdio"),
    "apps_lines": ({"input_output": {"inputs": [["1", "2"]], "outputs": [["3"]]}}, "stdio"),
    "apps_call": ({"input_output": json.dumps({"fn_name": "f", "inputs": [[1, 2]], "outputs": [[3]]})}, "call"),
    "cases": ({"tests": json.dumps([{"input": "1", "output": "2", "type": "stdin_stdout"}])}, "stdio"),
    "reward_model": ({"reward_model": {"ground_truth": json.dumps({"inputs": ["1"], "outputs": ["2"]})}}, "stdio"),
    "ready": ({"tests": '{"style": "stdio", "tests": [{"input": "", "output": "1"}]}'}, "stdio"),
}


@pytest.mark.parametrize(("row", "style"), ROWS.values(), ids=ROWS)
def test_a_public_shape_is_known(row: dict[str, object], style: str) -> None:
    tests = public_sets.tests_from_row(row)
    assert tests is not None
    parsed = parse_tests(tests)
    assert parsed is not None
    assert parsed.style == style
    assert public_sets.tests_from_row({"tests": tests}) == tests


@pytest.mark.parametrize(
    "row",
    [
        {"question": "What is 1+1?", "answer": "2"},
        {"test": "what", "prompt": "x"},
        {"tests": None},
        {"tests": "none"},
        {"tests": []},
        {"tests": ["f(1) == 1"]},
        {"tests": ["assert that all is well"]},
        {"test_list": []},
        {"test_list": [1, 2]},
        {"tests": {"functional": ""}},
        {"input_output": "not json"},
        {"input_output": json.dumps({"inputs": [], "outputs": []})},
        {"public_test_cases": FUNCTIONAL.replace("[3]", "[3"), "metadata": '{"func_name": "f"}'},
        {"ground_truth": "[1, 2]"},
        {"ground_truth": '[{"x": 1}]'},
    ],
)
def test_a_row_without_tests_has_none(row: dict[str, object]) -> None:
    assert public_sets.tests_from_row(row) is None


def test_entry_points_are_the_names_that_the_solution_defines() -> None:
    row = {
        "code": "import re\nclass Pair: pass\ndef sum(a): return a\nLIMIT = 3",
        "test_list": ["assert sum(Pair()) == LIMIT", "assert len(re.findall('a', str(sum(1)))) == 0"],
    }
    assert set(json.loads(public_sets.tests_from_row(row))["entry_points"]) == {"sum", "Pair", "LIMIT"}


def test_a_prompt_in_prose_is_no_prelude() -> None:
    row = {
        "prompt": "Write a function f.",
        "entry_point": "f",
        "test": "def check(candidate):\n    assert candidate(1)",
    }
    assert json.loads(public_sets.tests_from_row(row))["prelude"] == ""


ASSERTS_OF_ADD = "def check(candidate):\n    assert candidate(1, 2) == 3\n    assert candidate(2, 2) == 4\n"
CALLED = {
    "the_function_of_the_solution": ({"solution": "def add(a, b):\n    return a + b"}, "add"),
    "the_one_that_the_question_names": (
        {
            "question": "Write add.",
            "solution": "def add(a, b):\n    return _add(a, b)\ndef _add(a, b):\n    return a + b",
        },
        "add",
    ),
    "a_fenced_solution": ({"solution": "So:\n```python\ndef add(a, b):\n    return a + b\n```"}, "add"),
    "the_method_of_its_class": (
        {"solution": "class Solution:\n    def add(self, a, b):\n        return a + b"},
        "Solution().add",
    ),
    "a_stub": ({"starter_code": "class Solution:\n    def add(self, a, b):\n        "}, "Solution().add"),
    "a_stated_function": ({"entry_point": "add"}, "add"),
    "a_stated_method": ({"entry_point": "Solution().add"}, "Solution().add"),
    "a_stated_method_without_its_class": (
        {"entry_point": "add", "starter_code": "class Solution:\n    def add(self, a, b):\n        "},
        "Solution().add",
    ),
    "a_path": ({"entry_point": "Solution.add"}, "Solution().add"),
}


@pytest.mark.parametrize(("row", "path"), CALLED.values(), ids=CALLED)
def test_a_check_is_called_with_the_entry_point(row: dict[str, object], path: str) -> None:
    tests = json.loads(public_sets.tests_from_row({"test": ASSERTS_OF_ADD, **row}))
    assert tests["tests"] == [f"check({path})"]
    assert tests["entry_points"] == [path.partition("(")[0]]


@pytest.mark.parametrize("column", ["test", "tests"])
def test_a_check_that_nothing_names_is_no_test(column: str) -> None:
    assert public_sets.tests_from_row({"question": "Write a function.", column: ASSERTS_OF_ADD}) is None


UNITTEST = (
    "import unittest\nclass TestCases(unittest.TestCase):\n    def test_1(self):\n"
    "        self.assertEqual(task_func(1), 1)"
)
PYTEST = "from solution import f, Pair\n\ndef test_f():\n    assert f(1) == Pair(1)"


def test_suites_are_known() -> None:
    row = {"tests": UNITTEST, "entry_point": "task_func"}
    assert json.loads(public_sets.tests_from_row(row))["entry_points"] == ["task_func"]
    assert json.loads(public_sets.tests_from_row({"tests": UNITTEST}))["entry_points"] == ["task_func"]
    assert json.loads(public_sets.tests_from_row({"tests": PYTEST}))["entry_points"] == ["f", "Pair"]


def test_codecontests_joins_its_lists() -> None:
    row = {"public_tests": {"input": ["1"], "output": ["2"]}, "private_tests": {"input": ["2"], "output": ["4"]}}
    assert json.loads(public_sets.tests_from_row(row))["tests"] == [
        {"input": "1", "output": "2"},
        {"input": "2", "output": "4"},
    ]


def test_a_check_with_its_imports_in_one_json() -> None:
    inner = {"test_code": ASSERTS_OF_ADD, "entry_point": "Solution().add", "import_prefix": "from math import inf"}
    tests = json.loads(public_sets.tests_from_row({"reward_model": {"ground_truth": json.dumps(inner)}}))
    assert (tests["tests"], tests["prelude"]) == (["check(Solution().add)"], "from math import inf")


@pytest.mark.parametrize(
    ("outputs", "wanted"),
    [([["a"], ["b"]], ["a", "b"]), ([["a"], ["b", "c"]], [["a"], ["b", "c"]]), ([[[1]], [[]]], [[1], []])],
)
def test_a_list_around_each_output_is_unpacked(outputs: list[object], wanted: list[object]) -> None:
    rows = (
        {"input_output": json.dumps({"fn_name": "f", "inputs": [[1], [2]], "outputs": outputs})},
        {"tests": [{"fn_name": "f", "input": [n], "output": output} for n, output in enumerate(outputs)]},
    )
    for row in rows:
        assert [test["output"] for test in json.loads(public_sets.tests_from_row(row))["tests"]] == wanted


def test_cases_by_name_become_calls() -> None:
    row = {"entry_point": "add", "test_cases": json.dumps([{"input": {"a": 1, "b": 2}, "expected": 3}])}
    tests = json.loads(public_sets.tests_from_row(row))
    assert (tests["entry_point"], tests["tests"]) == (
        "Solution.add",
        [{"args": [], "kwargs": {"a": 1, "b": 2}, "output": 3}],
    )
