"""Lets a model vote on ground truths: a truth is suspect if most of K samples agree on another answer.

Sampling is curtailed as in `band`: it stops for a problem as soon as no other answer can reach the votes it needs,
which for most problems is after the first few correct samples.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Final, NamedTuple

import polars as pl
from pydantic import Field

from curate.artifacts.samples import Sample
from curate.engines import EngineConfig, open_engine
from curate.runner.stage import Workspace
from curate.sampling.grading import GradingConfig, Problem, grade
from curate.sampling.model_stage import Asked, Asking, open_asking
from curate.verify import Policy, verify
from curate.verify.extract.find import extract

EVIDENCE_CHARS: Final = 80
Poll = Callable[[pl.DataFrame], list[str | None]]


class VoteConfig(GradingConfig, EngineConfig):
    """How a model votes on ground truths; used only if a model, a server or a script is named."""

    votes: int = Field(8, ge=2, description="Samples a problem, if a model votes on ground truths.")
    vote_share: float = Field(
        0.75, gt=0.5, le=1, description="Share of the votes that one other answer needs to make a truth suspect."
    )
    seed: int = Field(0, description="Seed of the run; each sample's seed derives from it, the key and the index.")

    @property
    def has_voters(self) -> bool:
        """Whether a model was named."""
        return self.engine != "auto" or bool(self.model or self.base_url or self.script)

    @property
    def votes_needed(self) -> int:
        """Number of votes for one other answer at which the truth is suspect."""
        return math.ceil(self.votes * self.vote_share)


class Rival(NamedTuple):
    """An answer other than the truth, and how many samples gave it."""

    answer: str
    num_votes: int


def leading_rival(samples: Sequence[Sample], policy: Policy) -> Rival | None:
    """The answer that most wrong samples share, with equal answers counted together; the earliest of ties.

    A sample whose answer equals the truth in another form has no rival answer.
    """
    values = policy.model_copy(update={"unevaluated": "accept"})
    rivals: list[Rival] = []
    for sample in samples:
        found = extract(sample.text, policy).answers if _names_rival(sample) else ()
        if not found:
            continue
        for index, rival in enumerate(rivals):
            if verify(sample.text, rival.answer, policy=values).verdict == "correct":
                rivals[index] = Rival(rival.answer, rival.num_votes + 1)
                break
        else:
            rivals.append(Rival(found[-1], 1))
    return max(rivals, key=lambda rival: rival.num_votes, default=None)


def _names_rival(sample: Sample) -> bool:
    return sample.verdict == "wrong" and sample.verdict_reason not in ("unevaluated", "other_form")


def owed(config: VoteConfig, samples: Sequence[Sample]) -> int:
    """Number of samples to draw next: as many as the leader still needs; 0 once one has won or none can."""
    rival = leading_rival(samples, config.verify)
    missing = config.votes_needed - (rival.num_votes if rival else 0)
    return max(0, missing) if missing <= config.votes - len(samples) else 0


@contextmanager
def open_poll(config: VoteConfig, workspace: Workspace) -> Iterator[Poll]:
    """Yields a function that returns, for each row, the evidence that its ground truth is suspect, or None."""

    def rule(_: Problem, samples: Sequence[Sample]) -> int:
        return owed(config, samples)

    asking = Asking("vote", config.seed, rule, partial(grade, config=config), config.max_in_flight)
    with open_asking(asking, open_engine(config, workspace.engines), workspace) as ask:
        yield lambda rows: [_suspicion(item, config) for item in ask(rows)]


def _suspicion(item: Asked, config: VoteConfig) -> str | None:
    rival = leading_rival(item.samples, config.verify)
    if rival is None or rival.num_votes < config.votes_needed:
        return None
    answer, truth = rival.answer[:EVIDENCE_CHARS], item.problem.ground_truth[:EVIDENCE_CHARS]
    return f"{rival.num_votes} of {len(item.samples)} samples say {answer}; the source says {truth}"
