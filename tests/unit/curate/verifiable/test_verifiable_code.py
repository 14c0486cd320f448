"""Code problems whose tests cannot separate right from wrong are dropped with the evidence."""

import json

import polars as pl
import pytest

from curate.errors import UserError
from curate.verifiable.code_checks import CodeProblem, Finding, check_code_problems
from curate.verifiable.stage import VerifiableConfig, run
from curate.verify import Policy
from curate.verify.code.sandbox import Limits, SandboxUnavailable, check_sandbox


@pytest.fixture(autouse=True, scope="module")
def _sandboxed() -> None:
    try:
        check_sandbox(Limits(cpu_s=5, memory_mb=512))
    except SandboxUnavailable as why:
        pytest.skip(f"no sandbox: {why}")


def asserts(*tests: str, names: tuple[str, ...] = ("f",)) -> str:
    return json.dumps({"style": "assert", "tests": tests, "entry_points": names})


def stdio(*pairs: tuple[str, str]) -> str:
    return json.dumps({"style": "stdio", "tests": [{"input": i, "output": o} for i, o in pairs]})


SQUARE = "def f(x): return x * x"
GOOD = asserts("assert f(2) == 4", "assert f(-3) == 9")


@pytest.mark.parametrize(
    ("tests", "solution", "reason"),
    [
        (GOOD, SQUARE, None),
        (GOOD, None, None),
        (GOOD, f"Square it:\n```python\n{SQUARE}\n```", None),
        (asserts("assert abs(f(2) - 4) < 1e-6", "assert f(3) > 8"), SQUARE, None),
        (stdio(("2", "4"), ("3", "9")), "print(int(input()) ** 2)", None),
        (stdio(("2", "4")), "print(int(input()) ** 2)", None),
        (None, SQUARE, "no_tests"),
        ("", SQUARE, "no_tests"),
        ("assert f(2) == 4", SQUARE, "no_tests"),
        (asserts(), SQUARE, "no_tests"),
        (GOOD, "def f(x): return x + x", "reference_fails_tests"),
        (GOOD, "the answer is x squared", "reference_fails_tests"),
        (GOOD, "def f(x):\n    while True: pass", "reference_fails_tests"),
        (asserts("assert f(2) == "), SQUARE, "reference_fails_tests"),
        (GOOD, "import tensorflow\n" + SQUARE, "reference_fails_tests"),
        (asserts("assert f(4) == True", "assert f(9) == True"), "def f(x): return True", "trivial_passes_tests"),
        (asserts("assert f(4) is None"), "def f(x): pass", "trivial_passes_tests"),
        (asserts("assert f(1) == 1", "assert f(2) == 2"), None, "trivial_passes_tests"),
        (asserts("f(3)"), SQUARE, "trivial_passes_tests"),
        (
            asserts("def check(candidate):\n    assert candidate(2) == 4\n    assert candidate(3) == 9"),
            None,
            "no_tests",
        ),
        (asserts("try:\n    assert f(2) == 4\nexcept Exception:\n    pass"), SQUARE, "no_tests"),
        (asserts("import absent_module\nassert f(2) == 4"), SQUARE, "reference_fails_tests"),
        (
            asserts("open('a', 'w').write('4')\nassert f('a') == '4'"),
            "def f(path): return open(path).read()",
            "reference_fails_tests",
        ),
        (asserts("assert Solution().f(4) == True", names=("Solution",)), None, "trivial_passes_tests"),
        (stdio(("1", "YES"), ("2", "YES\n"), ("3", " YES")), None, "trivial_passes_tests"),
        (stdio(("1", ""), ("2", "")), None, "trivial_passes_tests"),
        (stdio(("1", " ")), None, "no_tests"),
    ],
)
def test_tests_must_pass_the_reference_and_fail_duds(
    tests: str | None, solution: str | None, reason: str | None
) -> None:
    (found,) = check_code_problems([CodeProblem(tests, solution)], Policy(code_timeout_s=1))
    assert (found.reason if found else None) == reason


def test_a_missing_package_is_named() -> None:
    (found,) = check_code_problems([CodeProblem(GOOD, "from tensorflow import keras\n" + SQUARE)], Policy())
    assert found == Finding("reference_fails_tests", "imports tensorflow, which the sandbox lacks")


def test_the_stage_decides_code_and_mathematics() -> None:
    rows = pl.DataFrame(
        {
            "key": ["a", "b", "c"],
            "prompt": ["Write f.", "What is 2+2?", "Write g. " * 10],
            "ground_truth": [None, "4", None],
            "kind": ["code", "math", "code"],
            "tests": [GOOD, None, None],
            "solution": [SQUARE, None, None],
        },
        schema_overrides={"ground_truth": pl.String},
    ).with_columns(choices=pl.lit(None, pl.List(pl.String)))
    decided = run(rows, VerifiableConfig())
    assert decided["drop_reason"].to_list() == [None, None, "no_tests"]
    assert decided["key"].to_list() == ["a", "b", "c"]


def test_without_a_sandbox_the_error_names_bubblewrap(monkeypatch: pytest.MonkeyPatch) -> None:
    from curate.verify.code import sandbox

    monkeypatch.setenv("PATH", "/nowhere")
    sandbox._why_not.cache_clear()
    try:
        with pytest.raises(UserError, match="bubblewrap"):
            check_code_problems([CodeProblem(GOOD, SQUARE)], Policy())
    finally:
        sandbox._why_not.cache_clear()
