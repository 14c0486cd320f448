"""Groups of a generation, each the completions of one problem, and the figures logged about them.

Completions are flat lists over all processes, in the order of the draw: rank by rank, and group by group.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from curate.sampling.breakdown import NO_ANSWER
from curriculum import Visit


@dataclass(frozen=True)
class Group:
    """The completions of the problem at `row`: each one's correctness (NaN: undecided), tokens and reason code.

    answers: those in one spelling, where suspects are looked for; else empty.
    """

    row: int
    correctness: tuple[float, ...]
    num_tokens: tuple[int, ...]
    reasons: tuple[str, ...]
    answers: tuple[str | None, ...] = ()

    def tokens_where(self, correctness: float) -> list[int]:
        """Lengths of the correct (1.0) or wrong (0.0) completions."""
        return [tokens for tokens, value in zip(self.num_tokens, self.correctness, strict=True) if value == correctness]

    def visit(self) -> Visit:
        """The outcome of the group for the curriculum."""
        correct, wrong = self.tokens_where(1.0), self.tokens_where(0.0)
        unjudged = Counter(
            reason for reason, value in zip(self.reasons, self.correctness, strict=True) if math.isnan(value)
        )
        return Visit(
            row=self.row,
            num_correct=len(correct),
            num_wrong=len(wrong),
            num_undecided=unjudged.total(),
            mean_tokens_correct=fmean(correct) if correct else None,
            mean_tokens_wrong=fmean(wrong) if wrong else None,
            undecided_reason=unjudged.most_common(1)[0][0] if unjudged else "",
            num_truncated=self.reasons.count("truncated"),
            answers=tuple(
                (None if math.isnan(value) else answer, value == 1.0)
                for answer, value in zip(self.answers, self.correctness, strict=bool(self.answers))
            ),
        )


def groups_of(
    rows: Sequence[int],
    correctness: Sequence[float],
    num_tokens: Sequence[int],
    reasons: Sequence[str],
    answers: Sequence[str | None] = (),
) -> list[Group]:
    """The groups of a draw; the flat lists hold equally many completions for each of `rows`."""
    size = len(correctness) // len(rows)
    parts = [(row, slice(place * size, (place + 1) * size)) for place, row in enumerate(rows)]
    return [
        Group(row, tuple(correctness[at]), tuple(num_tokens[at]), tuple(reasons[at]), tuple(answers[at]))
        for row, at in parts
    ]


def group_figures(groups: Sequence[Group]) -> dict[str, float]:
    """Mean lengths of correct and wrong completions, and shares of groups with all, some or no correct completions.

    Shares of groups are of those with a judged completion; a figure without data is left out. `no_answer_ratio` is the
    share of all completions in which the verifier found no answer, outside the reasoning.
    """
    correct = [tokens for group in groups for tokens in group.tokens_where(1.0)]
    wrong = [tokens for group in groups for tokens in group.tokens_where(0.0)]
    visits = [group.visit() for group in groups]
    judged = [visit for visit in visits if visit.num_correct + visit.num_wrong > 0]
    reasons = [reason for group in groups for reason in group.reasons]
    figures: dict[str, float] = {}
    if correct:
        figures["completions/mean_length_correct"] = fmean(correct)
    if wrong:
        figures["completions/mean_length_wrong"] = fmean(wrong)
    if judged:
        figures["completions/no_answer_ratio"] = fmean(reason in NO_ANSWER for reason in reasons)
        figures["accuracy"] = len(correct) / (len(correct) + len(wrong))
        figures["groups/solved_by_none"] = fmean(visit.num_correct == 0 for visit in judged)
        figures["groups/solved_by_all"] = fmean(visit.num_wrong == 0 for visit in judged)
        figures["groups/mixed"] = fmean(visit.num_correct > 0 and visit.num_wrong > 0 for visit in judged)
    return figures
