"""Screening: a few completions of each problem first, the rest only where they disagree (SPEED-RL, 2506.09016, sec. 4).

A problem whose first completions are all right or all wrong costs `screen` completions in place of a group of G. The
others are completed to G, and all G enter the gradient. With rewards of 0 and 1 and the group's mean as baseline, the
expected gradient of a problem keeps its direction: a group's gradient is k (G - k) / G times the difference of the mean
score of a right and of a wrong completion, and which groups are completed depends on k of the first completions alone.
What changes is the problem's weight, E[k (G - k); the first disagree] in place of E[k (G - k)].
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from curriculum import Visit
from train.grpo.objectives import Objective
from train.grpo.rollout.groups import Group, groups_of


class Sampled(NamedTuple):
    """One completion as TRL generates it: its tokens, and vLLM's log-probability of each (None elsewhere)."""

    ids: list[int]
    logprobs: list[float] | None


class Verdicts(NamedTuple):
    """Correctness (NaN: undecided), reason code and, where suspects are looked for, answer of each completion."""

    correctness: list[float]
    reasons: list[str]
    answers: Sequence[str | None] = ()


@dataclass(frozen=True)
class Candidate:
    """A problem with its first completions, judged."""

    group: Group
    sampled: tuple[Sampled, ...]
    num_prompt_tokens: int

    def is_mixed(self, objective: Objective) -> bool:
        """Whether the rest of the group is worth sampling: right and wrong completions; in raft, a right one."""
        found = set(self.group.correctness)
        return 1.0 in found if objective.baseline == "none" else {0.0, 1.0} <= found

    @property
    def num_tokens(self) -> int:
        """Tokens of the prompts and completions, as TRL counts them."""
        return sum(self.group.num_tokens) + self.num_prompt_tokens * len(self.sampled)


@dataclass(frozen=True)
class Screening:
    """The candidates of a generation: those that are completed to whole groups, and those that are dropped."""

    chosen: tuple[Candidate, ...]
    dropped: tuple[Candidate, ...]

    @property
    def rows(self) -> tuple[int, ...]:
        """The chosen problems, in the order of their groups."""
        return tuple(candidate.group.row for candidate in self.chosen)

    def kept(self, group_size: int) -> list[Sampled | None]:
        """What is sampled already, for each of the chosen problems' `group_size` completions; None is to come."""
        return [
            completion
            for candidate in self.chosen
            for completion in (*candidate.sampled, *(None,) * (group_size - len(candidate.sampled)))
        ]

    def dropped_groups(self) -> list[Group]:
        """The groups of the dropped problems: their first completions."""
        return [candidate.group for candidate in self.dropped]

    def visits(self) -> list[Visit]:
        """The outcomes of all first completions, of which the forecast says how many agree."""
        return [candidate.group.visit() for candidate in (*self.dropped, *self.chosen)]

    def figures(self) -> dict[str, float]:
        """Problems screened and dropped in this generation, for the log; empty where none was screened."""
        if not self.chosen:
            return {}
        return {
            "screen/candidates": float(len(self.chosen) + len(self.dropped)),
            "screen/dropped": float(len(self.dropped)),
        }


def choose(candidates: Sequence[Candidate], num: int, objective: Objective) -> Screening:
    """The first `num` candidates that disagree; where there are fewer, the last of the others fill the batch."""
    mixed = [candidate for candidate in candidates if candidate.is_mixed(objective)][:num]
    others = [candidate for candidate in candidates if candidate not in mixed]
    missing = num - len(mixed)
    cut = len(others) - missing
    return Screening((*mixed, *others[cut:]), tuple(others[:cut]))


def candidates_of(
    rows: Sequence[int], sampled: Sequence[Sampled], judged: Verdicts, prompts: Sequence[int]
) -> list[Candidate]:
    """The candidates of a draw; the flat lists hold equally many completions for each of `rows`.

    prompts: tokens of each completion's prompt.
    """
    size = len(sampled) // len(rows)
    groups = groups_of(rows, judged.correctness, [len(one.ids) for one in sampled], judged.reasons, judged.answers)
    return [
        Candidate(group, tuple(sampled[place * size : (place + 1) * size]), prompts[place * size])
        for place, group in enumerate(groups)
    ]


def merged(kept: Sequence[Sampled | None], fresh: Sequence[Sampled]) -> list[Sampled]:
    """The kept completions, with the fresh ones in the gaps, in order."""
    rest = iter(fresh)
    return [next(rest) if one is None else one for one in kept]
