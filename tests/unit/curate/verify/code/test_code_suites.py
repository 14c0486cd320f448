"""Tests written for pytest or unittest run, and tests that run nothing of the solution decide nothing."""

import json
import textwrap

import pytest

from curate.verify.code.grade import verify_code
from curate.verify.policy import Policy

RIGHT, WRONG = "def f(x): return x * x", "def f(x): return x + x + 1"

SUITES = {
    "unittest": """
        import unittest
        class TestF(unittest.TestCase):
            def setUp(self): self.two = 2
            def test_value(self): self.assertEqual(f(self.two), 4)
            def test_error(self):
                with self.assertRaises(TypeError): f('a')
        if __name__ == '__main__':
            unittest.main()
        """,
    "unittest_that_calls_main": """
        import unittest
        from solution import f
        class TestF(unittest.TestCase):
            def test_value(self): self.assertEqual(f(2), 4)
        unittest.main(argv=[''], exit=False)
        """,
    "functions": "from solution import f\ndef test_one(): assert f(2) == 4\ndef test_two(): assert f(3) == 9",
    "module": "import solution\ndef test_one(): assert solution.f(2) == 4",
    "other_module": "from your_module import f\ndef test_one(): assert f(2) == 4",
    "parametrize": """
        import pytest
        @pytest.mark.parametrize('given, wanted', [(1, 1), pytest.param(2, 4, id='two')])
        @pytest.mark.parametrize('sign', [1, -1])
        def test_all(given, wanted, sign): assert f(sign * given) == wanted
        """,
    "fixtures": """
        import pytest
        @pytest.fixture
        def two(): return 2
        @pytest.fixture
        def four(two):
            yield two + two
        class TestF:
            def setup_method(self): self.three = 3
            def test_fixture(self, two, four): assert f(two) == four
            def test_setup(self): assert f(self.three) == 9
        """,
    "raises_and_approx": """
        import pytest
        def test_error():
            with pytest.raises(TypeError, match='multiply') as caught: f('a')
            assert caught.type is TypeError
        def test_close(): assert f(0.1) == pytest.approx(0.01) and [f(0.1)] == pytest.approx([0.01])
        """,
    "async": "async def test_it():\n    assert f(2) == 4",
    "helper_with_arguments": "def test_one(given, wanted):\n    assert f(given) == wanted\n\ntest_one(2, 4)",
    "main_guard": "if __name__ == '__main__':\n    assert f(2) == 4",
    "exit": "import sys\nassert f(2) == 4\nsys.exit(0)",
    "skipped": "import pytest\n@pytest.mark.skip\ndef test_one(): assert f(2) == 5\ndef test_two(): assert f(2) == 4",
}


def as_json(test: str, *names: str) -> str:
    return json.dumps({"style": "assert", "tests": [textwrap.dedent(test)], "entry_points": names or ["f"]})


@pytest.mark.parametrize("test", SUITES.values(), ids=SUITES)
def test_a_suite_separates_right_from_wrong(sandboxed: None, test: str) -> None:
    verdicts = [verify_code(f"```python\n{source}\n```", as_json(test)).reason for source in (RIGHT, WRONG, "x = 1")]
    assert verdicts[:2] == ["tests_passed", "tests_failed"]
    assert verdicts[2] in ("tests_failed", "no_answer")


NO_TESTS = {
    "uncalled_check": "def check(candidate):\n    assert candidate(1) == 1",
    "no_call": "import math\nassert math.sqrt(4) == 2",
    "swallowed": "try:\n    assert f(1) == 2\nexcept Exception:\n    pass",
    "all_skipped": "import pytest\n@pytest.mark.skip\ndef test_one(): assert f(2) == 5",
    "uncalled_function": "def run_all():\n    assert f(2) == 4",
    "leaves_first": "import sys\nsys.exit(0)\nassert f(2) == 4",
}


@pytest.mark.parametrize("test", NO_TESTS.values(), ids=NO_TESTS)
@pytest.mark.parametrize("names", [("f",), ()], ids=["named", "unnamed"])
def test_what_an_empty_program_passes_decides_nothing(sandboxed: None, test: str, names: tuple[str, ...]) -> None:
    tests = json.dumps({"style": "assert", "tests": [test], "entry_points": names})
    verdict = verify_code(f"```python\n{RIGHT}\n```", tests, Policy())
    assert (verdict.verdict, verdict.reason) == ("undecided", "unparseable_ground_truth")


def test_blank_outputs_decide_nothing(sandboxed: None) -> None:
    tests = json.dumps({"style": "stdio", "tests": [{"input": "1", "output": " \n"}, {"input": "2", "output": ""}]})
    assert verify_code("```python\ninput()\n```", tests).reason == "unparseable_ground_truth"


@pytest.mark.parametrize(
    "test", ["import absent_module\nassert f(2) == 4", "def test_one(no_such_fixture): assert f(2) == 4"]
)
def test_tests_that_cannot_run_here_decide_nothing(sandboxed: None, test: str) -> None:
    assert verify_code(f"```python\n{RIGHT}\n```", as_json(test)).reason == "unparseable_ground_truth"


@pytest.mark.parametrize("entry_point", ["Solution().add", "Solution.add", "Solution"])
def test_an_entry_point_may_be_a_path(sandboxed: None, entry_point: str) -> None:
    tests = as_json("assert Solution().add(1, 2) == 3", entry_point)
    assert (
        verify_code("```python\nclass Solution:\n    def add(self, a, b): return a + b\n```", tests).verdict
        == "correct"
    )
    call = json.dumps({"style": "call", "entry_point": "Solution().add", "tests": [{"args": [1, 2], "output": 3}]})
    assert (
        verify_code("```python\nclass Solution:\n    def add(self, a, b): return a + b\n```", call).verdict == "correct"
    )


PARTLY_PATCHED = """
import unittest
from unittest.mock import patch
class TestF(unittest.TestCase):
    def test_a_value(self): self.assertEqual(f(2), 4)
    def test_b_patched(self):
        with patch('math.sqrt', lambda x: 1): self.assertEqual(f(1), 1)
    def test_c_value(self): self.assertEqual(f(3), 9)
"""


@pytest.mark.parametrize(
    ("source", "verdict"),
    [
        ("def f(x): return x * x", "correct"),
        ("def f(x): return 5", "wrong"),
        ("def f(x): return 4 if x == 2 else 2", "undecided"),
        ("def f(x): return 8 if x == 3 else x * x", "wrong"),
    ],
)
def test_only_the_failure_of_a_test_that_patches_is_undecided(sandboxed: None, source: str, verdict: str) -> None:
    assert verify_code(f"```python\n{source}\n```", as_json(PARTLY_PATCHED)).verdict == verdict
