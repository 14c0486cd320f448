"""What a check answers: a verdict with a reason code, and the pair that was checked.

The reasons are a closed list. Each belongs to one verdict, but for the four in `OVERRUN`, which the policy may move
from undecided to wrong where the answer, not the ground truth, was to blame.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

VerdictName = Literal["correct", "wrong", "undecided"]
Reason = Literal[
    "exact",
    "numeric",
    "symbolic",
    "set",
    "text",
    "judge",
    "tests_passed",
    "different",
    "no_answer",
    "truncated",
    "multiple_answers",
    "hedged",
    "think_only",
    "tests_failed",
    "unparseable_ground_truth",
    "unparseable_answer",
    "timeout",
    "memory",
    "worker_crash",
    "too_long",
    "judge_disagrees",
    "no_verifier",
    "sandbox_unavailable",
]

CORRECT: Final = ("exact", "numeric", "symbolic", "set", "text", "judge", "tests_passed")
WRONG: Final = ("different", "no_answer", "truncated", "multiple_answers", "hedged", "think_only", "tests_failed")
OVERRUN: Final = ("timeout", "memory", "worker_crash", "too_long")


@dataclass(frozen=True)
class Verdict:
    """The outcome of one check.

    stage: which part decided: extract, limits, exact, text, numeric, set, symbolic, code, judge.
    extracted: the answer found in the completion, as written; None where there was none.
    ms: wall time in milliseconds.
    """

    verdict: VerdictName
    reason: str
    stage: str
    extracted: str | None
    ms: float


@dataclass(frozen=True)
class Item:
    """One pair to check. `tests` is the JSON of a code problem's tests; `is_bare` says the completion is the answer."""

    completion: str
    ground_truth: str
    kind: str = "math"
    question: str | None = None
    tests: str | None = None
    is_bare: bool = False


class Decision(NamedTuple):
    """A verdict on two answers, before extraction and timing are added."""

    verdict: VerdictName
    reason: Reason
    stage: str


def correct(reason: Reason, stage: str) -> Decision:
    """The answer is the ground truth."""
    return Decision("correct", reason, stage)


def wrong(reason: Reason, stage: str) -> Decision:
    """The answer is not the ground truth."""
    return Decision("wrong", reason, stage)


def undecided(reason: Reason, stage: str) -> Decision:
    """Nobody knows: never a reward of zero, never counted in a rate."""
    return Decision("undecided", reason, stage)
