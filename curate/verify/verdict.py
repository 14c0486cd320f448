"""The result of a check, a verdict with a reason code, and the pair that is checked.

The reasons are a closed list. Each belongs to one verdict, except the four in `OVERRUN`: the policy may turn them from
undecided to wrong if the answer, not the ground truth, is the cause.
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
    "taken_back",
    "unevaluated",
    "other_form",
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
    "accepted",
    "no_verdict",
    "verifier_error",
]

CORRECT: Final = ("exact", "numeric", "symbolic", "set", "text", "judge", "tests_passed", "accepted")
WRONG: Final = (
    "different",
    "no_answer",
    "truncated",
    "multiple_answers",
    "hedged",
    "taken_back",
    "unevaluated",
    "other_form",
    "think_only",
    "tests_failed",
)
OVERRUN: Final = ("timeout", "memory", "worker_crash", "too_long")


@dataclass(frozen=True)
class Verdict:
    """The outcome of one check.

    stage: the part that decided: extract, limits, exact, text, numeric, set, symbolic, form, code, judge, rules, own.
    extracted: the answer found in the completion, as written; None if there is none.
    ms: wall time in milliseconds.
    """

    verdict: VerdictName
    reason: str
    stage: str
    extracted: str | None
    ms: float


@dataclass(frozen=True)
class Item:
    """One pair to check.

    tests: the JSON of a code problem's tests. is_bare: the completion is the answer itself. source: the problem's
    source, for which a grading config may have settings of its own.
    """

    completion: str
    ground_truth: str
    kind: str = "math"
    question: str | None = None
    tests: str | None = None
    is_bare: bool = False
    source: str | None = None


class Decision(NamedTuple):
    """A verdict on two answers, before extraction and timing are added."""

    verdict: VerdictName
    reason: Reason
    stage: str


def correct(reason: Reason, stage: str) -> Decision:
    """The answer equals the ground truth."""
    return Decision("correct", reason, stage)


def wrong(reason: Reason, stage: str) -> Decision:
    """The answer differs from the ground truth, or there is none."""
    return Decision("wrong", reason, stage)


def undecided(reason: Reason, stage: str) -> Decision:
    """The verifier cannot decide; never becomes a reward of zero and is not counted in a rate."""
    return Decision("undecided", reason, stage)
