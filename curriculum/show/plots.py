"""Plot of a curriculum: pools, success rates, zero-variance share and moves over training steps."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import polars as pl

from curate.errors import UserError
from curriculum.state.files import Saved, newest, read
from curriculum.statistics.parts import rates, summed
from curriculum.statistics.stats import STATUSES

COLOURS: Final = dict(zip(STATUSES, ("#4477aa", "#228833", "#ccbb44", "#ee6677", "#bbbbbb", "#66ccee"), strict=True))
MOVES: Final = {"retired": "#228833", "reopened": "#aa3377", "parked": "#ccbb44", "returned": "#4477aa"}
RARE: Final = {"quarantined": "#ee6677", "outage": "#000000", "alarm": "#aa3377"}
PARTS: Final = ("#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee", "#aa3377", "#bbbbbb")
SMOOTHED_BATCHES: Final = 10

Axes = Any  # matplotlib ships no types


def plot(run: Path, out: Path | None = None) -> Path:
    """Plot a run's curriculum as a PNG, `RUN/curriculum.png` by default; returns its path."""
    saved = read(newest(run))
    batches = saved.history.batches_frame()
    if not batches.height:
        raise UserError(f"{saved.folder}: no batch was observed yet, so there is nothing to draw")
    target = out or run / "curriculum.png"
    parts = [line.get("parts") or [] for line in saved.history.batches]
    title = f"Curriculum of {run.resolve().name}, step {saved.clock['step']}"
    figure, axes = canvas(title, num_rows=3 if any(parts) else 2)
    _occupancy(axes[0, 0], batches)
    _rates(axes[0, 1], batches)
    _variance(axes[1, 0], batches)
    _moves(axes[1, 1], saved)
    if any(parts):
        _parts(axes[2], batches["step"].to_numpy(), parts)
    target.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(target, dpi=120)
    return target


def canvas(title: str, num_rows: int = 2) -> tuple[Any, Axes]:
    """A figure with a title, and its axes in rows of two."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    # no pyplot: it keeps global state and selects a window system
    figure = Figure(figsize=(12, 4 * num_rows), layout="constrained")
    FigureCanvasAgg(figure)
    figure.suptitle(title)
    return figure, figure.subplots(num_rows, 2)


def _parts(axes: Axes, steps: npt.NDArray[np.int64], batches: list[list[dict[str, Any]]]) -> None:
    """Shares of the slots and success rates by part, over the last batches."""
    names = sorted({one["part"] for batch in batches for one in batch})
    slots = np.zeros((len(names), len(batches)))
    rate = np.full((len(names), len(batches)), np.nan)
    for at in range(len(batches)):
        for one in summed(batches[max(0, at + 1 - SMOOTHED_BATCHES) : at + 1]):
            place = names.index(one["part"])
            slots[place, at] = one["slots"]
            rate[place, at] = rates(one).get("rate", np.nan)
    colours = [PARTS[place % len(PARTS)] for place in range(len(names))]
    axes[0].stackplot(steps, slots / slots.sum(axis=0), labels=names, colors=colours)
    axes[0].set(title="Slots by part", xlabel="step", ylabel="share of slots", ylim=(0, 1))
    axes[0].margins(x=0)
    axes[0].legend(loc="lower left")
    for name, line, colour in zip(names, rate, colours, strict=True):
        axes[1].plot(steps, line, color=colour, label=name)
    title = f"Success rate by part, last {SMOOTHED_BATCHES} batches"
    axes[1].set(title=title, xlabel="step", ylabel="success rate", ylim=(0, 1))
    axes[1].legend()


def _occupancy(axes: Axes, batches: pl.DataFrame) -> None:
    names = [name for name in STATUSES if batches[name].max()]
    axes.stackplot(
        batches["step"],
        *(batches[name] for name in names),
        labels=[name.replace("_", " ") for name in names],
        colors=[COLOURS[name] for name in names],
    )
    axes.set(title="Where the problems stand", xlabel="step", ylabel="problems")
    axes.margins(0)
    axes.legend(loc="lower left")


def _rates(axes: Axes, batches: pl.DataFrame) -> None:
    histogram = np.array(batches["rate_histogram"].to_list(), np.float64)
    share = histogram / histogram.sum(axis=1, keepdims=True)
    edges = np.linspace(0, 1, share.shape[1] + 1)
    steps = batches["step"].to_numpy()
    # a mesh needs the right edge of its last column
    mesh = axes.pcolormesh(np.append(steps, steps[-1] + 1), edges, share.T, cmap="viridis", vmin=0)
    axes.figure.colorbar(mesh, ax=axes, label="share of problems")
    axes.set(title="Estimated success rates", xlabel="step", ylabel="success rate")


def _variance(axes: Axes, batches: pl.DataFrame) -> None:
    for name, label, colour in (
        ("zero_variance", "seen", "#ee6677"),
        ("predicted_zero_variance", "predicted", "#4477aa"),
    ):
        known = batches.select("step", name).drop_nulls()
        axes.plot(known["step"], known[name], ".", color=colour, alpha=0.25)
        smooth = known[name].rolling_mean(SMOOTHED_BATCHES, min_samples=1)
        axes.plot(known["step"], smooth, color=colour, label=f"{label}, mean of {SMOOTHED_BATCHES} batches")
    axes.set(title="Groups without a gradient", xlabel="step", ylabel="share of groups", ylim=(0, 1))
    axes.legend()


def _moves(axes: Axes, saved: Saved) -> None:
    last = max(saved.clock["step"], 1)
    for name, colour in MOVES.items():
        steps = sorted(event["step"] for event in saved.history.events if event["event"] == name)
        axes.step([0, *steps, last], [*range(len(steps) + 1), len(steps)], where="post", color=colour, label=name)
    for name, colour in RARE.items():
        steps = sorted({event["step"] for event in saved.history.events if event["event"] == name})
        if steps:
            axes.plot(steps, np.zeros(len(steps)), "|", markersize=16, color=colour, label=name, clip_on=False)
    axes.set(title="Moves between the pools, total so far", xlabel="step", ylabel="events", xlim=(0, last))
    axes.set_ylim(bottom=0)
    axes.legend(loc="upper left")
