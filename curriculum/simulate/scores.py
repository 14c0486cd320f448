"""Scores of forecasts against the outcomes of the next visits: log losses, windows of steps, calibration by decile."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from curriculum.statistics.visits import Floats

WINDOW: Final = 10  # steps
DECILES: Final = 10


@dataclass(frozen=True)
class Decile:
    """Groups whose forecast success rate is in one tenth of [0, 1]: their number, mean forecast and mean outcome."""

    lower: float
    num_groups: int
    predicted: float | None
    seen: float | None


@dataclass(frozen=True)
class Window:
    """Steps `first` to `last`: number of groups, predicted and seen share without a signal."""

    first: int
    last: int
    num_groups: int
    predicted: float
    seen: float


@dataclass(frozen=True)
class Scores:
    """How well forecasts predicted the next visits; both log losses are in nats per group, lower is better."""

    num_groups: int
    log_loss: float  # of the number of correct completions
    signal_log_loss: float  # of whether the group has a signal
    calibration_error: float  # mean distance of forecast and outcome, by decile
    max_gap: float  # largest distance of predicted and seen share without a signal in a window
    windows: list[Window]
    deciles: list[Decile]


@dataclass(frozen=True)
class Scored:
    """Groups in order: step, mean forecast rate, predicted loss of signal, log P(outcome), correct and judged."""

    step: Floats
    rate: Floats
    no_signal: Floats
    log_chance: Floats
    correct: Floats
    judged: Floats


def scores(groups: Scored) -> Scores:
    """The figures over all groups."""
    is_lost = (groups.correct == 0) | (groups.correct == groups.judged)
    outcome, certain = groups.correct / groups.judged, np.clip(groups.no_signal, 1e-9, 1 - 1e-9)
    windows, deciles = list(_windows(groups, is_lost)), list(_deciles(groups, outcome))
    gaps = [abs(line.predicted - line.seen) for line in windows]
    errors = [line.num_groups * abs((line.predicted or 0) - (line.seen or 0)) for line in deciles]
    return Scores(
        len(outcome),
        float(-groups.log_chance.mean()),
        float(-np.where(is_lost, np.log(certain), np.log1p(-certain)).mean()),
        sum(errors) / len(outcome),
        max(gaps),
        windows,
        deciles,
    )


def _windows(groups: Scored, is_lost: npt.NDArray[np.bool_]) -> Iterator[Window]:
    first = int(groups.step.min())
    number = ((groups.step - first) // WINDOW).astype(np.int64)
    for i in np.unique(number):
        here, start = number == i, first + WINDOW * int(i)
        last = min(start + WINDOW - 1, int(groups.step.max()))
        yield Window(start, last, int(here.sum()), float(groups.no_signal[here].mean()), float(is_lost[here].mean()))


def _deciles(groups: Scored, outcome: Floats) -> Iterator[Decile]:
    number = np.minimum((groups.rate * DECILES).astype(np.int64), DECILES - 1)
    for i in range(DECILES):
        here = number == i
        means = (float(groups.rate[here].mean()), float(outcome[here].mean())) if here.any() else (None, None)
        yield Decile(i / DECILES, int(here.sum()), *means)


def table(found: Scores) -> str:
    """The scores as text."""
    losses = f"{found.log_loss:.4f}, of the signal {found.signal_log_loss:.4f} nats per group"
    lines = [
        f"{found.num_groups:,} groups; log loss of the outcome {losses}",
        f"  {'steps':>12}{'groups':>8}  share without signal: predicted, seen, difference",
    ]
    for line in found.windows:
        gap = f"{line.predicted:>9.3f}{line.seen:>8.3f}{line.predicted - line.seen:>+8.3f}"
        lines.append(f"  {f'{line.first}-{line.last}':>12}{line.num_groups:>8}  {gap}")
    lines.append(f"  {'forecast':>12}{'groups':>8}  success rate: predicted, seen, difference")
    for decile in found.deciles:
        if decile.predicted is not None and decile.seen is not None:
            gap = f"{decile.predicted:>9.3f}{decile.seen:>8.3f}{decile.predicted - decile.seen:>+8.3f}"
            lines.append(f"  {f'{decile.lower:.1f}-{decile.lower + 0.1:.1f}':>12}{decile.num_groups:>8}  {gap}")
    lines.append(f"largest difference in a window {found.max_gap:.3f}, mean by decile {found.calibration_error:.3f}")
    return "\n".join(lines)
