"""Shared parts of stages that sample a model: an engine while the stage runs, and its samples as columns."""

from __future__ import annotations

import asyncio
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from statistics import fmean
from typing import Any, NamedTuple

import polars as pl

from curate.artifacts.samples import Sample
from curate.engines import CannotAsk, Engine, EngineConfig
from curate.runner.stage import Replica, Workspace
from curate.sampling.breakdown import cautions, described, no_answer_rate, reasons_of
from curate.sampling.grading import Grade, Problem, problems_of
from curate.sampling.posterior import interval
from curate.sampling.sampler import Limits, Meter, Rule, Sampler
from curate.sampling.tallies import Tally, tally


class Asked(NamedTuple):
    """One problem after sampling: its samples by index, or why it could not be asked."""

    problem: Problem
    samples: tuple[Sample, ...]
    unaskable: CannotAsk | None

    def tally(self) -> Tally:
        """Its verdicts, counted."""
        return tally(sample.verdict for sample in self.samples)

    def undecided_reasons(self) -> str:
        """Why samples could not be judged, most frequent first: `timeout 3, memory 1`."""
        reasons = Counter(sample.verdict_reason for sample in self.samples if sample.verdict == "undecided")
        return ", ".join(
            f"{reason} {count}" for reason, count in sorted(reasons.items(), key=lambda it: (-it[1], it[0]))
        )


Ask = Callable[[pl.DataFrame], list[Asked]]


@dataclass(frozen=True)
class Asking:
    """The request of one stage: `rule` returns how many samples a problem still needs, `grade` judges each.

    explains: print at the end why samples were not correct.
    """

    name: str
    seed: int
    rule: Rule
    grade: Grade
    max_in_flight: int
    explains: bool = True


@contextmanager
def open_asking(asking: Asking, opened: AbstractContextManager[Engine], workspace: Workspace) -> Iterator[Ask]:
    """Yields a function that samples the problems of a frame and logs every sample; prints the cost at the end."""
    samples, meter, limits = workspace.samples, Meter(), Limits(asking.max_in_flight)
    if samples is None:
        raise RuntimeError(f"stage {asking.name} samples a model, but the runner lent it no log")
    with (
        opened as engine,
        ThreadPoolExecutor(limits.num_graders, thread_name_prefix="grade") as graders,
        asyncio.Runner() as runner,
    ):
        judged: Counter[tuple[str, str]] = Counter()
        sampler = Sampler(engine, samples, asking.rule, asking.grade, asking.seed, limits, workspace.progress, meter)

        def ask(rows: pl.DataFrame) -> list[Asked]:
            problems = problems_of(rows)
            unaskable = sampler.run(runner, graders, problems)
            asked = [Asked(problem, samples.of(problem.key), unaskable.get(problem.key)) for problem in problems]
            judged.update((sample.verdict, sample.verdict_reason) for item in asked for sample in item.samples)
            return asked

        yield ask
    if meter.num_samples:
        print(f"{asking.name}: {meter.line()}", file=sys.stderr)
        for line in _why_not(judged) if asking.explains else ():
            print(f"{asking.name}: {line}", file=sys.stderr)


def _why_not(judged: Counter[tuple[str, str]]) -> list[str]:
    """Why samples were not correct, and a warning where many are cut off or hold no answer."""
    reasons, num = reasons_of(judged.elements()), judged.total()
    truncated = sum(count for (_, reason), count in judged.items() if reason == "truncated")
    found = cautions(truncated / num, no_answer_rate(reasons, num))
    return [line for line in (described(reasons, num), *found.values()) if line]


def replica(config: EngineConfig) -> Replica:
    """Cluster resources of one engine: the GPUs that its model is spread over."""
    return Replica(config.replicas, config.tensor_parallel_size * config.data_parallel_size)


def rate_columns(asked: Sequence[Asked]) -> dict[str, list[Any]]:  # Any: counts and rates
    """Counts, pass rate with its posterior interval and mean tokens by verdict, one entry a problem."""
    tallies = [item.tally() for item in asked]
    judged = [seen.correct + seen.wrong for seen in tallies]
    intervals = [interval(seen.correct, seen.wrong) for seen in tallies]
    return {
        "num_correct": [seen.correct for seen in tallies],
        "num_wrong": [seen.wrong for seen in tallies],
        "num_undecided": [seen.undecided for seen in tallies],
        "num_samples": judged,
        "pass_rate": [seen.correct / n if n else None for seen, n in zip(tallies, judged, strict=True)],
        "pass_rate_low": [ends.low for ends in intervals],
        "pass_rate_high": [ends.high for ends in intervals],
        "mean_tokens_correct": [_mean_tokens(item, "correct") for item in asked],
        "mean_tokens_wrong": [_mean_tokens(item, "wrong") for item in asked],
    }


def _mean_tokens(item: Asked, verdict: str) -> float | None:
    tokens = [sample.num_tokens for sample in item.samples if sample.verdict == verdict]
    return fmean(tokens) if tokens else None
