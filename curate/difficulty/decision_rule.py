"""Rules that stop sampling a problem and decide on it: curtailed, all K, or until the posterior is sure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from curate.difficulty.band import Band, Decision, decide_in_order, fewest_owed
from curate.sampling.posterior import below, inside
from curate.sampling.tallies import tally


class DecisionRule(Protocol):
    """Reads the verdicts of a problem in order of their index."""

    def owed(self, verdicts: Sequence[str]) -> int:
        """Number of samples to draw next; 0 to stop."""
        ...

    def decision(self, verdicts: Sequence[str]) -> Decision | None:
        """The decision on these samples; None if they do not suffice."""
        ...


@dataclass(frozen=True)
class BandRule:
    """Best-of-K: `band` counts correct samples of K. With `is_curtailed` it stops once the decision is final.

    `fills_kept`: a problem inside the band gets all K judged samples nevertheless, which changes no decision.
    """

    band: Band
    max_undecided: int
    is_curtailed: bool
    fills_kept: bool = False

    def owed(self, verdicts: Sequence[str]) -> int:
        """See `DecisionRule`."""
        seen = tally(verdicts)
        if self.is_curtailed:
            decision = self.decision(verdicts)
            if decision is None:
                return fewest_owed(seen, self.band, self.max_undecided)
            if decision != "keep" or not self.fills_kept:
                return 0
        return 0 if seen.undecided > self.max_undecided else self.band.k - seen.correct - seen.wrong

    def decision(self, verdicts: Sequence[str]) -> Decision | None:
        """See `DecisionRule`."""
        return decide_in_order(verdicts, self.band, self.max_undecided)

    def __str__(self) -> str:
        return f"keep {self.band}"


@dataclass(frozen=True)
class PreciseRule:
    """Samples until the posterior puts less than `target_error` on the other side of the rate band.

    The posterior does not depend on the stopping rule, so a test after each chunk keeps it valid.
    """

    low: float
    high: float
    target_error: float
    chunk: int
    max_samples: int
    max_undecided: int

    def owed(self, verdicts: Sequence[str]) -> int:
        """See `DecisionRule`."""
        seen = tally(verdicts)
        num_judged = seen.correct + seen.wrong
        # the prior alone must not decide, even if it is sure of a wide band
        is_sure = num_judged > 0 and self.error(seen.correct, seen.wrong) < self.target_error
        if is_sure or seen.undecided > self.max_undecided:
            return 0
        return max(0, min(self.chunk, self.max_samples - num_judged))

    def decision(self, verdicts: Sequence[str]) -> Decision | None:
        """See `DecisionRule`; None only if nothing was judged."""
        correct, wrong, undecided = tally(verdicts)
        is_sure = correct + wrong > 0 and self.error(correct, wrong) < self.target_error
        if not is_sure and undecided > self.max_undecided:
            return "unverifiable"
        if not correct + wrong:
            return None
        if inside(self.low, self.high, correct, wrong) >= 0.5:
            return "keep"
        return "too_hard" if below(self.low, correct, wrong) >= 1 - below(self.high, correct, wrong) else "too_easy"

    def error(self, num_correct: int, num_wrong: int) -> float:
        """Posterior probability that the likelier side of the band is the wrong one."""
        is_in = inside(self.low, self.high, num_correct, num_wrong)
        return min(is_in, 1 - is_in)

    def __str__(self) -> str:
        return f"keep rates {self.low}..{self.high}"
