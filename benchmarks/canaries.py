"""How often canaries raise an alarm without cause, and how soon with one, by simulation.

    python benchmarks/canaries.py

A visit is a group of 8 completions. Without cause, each is judged correct at the rate of luck, independently or all
alike (the group gives one answer). With a cause, completions are judged correct at a higher rate, from the first visit
or from the hundredth.
"""

from __future__ import annotations

import numpy as np

from curriculum import CurriculumConfig, Visit
from curriculum.canaries.alarm import learn
from curriculum.canaries.problems import LUCK
from curriculum.statistics.clock import Canaries

GROUP = 8
NUM_VISITS = 300
NUM_RUNS = 2_000
ALPHAS = (0.01, 0.05)
RATES = (0.05, 0.1, 0.25, 1.0)
LATE = 100


def alarm_visit(counts: list[int], config: CurriculumConfig) -> int | None:
    """The visit at which the alarm is raised, from 1; None if it never is."""
    canaries = Canaries()
    for number, correct in enumerate(counts, start=1):
        learn(canaries, [Visit(0, correct, GROUP - correct, 0)], number, config)
        if canaries.alarm_step is not None:
            return canaries.alarm_step
    return None


def false_alarms(alpha: float, *, alike: bool, num_runs: int = NUM_RUNS, seed: int = 0) -> float:
    """Share of runs with an alarm at the rate of luck."""
    rng, config = np.random.default_rng(seed), CurriculumConfig(canaries=0.02, canary_alpha=alpha)
    shape = (num_runs, NUM_VISITS)
    counts = GROUP * (rng.random(shape) < LUCK) if alike else rng.binomial(GROUP, LUCK, shape)
    return sum(alarm_visit(row, config) is not None for row in counts.tolist()) / num_runs


def visits_until_alarm(rate: float, begins: int, num_runs: int = 200, seed: int = 0) -> float:
    """Median number of visits from the one at which the rate rises to the alarm, at alpha 0.01; infinity for none."""
    rng, config = np.random.default_rng(seed), CurriculumConfig(canaries=0.02)
    found = []
    for _ in range(num_runs):
        rates = np.where(np.arange(NUM_VISITS) < begins, LUCK, rate)
        at = alarm_visit(rng.binomial(GROUP, rates).tolist(), config)
        found.append(np.inf if at is None else at - begins)
    return float(np.median(found))


def main() -> None:
    """Print both tables."""
    print(f"runs with a false alarm, of {NUM_RUNS:,} with {NUM_VISITS} visits of {GROUP}:")
    for alpha in ALPHAS:
        independent, alike = (false_alarms(alpha, alike=alike) for alike in (False, True))
        print(f"  alpha {alpha:g}: {independent:.2%} independent, {alike:.2%} alike")
    print("median visits until the alarm at alpha 0.01, from the first visit, from visit 100:")
    for rate in RATES:
        print(f"  rate {rate:g}: {visits_until_alarm(rate, 0):g}, {visits_until_alarm(rate, LATE):g}")


if __name__ == "__main__":
    main()
