"""`gradus curriculum simulate`: compares policies on a measured dataset with a simulated model.

The same `Curriculum` as in training draws and observes; only the model is simulated (`learner.py`). Each seed draws its
true success rates from the posterior of the measured counts, so that the intervals include both sources of variance.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal, Self

import numpy as np
import polars as pl
from pydantic import Field, field_validator, model_validator

from curate.config import RUNTIME, Config, nearest
from curate.errors import UserError
from curate.progress import Progress
from curriculum.config import CurriculumConfig
from curriculum.curriculum import Curriculum
from curriculum.draw.policies import POLICIES
from curriculum.draw.slots import PoolExhausted
from curriculum.simulate.learner import LEARNERS, Learner
from curriculum.statistics.visits import Floats, Visit

BASELINES: Final = ("plain", "dapo")
MAX_REFILLS: Final = 3
NEEDED: Final = ("key", "num_correct", "num_samples", "source")
NO_POOLS: Final = {"policy": "uniform", "rule": "none", "park_after": 10**9, "floor": 1.0}


class SimulateConfig(Config):
    """Simulate policies on measured pass rates before spending GPU time: rollouts, waste and mastery of each.

    plain is uniform sampling without pools, dapo the same with DAPO's refill. Compare policies; absolute figures mean
    little. The simulation shows how a policy uses its rollouts under assumed learning: gains in proportion to p(1-p),
    skill shared within a source, and steady forgetting. It cannot predict how fast your model learns, transfer between
    problems, reward hacking, entropy, length or benchmark results.

    Example: gradus curriculum simulate runs/demo/difficulty --policies plain,dapo,learnability --learner forgetful
    """

    policies: tuple[str, ...] = Field(
        ("plain", "dapo", "prioritized", "learnability", "target"), description="Policies to compare."
    )
    learner: Literal["still", "steady", "forgetful", "isolated", "noisy"] = Field(
        "steady",
        description="Simulated model: still never learns, isolated shares no skill, noisy has an unreliable verifier.",
    )
    steps: int = Field(500, ge=1, description="Training steps.")
    num_problems: int = Field(64, ge=1, description="Groups per step.")
    group_size: int = Field(8, ge=2, description="Completions per group.")
    seeds: int = Field(3, ge=2, description="Runs per policy, for confidence intervals.")
    workers: int = Field(2, ge=1, description="Number of processes.", json_schema_extra=RUNTIME)

    @field_validator("policies", mode="before")
    @classmethod
    def _split(cls, value: object) -> object:
        parts = [value] if isinstance(value, str) else value
        return [name for part in parts for name in str(part).split(",")] if isinstance(parts, list | tuple) else value

    @model_validator(mode="after")
    def _known(self) -> Self:
        for name in self.policies:
            if name not in (*POLICIES, *BASELINES):
                raise ValueError(f"no policy is called {name!r}; {nearest(name, [*POLICIES, *BASELINES])}")
        return self


@dataclass(frozen=True)
class Course:
    """One simulated run, one element per step: running totals, true mean rate and true mastered share."""

    rollouts: Floats
    effective: Floats
    groups: Floats
    mean_rate: Floats
    mastered: Floats


def simulate(problems: pl.DataFrame, settings: CurriculumConfig, config: SimulateConfig) -> dict[str, list[Course]]:
    """The courses of every policy, one per seed; independent of the number of workers."""
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    _refuse_unmeasured(problems)
    needed = problems.select(name for name in problems.columns if name in NEEDED)
    jobs = [(needed, settings, config, name, seed) for name in config.policies for seed in range(config.seeds)]
    # spawn: polars' threads do not survive a fork
    context = get_context("spawn")
    courses = []
    with ProcessPoolExecutor(config.workers, mp_context=context) as pool, Progress("simulate", len(jobs)) as progress:
        for job, course in zip(jobs, pool.map(_job, jobs), strict=True):
            courses.append(course)
            progress.tick(note=job[3])
    return {name: courses[i * config.seeds : (i + 1) * config.seeds] for i, name in enumerate(config.policies)}


def _job(job: tuple[pl.DataFrame, CurriculumConfig, SimulateConfig, str, int]) -> Course:
    return run_course(*job)


def run_course(
    problems: pl.DataFrame, settings: CurriculumConfig, config: SimulateConfig, policy: str, seed: int
) -> Course:
    """Simulate one policy with one seed."""
    changes = NO_POOLS if policy in BASELINES else {"policy": policy}
    quiet = {"outage_p": 0.0, "canaries": 0.0}
    settings = CurriculumConfig.model_validate({**settings.model_dump(), **changes, **quiet, "seed": seed})
    curriculum = Curriculum.create(problems, settings, {})
    learner = _learner(problems, config, seed)
    lines = list(_steps(curriculum, learner, config, MAX_REFILLS if policy == "dapo" else 0))
    return Course(*np.array(lines, np.float64).T)


def _steps(curriculum: Curriculum, learner: Learner, config: SimulateConfig, refills: int) -> Iterator[list[float]]:
    rollouts = effective = groups = 0
    for step in range(1, config.steps + 1):
        try:
            visits, live = _generate(curriculum, learner, config, step, refills)
        except PoolExhausted:
            visits, live = [], []
        curriculum.observe(visits, step=step)
        rows, truth = np.array(live, np.int64).reshape(-1, 2).T
        learner.practise(rows, truth, config.group_size, config.num_problems)
        rollouts, groups = rollouts + len(visits) * config.group_size, groups + len(visits)
        effective += len(live)
        rates = learner.rates()
        yield [rollouts, effective, groups, rates.mean(), (rates > curriculum.config.p0).mean()]


def _generate(
    curriculum: Curriculum, learner: Learner, config: SimulateConfig, step: int, refills: int
) -> tuple[list[Visit], list[tuple[int, int]]]:
    """All visits of a step, and (row, truly correct) of those with a gradient, at most one batch."""
    visits: list[Visit] = []
    live: list[tuple[int, int]] = []
    for _ in range(1 + refills):
        rows = curriculum.draw(config.num_problems, step=step, exclude=[visit.row for visit in visits])
        outcome = learner.answer(np.array(rows), config.group_size)
        for row, correct, undecided, truth in zip(rows, *(part.tolist() for part in outcome), strict=True):
            wrong = config.group_size - correct - undecided
            visits.append(Visit(row, correct, wrong, undecided))
            if correct and wrong:
                live.append((row, truth))
        if len(live) >= config.num_problems:
            break
    return visits, live[: config.num_problems]


def _learner(problems: pl.DataFrame, config: SimulateConfig, seed: int) -> Learner:
    rng = np.random.default_rng([seed, 1])
    counts = problems.select(pl.col("num_correct", "num_samples").fill_null(0)).to_numpy().astype(np.float64)
    # Jeffreys' prior: the measured rate with its sampling uncertainty
    rates = rng.beta(counts[:, 0] + 0.5, counts[:, 1] - counts[:, 0] + 0.5)
    if "source" in problems.columns:
        families = problems["source"].fill_null("").rank("dense").to_numpy().astype(np.int64) - 1
    else:
        families = np.zeros(problems.height, np.int64)
    return Learner(rates, families, LEARNERS[config.learner], rng)


def _refuse_unmeasured(problems: pl.DataFrame) -> None:
    if not {"num_correct", "num_samples"} <= set(problems.columns):
        raise UserError("the dataset has no measured pass rates; run gradus curate difficulty on it first")


def table(courses: dict[str, list[Course]]) -> str:
    """One line per policy: means over seeds with 95% confidence intervals."""
    head = ("policy", "rollouts", "effective", "wasted", "per effective", "mean rate", "mastered")
    lines = ["".join(f"{name:>17}" for name in head)]
    for policy, runs in courses.items():
        rollouts = np.array([run.rollouts[-1] for run in runs])
        effective, groups = (np.array([getattr(run, name)[-1] for run in runs]) for name in ("effective", "groups"))
        cells = [
            interval(rollouts, "{:,.0f}"),
            interval(effective, "{:,.0f}"),
            interval(1 - effective / np.maximum(groups, 1), "{:.3f}"),
            interval(rollouts / np.maximum(effective, 1), "{:.1f}"),
            interval(np.array([run.mean_rate[-1] for run in runs]), "{:.3f}"),
            interval(np.array([run.mastered[-1] for run in runs]), "{:.3f}"),
        ]
        lines.append(f"{policy:>17}" + "".join(f"{cell:>17}" for cell in cells))
    return "\n".join(lines)


def half_width(values: Floats) -> float:
    """Half width of the 95% interval of the mean over seeds (Student's t)."""
    from scipy.special import stdtrit

    return float(stdtrit(len(values) - 1, 0.975) * values.std(ddof=1) / np.sqrt(len(values)))


def interval(values: Floats, form: str) -> str:
    """`mean ±half` in the given form."""
    return f"{form.format(values.mean())} ±{form.format(half_width(values))}"
