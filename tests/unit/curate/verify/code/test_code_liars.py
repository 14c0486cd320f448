"""Objects that claim to be equal to everything, and solutions that try to decide the comparison themselves."""

from collections.abc import Callable

import pytest
from support.liars import ASSERT, CALL, LIARS

from curate.verify.verdict import Verdict

Check = Callable[..., Verdict]


@pytest.mark.parametrize("source", LIARS.values(), ids=LIARS)
@pytest.mark.parametrize("test", [ASSERT, CALL], ids=["assert", "call"])
def test_a_liar_is_wrong(check: Check, source: str, test: object) -> None:
    verdict = check(source, test)
    assert verdict.verdict == "wrong"
    assert verdict.reason in ("tests_failed", "timeout", "no_answer")


@pytest.mark.parametrize("condition", ["f(2) == 4", "not f(2) != 4", "4 == f(2)", "f(2) in (4,)", "{f(2): 1}[4]"])
def test_a_liar_is_wrong_however_the_test_compares(check: Check, condition: str) -> None:
    assert check(LIARS["object_equal_to_all"], f"assert {condition}").verdict == "wrong"
    assert check("def f(x): return x * x", f"assert {condition}").verdict == "correct"
