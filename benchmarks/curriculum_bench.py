"""Cost and savings of the curriculum: draw and load time, false retirement, groups without a gradient.

Run with `python benchmarks/curriculum_bench.py [--quick]`. One thread is used and its CPU time is printed, so that
other work on the machine matters little. Closed forms are printed beside what they predict. (A script called
curriculum.py would hide the package of that name.)
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from itertools import repeat
from pathlib import Path
from typing import Final

# figures are for one core; set before the libraries read it
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("POLARS_MAX_THREADS", "1")

import numpy as np
import polars as pl

from curriculum import Curriculum, CurriculumConfig, Visit
from curriculum.draw.policies import POLICIES
from curriculum.forecast.variance import zero_variance_rate
from curriculum.simulate.learner import LEARNERS, Learner
from curriculum.simulate.rules import RULES, RulesConfig, try_rule
from curriculum.simulate.simulate import Course, SimulateConfig, interval, simulate, table

POOLS: Final = {"Beta(.5,.5)": (0.5, 0.5), "Beta(.3,.6)": (0.3, 0.6), "U(0,1)": (1.0, 1.0)}
GROUP: Final = 16


def main() -> None:
    """Print all tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the size, for a trial")
    scale = 10 if parser.parse_args().quick else 1
    speed(1_000_000 // scale)
    rules(20_000 // scale)
    variance(10_000 // scale)
    simulation(10_000 // scale)
    learning(1_000 // scale)


def speed(num: int) -> None:
    """Draw, observe, save and load over `num` active problems."""
    rng = np.random.default_rng(0)
    counts = {"num_correct": rng.binomial(8, rng.beta(0.5, 0.5, num)), "num_samples": np.full(num, 8)}
    problems = pl.DataFrame({"key": [f"{i:024x}" for i in range(num)], **counts})
    print(f"\n{num:,} active problems, batches of 512, one thread: CPU ms (median, worst of 20)")
    for policy in POLICIES:
        curriculum = Curriculum.create(problems, CurriculumConfig(policy=policy, outage_p=0), {})
        draws, observations = [], []
        for step in range(21):
            draws.append(_ms(lambda c=curriculum, s=step: c.draw(512, step=s)))
            visits = [Visit(row, 4, 4, 0) for row in curriculum.draw(512, step=step)]
            observations.append(_ms(lambda c=curriculum, v=visits, s=step: c.observe(v, step=s)))
        # the first round loads libraries
        print(f"  {policy:<14} draw {_spread(draws[1:])}   observe {_spread(observations[1:])}")
    with tempfile.TemporaryDirectory() as folder:
        save = _ms(lambda: curriculum.save(Path(folder)))
        load = _ms(lambda: Curriculum.load(Path(folder), problems, curriculum.config, {}))
        size = sum(path.stat().st_size for path in Path(folder).iterdir())
    print(f"  save {save / 1000:.2f} s, load {load / 1000:.2f} s, {size / 1e6:.1f} MB on disk")


def rules(num: int) -> None:
    """False retirement and speed of each rule."""
    config = RulesConfig(num_problems=num)
    print(f"\nretirement, groups of 8, p0 0.8, alpha 0.05, {num:,} problems a cell")
    print(f"  {'rule':<12}{'false, 10 visits':>18}{'false, 200 visits':>19}{'median at .95':>15}{'median at .99':>15}")
    for rule in RULES:
        short = try_rule(rule, repeat(0.8), config.model_copy(update={"num_visits": 10}))
        false = try_rule(rule, repeat(0.8), config)
        medians = [try_rule(rule, repeat(rate), config).median_visits for rate in (0.95, 0.99)]
        print(f"  {rule:<12}{short.retired_rate:>18.1%}{false.retired_rate:>19.1%}{medians[0]!s:>15}{medians[1]!s:>15}")
    print(f"  closed form: threshold within 10 visits {1 - (1 - 0.8**8) ** 10:.1%}; e_process ever <= 5%")
    at_90 = RulesConfig(num_problems=num, p0=0.9, num_visits=25)
    false = try_rule("posterior", repeat(0.9), at_90).retired_rate
    print(f"  posterior P(p > .9) > .95 at p = .9: {false:.1%} within 25 visits (known: 14.7%)")


def simulation(num: int) -> None:
    """Wall time of `gradus curriculum simulate` at its defaults for 5 policies, on two processes."""
    problems = _measured(num, num_families=1)
    policies = ("uniform", "prioritized", "easy_to_hard", "learnability", "target")
    config = SimulateConfig(policies=policies)
    start = time.monotonic()
    simulate(problems, CurriculumConfig(), config)
    took = time.monotonic() - start
    print(f"\nsimulate {num:,} problems, {config.steps} steps, 5 policies, {config.seeds} seeds: {took:.0f} s wall")


def learning(num: int) -> None:
    """Results of policies with a model that learns, with and without an assumed gain between visits."""
    problems = _measured(num, num_families=8)
    sizes = {"steps": 200, "num_problems": 32, "group_size": 8, "seeds": 4}
    print(f"\n{num:,} problems of Beta(.5,.5), 8 families, {sizes}, learner steady")
    policies = ("plain", "dapo", "uniform", "learnability", "target")
    config = SimulateConfig.model_validate({**sizes, "policies": policies})
    print(table(simulate(problems, CurriculumConfig(), config)))
    print("\nthe same, wasted share and share mastered, without a gain between visits and with it")
    for learner in LEARNERS:
        for policy in ("learnability", "target"):
            config = SimulateConfig.model_validate({**sizes, "policies": (policy,), "learner": learner})
            cells = [
                _wasted_and_mastered(simulate(problems, CurriculumConfig(gain_half_life=half_life), config)[policy])
                for half_life in (0, CurriculumConfig().gain_half_life)
            ]
            print(f"  {learner:<10} {policy:<13} {cells[0]}   {cells[1]}")


def _wasted_and_mastered(runs: list[Course]) -> str:
    wasted = np.array([1 - run.effective[-1] / run.groups[-1] for run in runs])
    mastered = np.array([run.mastered[-1] for run in runs])
    return f"{interval(wasted, '{:.3f}')} {interval(mastered, '{:.3f}')}"


def _measured(num: int, num_families: int) -> pl.DataFrame:
    """Problems of Beta(.5,.5), measured with 8 samples each."""
    rng = np.random.default_rng(0)
    correct = rng.binomial(8, rng.beta(0.5, 0.5, num))
    keys = pl.Series([f"{i:024x}" for i in range(num)])
    families = [f"pool {i % num_families}" for i in range(num)]
    return pl.DataFrame({"key": keys, "source": families, "num_correct": correct, "num_samples": 8})


def variance(num: int) -> None:
    """Share of zero-variance groups and rollouts per effective group, per policy, on pools without learning."""
    print(f"\nzero-variance share and rollouts per effective group, groups of {GROUP}, {num:,} problems, no learning")
    print("  DAPO's refill draws evenly until the batch is full: its rollouts per effective group are uniform's")
    print(f"  {'':<34}" + "".join(f"{name:>18}" for name in POOLS))
    closed = [float(zero_variance_rate(np.array([a]), np.array([b]), GROUP)[0]) for a, b in POOLS.values()]
    print(f"  {'uniform and DAPO refill, closed':<34}" + "".join(_pair(share) for share in closed))
    for name, settings, num_samples in (
        ("uniform without pools", {"policy": "uniform", "rule": "none", "park_after": 10**9}, 0),
        *((f"{policy}, {k} samples measured", {"policy": policy}, k) for policy in POLICIES for k in (0, 8)),
    ):
        shares = [_share(num, pool, CurriculumConfig.model_validate(settings), num_samples) for pool in POOLS.values()]
        print(f"  {name:<34}" + "".join(_pair(share) for share in shares))


def _share(num: int, pool: tuple[float, float], config: CurriculumConfig, num_samples: int, steps: int = 200) -> float:
    rng = np.random.default_rng(0)
    rates = rng.beta(*pool, num)
    counts = {"num_correct": rng.binomial(num_samples, rates), "num_samples": np.full(num, num_samples)}
    curriculum = Curriculum.create(pl.DataFrame({"key": [str(i) for i in range(num)], **counts}), config, {})
    learner = Learner(rates, np.zeros(num, np.int64), LEARNERS["still"], rng)
    dead = 0
    for step in range(steps):
        rows = curriculum.draw(64, step=step)
        correct = learner.answer(np.array(rows), GROUP).correct.tolist()
        dead += sum(k in (0, GROUP) for k in correct)
        curriculum.observe([Visit(row, k, GROUP - k, 0) for row, k in zip(rows, correct, strict=True)], step=step)
    return dead / (64 * steps)


def _pair(share: float) -> str:
    return f"{share:>9.3f}{GROUP / (1 - share):>9.1f}"


def _ms(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return (time.process_time() - start) * 1000


def _spread(times: list[float]) -> str:
    return f"{statistics.median(times):6.1f} {max(times):6.1f}"


if __name__ == "__main__":
    main()
