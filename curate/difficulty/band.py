"""The keep band, and curtailed sampling, which stops once a best-of-K decision can no longer change.

A problem is kept when `low..high` of its K judged samples are correct. With s correct and f wrong so far, the decision
is final as soon as s >= low and f >= K - high (kept), s > high (too easy) or f > K - low (too hard). No exact rule can
stop earlier: before that point several outcomes are possible. A sample that could not be judged is replaced by the next
one; a problem with more than `max_undecided` of them before the decision is final is `unverifiable`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, Self

from curate.sampling.tallies import Tally

Decision = Literal["keep", "too_easy", "too_hard", "unverifiable"]


@dataclass(frozen=True)
class Band:
    """Keep a problem when `low` to `high` of `k` judged samples are correct, both ends included."""

    low: int
    high: int
    k: int

    @classmethod
    def parse(cls, text: str, k: int) -> Self:
        """Parse `1..7`, or a single number; raises `ValueError` with the reason."""
        found = re.fullmatch(r"(\d+)(?:\.\.(\d+))?", text.strip())
        if found is None:
            raise ValueError("write the fewest and the most correct samples to keep, as 1..7")
        low = int(found[1])
        return cls._checked(low, int(found[2]) if found[2] else low, k)

    @classmethod
    def of_rates(cls, low: float, high: float, k: int) -> Self:
        """The counts of `k` whose rate is in [low, high]; raises `ValueError` if there is none."""
        # the tolerance keeps the count of a decimal rate despite rounding: 0.3 of 10 is 3
        return cls._checked(math.ceil(low * k - 1e-9), math.floor(high * k + 1e-9), k)

    @classmethod
    def _checked(cls, low: int, high: int, k: int) -> Self:
        if not 0 <= low <= high <= k:
            raise ValueError(f"{low}..{high} is not a band of {k} samples; use 0 <= low <= high <= {k}")
        return cls(low, high, k)

    def __str__(self) -> str:
        return f"{self.low}..{self.high} of {self.k}"


def settled(seen: Tally, band: Band, max_undecided: int) -> Decision | None:
    """The decision if it is final, else None."""
    if seen.correct >= band.low and seen.wrong >= band.k - band.high:
        return "keep"
    if seen.correct > band.high:
        return "too_easy"
    if seen.wrong > band.k - band.low:
        return "too_hard"
    return "unverifiable" if seen.undecided > max_undecided else None


def decide_in_order(verdicts: Iterable[str], band: Band, max_undecided: int) -> Decision | None:
    """The first final decision on samples in order of their index; None if more are needed.

    Reads no further than curtailed sampling would have drawn, so both modes decide alike for every sequence.
    """
    seen = Tally()
    for verdict in verdicts:
        if (decision := settled(seen, band, max_undecided)) is not None:
            return decision
        seen = _one_more(seen, verdict)
    return settled(seen, band, max_undecided)


def _one_more(seen: Tally, verdict: str) -> Tally:
    correct, wrong, undecided = seen
    return Tally(correct + (verdict == "correct"), wrong + (verdict == "wrong"), undecided + (verdict == "undecided"))


def fewest_owed(seen: Tally, band: Band, max_undecided: int) -> int:
    """Fewest samples that any decision still needs, which can be drawn together without waste."""
    to_keep = max(band.low - seen.correct, 0) + max(band.k - band.high - seen.wrong, 0)
    to_too_easy = band.high + 1 - seen.correct
    to_too_hard = band.k - band.low + 1 - seen.wrong
    to_unverifiable = max_undecided + 1 - seen.undecided
    return min(to_keep, to_too_easy, to_too_hard, to_unverifiable)


def expected_samples(band: Band, alpha: float, beta: float) -> float:
    """Mean number of samples of curtailed sampling for Beta(alpha, beta) pass rates: the benchmark's closed form.

    Polya's urn: given s correct and f wrong, the next sample is correct with (alpha + s) / (alpha + beta + s + f).
    """
    reach = {(0, 0): 1.0}
    mean = 0.0
    while reach:
        after: dict[tuple[int, int], float] = {}
        for (s, f), probability in reach.items():
            if settled(Tally(s, f), band, 0) is not None:
                continue
            mean += probability
            is_correct = (alpha + s) / (alpha + beta + s + f)
            after[s + 1, f] = after.get((s + 1, f), 0.0) + probability * is_correct
            after[s, f + 1] = after.get((s, f + 1), 0.0) + probability * (1 - is_correct)
        reach = after
    return mean
