"""Correct programs pass every style of test, including the reference solutions of public sets."""

import gzip
import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from curate.verify.code import public_sets
from curate.verify.code.grade import verify_code
from curate.verify.code.sandbox import available_packages
from curate.verify.policy import Policy
from curate.verify.verdict import Verdict

Check = Callable[..., Verdict]

# modules that the sandbox's Python does not have
NEEDS_PACKAGES = tuple({"sortedcontainers", "numpy"} - set(available_packages()))


RAISES = "def f(x):\n    if x < 0: raise ValueError('no')\n    return x"
RIGHT = [
    ("def f(x): return x * x", "assert f(2) == 4 and f(-3) == 9"),
    ("def f(x): return {x: [x, (x,)], 'k': {1, 2}}", "assert f(1) == {1: [1, (1,)], 'k': {2, 1}}"),
    ("def f(xs): xs.sort(); xs.append(0)", "a = [3, 1]\nf(a)\nassert a == [1, 3, 0]"),
    ("def f(n):\n    yield from range(n)", "assert list(f(3)) == [0, 1, 2] and sum(f(4)) == 6"),
    (RAISES, "try:\n    f(-1)\n    assert False\nexcept ValueError:\n    pass"),
    ("def f(g, x): return g(g(x))", "assert f(lambda v: v + 1, 1) == 3"),
    ("def f(kind): return kind('7')", "assert f(int) == 7 and f(str) == '7'"),
    ("from decimal import Decimal\ndef f(x): return Decimal(x) / 4", "assert f(3) == decimal.Decimal('0.75')"),
    ("from fractions import Fraction\ndef f(x): return Fraction(x, 6)", "assert f(2) == fractions.Fraction(1, 3)"),
    ("from collections import Counter\ndef f(s): return Counter(s)", "assert f('aab') == {'a': 2, 'b': 1}"),
    ("def f(x): return 2 ** x", "assert f(5000) == 1 << 5000"),
    ("def f(x): return float('nan')", "assert math.isnan(f(1))"),
    (
        "class f:\n    def __init__(self, x): self.x = x\n    def y(self): return 2 * self.x",
        "a = f(4)\na.x = 5\nassert a.y() == 10",
    ),
    ("def f(x):\n    print('noise')\n    return x", "assert f(1) == 1"),
    ("def f(x): return 0 if x == 0 else 1 + f(x - 1)", "assert f(5000) == 5000"),
    (
        "def f(a, b=2, *c, **d): return [a, b, c, d]",
        "assert f(1, b=3, self=4, target=5) == [1, 3, (), {'self': 4, 'target': 5}]",
    ),
    ("def f(x): return '\\ud800é中'", "assert f(1) == '\\ud800é中'"),
    ("def f(x): return x", "def test_one():\n    assert f(1) == 1\n\ndef test_two():\n    assert f(2) == 2"),
    ("def f(x): return x", "from solution import f as g\nassert g(3) == 3"),
]


@pytest.mark.parametrize(("source", "test"), RIGHT)
def test_a_right_answer_passes_assert_tests(check: Check, source: str, test: str) -> None:
    assert check(source, test).reason == "tests_passed"


@pytest.mark.parametrize(
    ("source", "given", "printed"),
    [
        ("print(sum(map(int, input().split())))", "1 2\n", "3"),
        ("import sys\nsys.stdout.buffer.write(sys.stdin.buffer.read())", "a\nb", "a b\n"),
        ("print(1 / 3, 2)", "", "0.333333 2"),
        ("print('%.6f' % (1 / 3))", "", "0.333333333333"),
        ("print(1e9)", "", "1000000000.0"),
        ("import os\nos.write(1, b'4')", "", "4"),
        ("import threading\nthreading.Thread(target=lambda: print(4)).start()", "", "4"),
        ("import atexit\natexit.register(print, 4)", "", "4"),
        ("print(open(0).read().upper())", "abc", "ABC"),
        ("if __name__ == '__main__':\n    print(4)\n    exit()", "", "4"),
        ("import sys\nprint(*sys.stdin, sep='')", "é\n中\n", "é 中"),
        ("print('4' * 300_000)", "", "4" * 300_000),
        ("print('Yes', 'nO')", "", "YES No"),
        (
            (
                "from multiprocessing import Pool\ndef f(x): return x * x\nif __name__ == '__main__':\n"
                "    with Pool(2) as pool: print(sum(pool.map(f, [1, 2, 3])))"
            ),
            "",
            "14",
        ),
        (
            (
                "import sys, threading\nsys.setrecursionlimit(10**7)\nthreading.stack_size(2**29)\n"
                "def deep(n): return 0 if n == 0 else 1 + deep(n - 1)\n"
                "thread = threading.Thread(target=lambda: print(deep(30_000)))\nthread.start(); thread.join()"
            ),
            "",
            "30000",
        ),
    ],
)
def test_a_right_program_passes_stdio_tests(check: Check, source: str, given: str, printed: str) -> None:
    assert check(source, (given, printed)).reason == "tests_passed"


@pytest.mark.parametrize(
    ("source", "printed"),
    [
        ("print(3)", "4"),
        ("print('a b')", "ab"),
        ("print(1000000000001)", "1000000000000"),
        ("print(0.3334)", "0.3333"),
        ("print('Yess')", "YES"),
        ("print('Aa')", "aa"),
        ("print(4, 4)", "4"),
    ],
)
def test_other_tokens_fail(check: Check, source: str, printed: str) -> None:
    assert check(source, ("", printed)).reason == "tests_failed"


@pytest.mark.parametrize(
    ("result", "expected", "is_same"),
    [
        ("(1, 2)", [1, 2], True), ("[1, [2, (3,)]]", [1, [2, [3]]], True), ("2.0", 2, True), ("0.1 + 0.2", 0.3, True),
        ("{'a': None}", {"a": None}, True), ("{1: 2}", {"1": 2}, True), ("True", True, True),
        ("True", 1, False), ("1", True, False), ("'1'", 1, False), ("[1, 2]", [1], False), ("{1, 2}", [1, 2], False),
        ("__import__('decimal').Decimal(1) / 4", 0.25, True), ("__import__('fractions').Fraction(1, 3)", 0.25, False),
        ("None", 0, False), ("0.31", 0.3, False), ("10**400", 1.5, False), ("object()", 3, False),
    ],
)  # fmt: skip
def test_results_of_calls_are_compared_by_type(check: Check, result: str, expected: object, is_same: bool) -> None:
    verdict = check(f"def f(): return {result}", ("f", [], expected))
    assert verdict.reason == ("tests_passed" if is_same else "tests_failed")


def test_a_method_is_called_on_a_fresh_object(check: Check) -> None:
    source = (
        "class Solution:\n    def __init__(self): self.n = 0\n"
        "    def add(self, x):\n        self.n += x\n        return self.n"
    )
    assert check(source, ("Solution.add", [1], 1), ("Solution.add", [1], 1)).verdict == "correct"


@pytest.mark.parametrize("wanted", ["f", "Solution.f"])
def test_a_function_is_found_in_a_class_and_beside_it(check: Check, wanted: str) -> None:
    for source in ("def f(x): return x + 1", "class Solution:\n    def f(self, x): return x + 1"):
        assert check(source, (wanted, [1], 2)).verdict == "correct"


def test_each_stdin_run_is_fresh(check: Check) -> None:
    counts = "import sys\nsys.modules.setdefault('n', []).append(1)\nprint(len(sys.modules['n']))"
    assert check(counts, ("", "1"), ("", "1")).verdict == "correct"


def test_the_first_failure_ends_a_check(check: Check) -> None:
    sleeper = "import time\nif input() == 'b': time.sleep(60)\nprint(1)"
    assert check(sleeper, ("a", "2"), ("b", "1")).reason == "tests_failed"


def test_nodes_cross_by_their_values(check: Check) -> None:
    row = {
        "tests": {
            "functional": "def check(candidate):\n"
            "    many = list(range(3000))\n"
            "    assert is_same_list(candidate(head = list_node(many)), list_node(many[::-1]))\n"
            "    assert candidate(head = tree_node([])) is None\n\n\ncheck(Solution().reverse)"
        }
    }
    source = (
        "class Solution:\n    def reverse(self, head):\n        last = None\n        while head:\n"
        "            head.next, last, head = last, head, head.next\n        return last"
    )
    tests = public_sets.tests_from_row(row)
    assert verify_code(f"```python\n{source}\n```", tests).verdict == "correct"
    assert (
        verify_code("```python\nclass Solution:\n    def reverse(self, head): return head\n```", tests).verdict
        == "wrong"
    )


def test_helpers_of_the_prompt_cannot_be_replaced_by_the_solution(check: Check) -> None:
    row = {
        "prompt": "def poly(xs, x):\n    return sum(c * x ** i for i, c in enumerate(xs))\n\n"
        "def root(xs):\n    '''A root.'''\n",
        "entry_point": "root",
        "test": "def check(candidate):\n    assert abs(poly([-6, 2], candidate([-6, 2]))) < 1e-6\n",
    }
    tests = public_sets.tests_from_row(row)
    assert verify_code("    return -xs[0] / xs[1]\n", tests).verdict == "correct"
    liar = "```python\ndef poly(xs, x): return 0\ndef root(xs): return 1\n```"
    assert verify_code(liar, tests).verdict == "wrong"


def test_broken_tests_leave_a_program_undecided(check: Check) -> None:
    program = "```python\ndef f(x): return x\n```"
    for tests in (None, "", "[]", '{"style": "assert", "tests": []}', '{"style": "stdio", "tests": [{"input": "1"}]}'):
        assert verify_code(program, tests).reason == "unparseable_ground_truth"
    assert check("def f(x): return x", "assert f(1 == 1").reason == "unparseable_ground_truth"


@pytest.mark.parametrize("style", ["assert f(2) == 4", ("2", "4"), ("f", [2], 4)])
def test_a_loop_is_a_timeout_and_not_a_failed_test(check: Check, style: object) -> None:
    verdict = check("def f(x):\n    while True: pass\nif __name__ == '__main__': f(1)", style)
    assert (verdict.verdict, verdict.reason) == ("wrong", "timeout")


PATIENT = Policy(code_timeout_s=30.0)  # MBPP 123 runs for seconds; a busy machine must not change verdicts


def canonical(shared: Path, step: int) -> list[tuple[str, str, str | None]]:
    """(name, completion, tests) of every `step`th reference solution of the sets."""
    data = shared / "data"
    mbpp = map(json.loads, (data / "mbpp/mbpp.jsonl").read_text().splitlines())
    humaneval = map(json.loads, gzip.decompress((data / "humaneval/HumanEval.jsonl.gz").read_bytes()).splitlines())
    leetcode = json.loads((data / "leetcode/test_leetcode.json").read_text())
    found = [
        *((f"mbpp {row['task_id']}", fenced(row["code"]), row) for row in mbpp),
        *((row["task_id"], row["canonical_solution"], row) for row in humaneval),
        *(
            (row["problem"][200:260], fenced(row["solutions"]), row)
            for row in leetcode
            if not any(name in row["solutions"] for name in NEEDS_PACKAGES)
        ),
    ]
    return [(name, completion, public_sets.tests_from_row(row)) for name, completion, row in found[::step]]


def fenced(source: str) -> str:
    return f"```python\n{source}\n```"


def failures(problems: list[tuple[str, str, str | None]]) -> list[str]:
    with ThreadPoolExecutor(3) as pool:
        verdicts = list(pool.map(lambda problem: verify_code(problem[1], problem[2], PATIENT), problems))
    return [name for (name, _, _), verdict in zip(problems, verdicts, strict=True) if verdict.verdict != "correct"]


@pytest.mark.shared
def test_canonical_solutions_pass_a_sample(shared: Path, sandboxed: None) -> None:
    assert failures(canonical(shared, step=12)) == []


@pytest.mark.shared
@pytest.mark.slow
def test_all_canonical_solutions_pass(shared: Path, sandboxed: None) -> None:
    assert failures(canonical(shared, step=1)) == []
