"""Forecasts compared by replay: proper scores of several models of the success rates on the visits of finished runs.

`python benchmarks/forecasts.py RUN [RUN ...]` prints a table per run of `gradus train grpo`, without a model.

Scores are in nats per group, lower is better. Windows are 10 steps; one of 160 groups with a share of .4 has a standard
error of 4 points by itself.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any, Final

import numpy as np

from curriculum import CurriculumConfig
from curriculum.forecast.variance import zero_variance_rate
from curriculum.simulate.replay import dataset_of, rescore
from curriculum.simulate.scores import Scored, Scores, scores
from curriculum.state.files import Saved, newest, read
from curriculum.statistics.visits import Floats

CANDIDATES: Final[dict[str, dict[str, Any]]] = {
    "fitted prior, one group, constant": {"groups": (), "gain_half_life": 0},
    "fitted prior by source and level, constant": {"groups": ("source", "level"), "gain_half_life": 0},
    "fitted prior, one group, progress": {"groups": ()},
    "fitted prior by group, progress (default)": {"groups": ("source", "level")},
    "the same, gain_half_life 10": {"groups": ("source", "level"), "gain_half_life": 10},
    "the same, gain_half_life 90": {"groups": ("source", "level"), "gain_half_life": 90},
    "the same, half_life_visits 1": {"groups": ("source", "level"), "half_life_visits": 1},
    "the same, nothing forgotten": {"groups": ("source", "level"), "half_life_visits": 1e9},
}
HALF_LIFE_VISITS, GAIN_HALF_LIFE, PRIOR_GAIN, MAX_SHIFT = 3.0, 30.0, 0.02, 3.0


def main() -> None:
    """Print the tables, and the windows of the default."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("runs", type=Path, nargs="+", help="run folders whose datasets still exist")
    for run in parser.parse_args().runs:
        report(run)


def report(run: Path) -> None:
    """The table of one run."""
    saved = read(newest(run))
    problems = dataset_of(run, saved, None)
    config = CurriculumConfig.model_validate(saved.config)
    print(f"\n{run.name}: {len(saved.keys):,} problems, {saved.history.visits.height:,} visits, policy {config.policy}")
    print(f"  {'forecast':<46}{'outcome':>9}{'signal':>9}{'decile':>9}{'window, worst':>15}{'mean':>7}")
    measured = problems.select("num_correct", "num_samples").to_numpy().astype(np.float64)
    for name, has_gain in (("uniform prior, constant", False), ("uniform prior, one gain of the pool", True)):
        _line(name, scores(_beta(saved, measured, has_gain=has_gain)))
    for name, settings in CANDIDATES.items():
        found = scores(rescore(saved, problems, config.model_copy(update={"gain_half_life": 30.0, **settings})))
        _line(name, found)
        if name.endswith("(default)"):
            default = found
    print("  share without signal in windows of 10 steps, predicted by the default and seen:")
    print("  " + "  ".join(f"{line.predicted:.2f}/{line.seen:.2f}" for line in default.windows))


def _line(name: str, found: Scores) -> None:
    mean = float(np.mean([abs(line.predicted - line.seen) for line in found.windows]))
    figures = f"{found.log_loss:>9.4f}{found.signal_log_loss:>9.4f}{found.calibration_error:>9.3f}"
    print(f"  {name:<46}{figures}{found.max_gap:>15.3f}{mean:>7.3f}")


def _beta(saved: Saved, measured: Floats, *, has_gain: bool) -> Scored:
    """Beta(1 + s, 1 + f) from discounted counts, its odds moved by one gain per step of age: the earlier forecasts."""
    from scipy.special import betaln, gammaln

    weight = np.minimum(1.0, 8.0 / np.maximum(measured[:, 1], 1.0))
    successes, failures = measured[:, 0] * weight, (measured[:, 1] - measured[:, 0]) * weight
    seen_at, score, information, last = np.zeros(len(measured)), 0.0, 0.0, 0
    parts = []
    for (_, step), batch in saved.history.visits.group_by("draw", "step", maintain_order=True):
        row, k, wrong = (batch[name].to_numpy().astype(np.float64) for name in ("row", "num_correct", "num_wrong"))
        row, k, n = row[k + wrong > 0].astype(np.int64), k[k + wrong > 0], (k + wrong)[k + wrong > 0]
        a, b, age = successes[row] + 1, failures[row] + 1, step - seen_at[row]
        shift = np.clip(score / (information + PRIOR_GAIN**-2) * age, -MAX_SHIFT, MAX_SHIFT) if has_gain else 0.0
        mean = a / (a + b * np.exp(-shift))
        at, bt = (a + b) * mean, (a + b) * (1 - mean)
        chance = gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1) + betaln(at + k, bt + n - k) - betaln(at, bt)
        lost = np.array([zero_variance_rate(at[i : i + 1], bt[i : i + 1], int(n[i]))[0] for i in range(len(n))])
        parts.append(np.array([np.full(len(n), float(step)), mean, lost, chance, k, n]))
        p, left, last = a / (a + b), 0.5 ** ((step - last) / GAIN_HALF_LIFE), step
        trust = 1 / (1 + (n - 1) / (a + b + 1))
        score = left * score + float((trust * (k - n * p) * age).sum())
        information = left * information + float((trust * n * p * (1 - p) * age**2).sum())
        keep = 0.5 ** (1 / HALF_LIFE_VISITS)
        old = (successes[row] + failures[row]) * keep
        seen_at[row] = (seen_at[row] * old + step * n) / (old + n)
        successes[row], failures[row] = successes[row] * keep + k, failures[row] * keep + n - k
    return Scored(*np.concatenate(parts, axis=1))


if __name__ == "__main__":
    main()
