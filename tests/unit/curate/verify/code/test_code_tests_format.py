"""Rows of public code sets become tests of one format."""

import json

import pytest

from curate.verify.code import tests_format
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
    tests = tests_format.tests_from_row(row)
    assert tests is not None
    parsed = parse_tests(tests)
    assert parsed is not None
    assert parsed.style == style
    assert tests_format.tests_from_row({"tests": tests}) == tests


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
    assert tests_format.tests_from_row(row) is None


def test_entry_points_are_the_names_that_the_solution_defines() -> None:
    row = {
        "code": "import re\nclass Pair: pass\ndef sum(a): return a\nLIMIT = 3",
        "test_list": ["assert sum(Pair()) == LIMIT", "assert len(re.findall('a', str(sum(1)))) == 0"],
    }
    assert set(json.loads(tests_format.tests_from_row(row))["entry_points"]) == {"sum", "Pair", "LIMIT"}


def test_a_prompt_in_prose_is_no_prelude() -> None:
    row = {
        "prompt": "Write a function f.",
        "entry_point": "f",
        "test": "def check(candidate):\n    assert candidate(1)",
    }
    assert json.loads(tests_format.tests_from_row(row))["prelude"] == ""
