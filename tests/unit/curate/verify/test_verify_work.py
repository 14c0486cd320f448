"""The arithmetic of a pair is limited by its estimated work, which is the same on every machine."""

from __future__ import annotations

import time

import pytest

from curate.verify import Item, Verdict, verify_many
from curate.verify.nodes import TooLargeError
from curate.verify.values.work import MAX_US, limited, spend

MAX_S = 2.5
SERIES = [str(prime) for prime in (7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43)]
COSTLY = {
    "exponent in an answer": ("2^{r+1}", "1e400003040"),
    "small exponent under a root": ("\\sqrt2", "\\sqrt{2}+1e-3000000"),
    "capital exponent": ("5", "1E-9999999999 x"),
    "exponent of many figures": ("5", "1e" + "9" * 300),
    "exponent of a unit": ("5 km", "5 km^{99999999}"),
    "fractions of long period": ("5", "+".join(f"(1/{prime})^{{60000}}" for prime in SERIES)),
    "factorials multiplied": ("5", "*".join(["20000!"] * 60)),
    "factorials divided": ("5", "+".join(f"20000!/(19999!+{prime})" for prime in SERIES)),
    "factorials listed": ("\\{1,2\\}", "\\{" + ",".join(f"{n}!" for n in range(19_800, 20_000)) + "\\}"),
    "ones listed": ("1", ",".join(f"{n}!/{n}!" for n in range(19_880, 20_000))),
    "signs listed": ("\\{1,2\\}", "\\{" + "\\pm1\\pm2\\pm3," * 90 + "1\\}"),
    "gamma at many digits": ("x!", "(x+\\frac12)!/(x+0." + "3" * 300 + ")! + x^{19999}"),
    "vectors without an end": ("(1,2),(3,4)", "<" + "(0,1,1)," * 100 + "x"),
    "cases in words": ("5", "1/4 for 0<y<2 and " * 100 + "0 otherwise"),
    "open brackets before equations": ("5", "(" + "x=1\\quad " * 190),
    "equations side by side": ("5", "x=1\\quad " * 190),
}


@pytest.mark.parametrize("kind", COSTLY)
def test_a_costly_pair_is_decided_in_time_as_truth_and_as_answer(kind: str) -> None:
    truth, answer = COSTLY[kind]
    assert _timed(answer, truth).verdict == "wrong"
    assert _timed(truth, answer).verdict != "correct"


def test_a_truth_that_exceeds_the_limit_is_undecided() -> None:
    verdict = _timed("5", r"20000!\cdot20000!")
    assert (verdict.verdict, verdict.reason) == ("undecided", "unparseable_ground_truth")


def test_work_beyond_the_limit_raises_and_an_inner_block_has_its_own_limit() -> None:
    with limited():
        spend(MAX_US - 1)
        with limited():
            spend(MAX_US - 1)
        with pytest.raises(TooLargeError):
            spend(2)
    spend(2 * MAX_US)  # outside of any block nothing is counted


def test_many_costly_boxes_are_decided_in_time_each_time() -> None:
    completion = " ".join(f"\\boxed{{{n}!/{n}!+0}}" for n in range(15_000, 15_200))
    verdicts = []
    for _ in range(2):  # the second time from the memo
        start_s = time.process_time()
        verdicts.append(verify_many([Item(completion, "1")])[0].verdict)
        assert time.process_time() - start_s < MAX_S
    assert verdicts == ["wrong", "wrong"]


def test_a_progression_beyond_floats_is_undecided() -> None:
    assert _timed(r"\binom{99999}{500}n\pi, n\in\mathbb{Z}", r"n\pi, n\in\mathbb{Z}").reason == "unparseable_answer"


def test_a_clock_of_many_parts_is_no_time() -> None:
    assert _timed(":".join(["11:00"] * 100), "11:00").verdict == "wrong"
    assert _timed("11:00:11:00", "11:00").reason == "different"


def test_a_number_in_words_beside_an_unread_truth_is_wrong() -> None:
    assert _timed("七", "at least 七").verdict == "wrong"


def test_periodic_intervals_with_alternating_ends_are_undecided() -> None:
    truth, answer = r"(k\pi, k\pi+1), k\in\mathbb{Z}", r"(k\pi,(-1)^k+k\pi), k\in\mathbb{Z}"
    assert _timed(answer, truth).reason == "unparseable_answer"


def _timed(answer: str, truth: str) -> Verdict:
    """The verdict on a bare answer, within `MAX_S` of processor time."""
    start_s = time.process_time()
    verdict = verify_many([Item(answer, truth, is_bare=True)])[0]
    assert time.process_time() - start_s < MAX_S
    return verdict
