"""A checker decides where a problem has several right answers, and neither a program nor a bad checker subverts it."""

import json

import pytest

from curate.verify.code import public_sets
from curate.verify.code.grade import verify_code
from curate.verify.policy import Policy
from curate.verify.verdict import Verdict

ANY_ORDER = "def check(given, output, expected):\n    return sorted(output.split()) == sorted(expected.split())"
FACTORS = (
    "def check(given, output, expected):\n    a, b = map(int, output.split())\n"
    "    return a * b == int(given) and 1 < a < int(given)"
)
ROWS = (("15", "3 5"), ("21", "3 7"), ("16", "2 8"))


def stdio(checker: str, rows: tuple[tuple[str, str], ...] = ROWS) -> str:
    tests = [{"input": given, "output": expected} for given, expected in rows]
    return json.dumps({"style": "stdio", "tests": tests, "checker": checker})


def verify(source: str, tests: str) -> Verdict:
    return verify_code(f"```python\n{source}\n```", tests, Policy(code_timeout_s=1))


SEARCH = "n = int(input())\na = next(a for a in range({}) if n % a == 0)\nprint(a, n // a)"


def test_every_right_answer_passes_and_others_fail(sandboxed: None) -> None:
    assert verify(SEARCH.format("2, n"), stdio(FACTORS)).reason == "tests_passed"
    assert verify(SEARCH.format("n - 1, 1, -1"), stdio(FACTORS)).reason == "tests_passed"
    assert verify(SEARCH.format("1, n"), stdio(FACTORS)).reason == "tests_failed"
    assert verify("print('a', 'b')", stdio(FACTORS)).reason == "tests_failed"
    assert verify("print('b\\na')", stdio(ANY_ORDER, (("1", "a\nb"),))).reason == "tests_passed"
    assert verify("print('b\\nb')", stdio(ANY_ORDER, (("1", "a\nb"),))).reason == "tests_failed"


def test_calls_have_checkers_too(sandboxed: None) -> None:
    near = "def check(given, output, expected):\n    return type(output) is float and abs(output - expected) < given[1]"
    calls = {"style": "call", "entry_point": "f", "tests": [{"args": [2, 0.1], "output": 1.41}], "checker": near}
    assert verify("def f(x, e): return x ** 0.5", json.dumps(calls)).reason == "tests_passed"
    assert verify("def f(x, e): return 1", json.dumps(calls)).reason == "tests_failed"
    named = {**calls, "tests": [{"args": [2], "kwargs": {"e": 0.1}, "output": 1.41}]}
    named["checker"] = (
        "def check(given, output, expected):\n    return given == [[2], {'e': 0.1}] and output in (1.5, expected)"
    )
    assert verify("def f(x, e): return 1.5", json.dumps(named)).reason == "tests_passed"


CHEATS = {
    "nothing": "pass",
    "echo": "print(input())",
    "code": "print('__import__(\"os\")._exit(0)')",
    "patches": "import builtins\nbuiltins.sorted = lambda *a: []\nprint(1)",
    "frames": "import os, struct, json\nbody = json.dumps({'accepted': True}).encode()\n"
    "for fd in range(3, 64):\n    try: os.write(fd, struct.pack('>I', len(body)) + body)\n    except OSError: pass",
    "bytes": "import sys\nsys.stdout.buffer.write(bytes(range(256)))",
    "claims_to_be_a_checker": "def check(given, output, expected): return True\nprint('1')",
    "fails": "print(3, 5)\nraise SystemExit(1)",
}  # fmt: skip


@pytest.mark.parametrize("source", CHEATS.values(), ids=CHEATS)
def test_a_cheat_is_rejected(sandboxed: None, source: str) -> None:
    assert verify(source, stdio(FACTORS)).verdict == "wrong"


LYING = """
class Liar(float):
    def __eq__(self, other): return True
    def __sub__(self, other): return 0.0
    def __lt__(self, other): return True
    def __abs__(self): return 0.0
    __hash__ = None
"""


@pytest.mark.parametrize("value", ["Liar(5)", "object()", "[Liar(5)]", "float('nan')", "lambda: 1", "None"])
def test_a_lying_value_is_rejected(sandboxed: None, value: str) -> None:
    near = "def check(given, output, expected):\n    return abs(output - expected) < 0.1 or output == expected"
    calls = {"style": "call", "entry_point": "f", "tests": [{"args": [2], "output": 1.41}], "checker": near}
    assert verify(f"{LYING}\ndef f(x): return {value}", json.dumps(calls)).verdict == "wrong"


UNSOUND = {
    "accepts_all": "def check(given, output, expected):\n    return True",
    "rejects_the_expected": "def check(given, output, expected):\n    return output == 'x'",
    "has_no_check": "def accept(given, output, expected):\n    return True",
    "does_not_compile": "def check(given, output",
    "raises": "def check(given, output, expected):\n    raise ValueError",
    "answers_text": "def check(given, output, expected):\n    return 'right'",
    "imports_what_is_absent": "import absent_module\ndef check(given, output, expected):\n    return True",
}


@pytest.mark.parametrize("checker", UNSOUND.values(), ids=UNSOUND)
def test_an_unsound_checker_decides_nothing(sandboxed: None, checker: str) -> None:
    for source in (SEARCH.format("2, n"), "print(0)"):
        verdict = verify(source, stdio(checker))
        assert (verdict.verdict, verdict.reason) == ("undecided", "unparseable_ground_truth")


def test_a_checker_that_takes_too_long_decides_nothing(sandboxed: None) -> None:
    slow = "def check(given, output, expected):\n    while output == 'loop\\n': pass\n    return output == expected"
    assert verify("print('loop')", stdio(slow)).verdict == "undecided"


SCRIPT = """
import sys
def main():
    given, expected, output = (open(path).read() for path in sys.argv[1:])
    a, b = map(int, output.split())
    print(1 if a * b == int(given) and a > 1 and b > 1 else 0)
    sys.exit(0)
if __name__ == "__main__":
    main()
"""


def test_rows_bring_their_checkers(sandboxed: None) -> None:
    cases = [{"input": given, "output": expected} for given, expected in ROWS]
    for checker in (FACTORS, SCRIPT):
        tests = public_sets.tests_from_row({"official_tests": cases, "tests": cases, "generated_checker": checker})
        assert tests is not None
        assert verify(SEARCH.format("n - 1, 1, -1"), tests).reason == "tests_passed"
        assert verify(SEARCH.format("1, n"), tests).reason == "tests_failed"
