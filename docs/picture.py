"""Draws docs/gradus.png from a finished demo: the funnel and the curriculum, side by side.

`make demo && python docs/picture.py` writes it; `--demo FOLDER` reads another run of the demo.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

ROOT: Final = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))  # the checkout's own rooms, whatever is installed

from curate.artifacts.funnel import Step, chain_in, steps_of  # noqa: E402
from curriculum.forecast.figures import RATE_BINS  # noqa: E402
from curriculum.state.files import newest, read  # noqa: E402

PICTURE: Final = ROOT / "docs" / "gradus.png"
INK, MUTED = "#1f2933", "#52606d"
# Okabe and Ito's blue and vermilion, and four steps of cividis: apart for every common kind of colour vision
KEPT, DROPPED = "#0072b2", "#d55e00"
# name, first and last bin of the rates, colours of the area and of its label, and where in the area the label is
BANDS: Final = (
    ("below 50%", 0, 5, "#00224e", "white", (0.13, 0.18)),
    ("50 to 70%", 5, 7, "#575c6d", "white", (0.25, 0.5)),
    ("70 to 90%", 7, 9, "#bcb06c", INK, (0.58, 0.5)),
    ("above 90%", 9, RATE_BINS, "#fee838", INK, (0.88, 0.5)),
)
SMOOTHED_BATCHES: Final = 10
NUM_REASONS: Final = 2

Axes = Any  # matplotlib ships no types


def draw(demo: Path, target: Path) -> None:
    """Both halves into one PNG of 1,800 by 750 pixels."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(12, 5), layout="constrained")
    FigureCanvasAgg(figure)
    left, right = figure.subplots(1, 2, gridspec_kw={"wspace": 0.06})
    funnel(left, steps_of(demo / "curated", chain_in(demo / "curated")))
    curriculum(right, demo / "grpo")
    # no software version in the file: equal runs give equal bytes
    figure.savefig(target, dpi=150, metadata={"Software": None})


def funnel(axes: Axes, steps: Sequence[Step]) -> None:
    """A bar a stage: kept rows, then dropped ones, with the most frequent reasons below."""
    total = steps[0].num_in
    for row, step in enumerate(steps):
        num_dropped = step.num_in - step.num_kept
        axes.barh(row, step.num_kept, color=KEPT, height=0.5)
        axes.barh(row, num_dropped, left=step.num_kept, color=DROPPED, height=0.5)
        axes.text(0.015 * total, row, f"{step.num_kept:,} kept", color="white", va="center", fontsize=13, weight="bold")
        reasons = ", ".join(reason.replace("_", " ").removesuffix(" of") for reason, _ in step.reasons[:NUM_REASONS])
        axes.text(0.0, row + 0.42, f"{num_dropped:,} dropped: {reasons}", color=MUTED, va="center", fontsize=10.5)
    axes.set_yticks(range(len(steps)), [step.stage for step in steps], fontsize=13, color=INK)
    axes.set(ylim=(len(steps) - 0.35, -0.45), xlim=(0, total))
    axes.set_title("Curate: one raw pool, stage by stage", fontsize=15, color=INK, loc="left", pad=12)
    axes.set_xlabel("problems", fontsize=12, color=INK)
    clean(axes)


def curriculum(axes: Axes, run: Path) -> None:
    """The problems by estimated success rate over the steps, and how many are retired."""
    batches = read(newest(run)).history.batches_frame()
    steps, counts = batches["step"].to_numpy(), np.array(batches["rate_histogram"].to_list())
    parts = [smooth(counts[:, first:last].sum(axis=1)) for _, first, last, *_ in BANDS]
    axes.stackplot(steps, *parts, colors=[band[3] for band in BANDS], edgecolor="white", linewidth=0.8)
    tops = np.cumsum(parts, axis=0)
    for (name, *_, colour, (across, up)), part, top in zip(BANDS, parts, tops, strict=True):
        place = int(across * len(steps))
        height = top[place] - (1 - up) * part[place]
        axes.text(steps[place], height, name, color=colour, fontsize=13, weight="bold", ha="center", va="center")
    axes.plot(steps, batches["retired"], color=DROPPED, linewidth=4)
    num_retired = batches["retired"][-1]
    label = {"color": "white", "fontsize": 12, "weight": "bold", "bbox": {"color": DROPPED, "pad": 2}}
    axes.text(steps[-1] - 1, num_retired + 22, f"{num_retired} retired as mastered", ha="right", **label)
    axes.set(xlim=(steps[0], steps[-1]), ylim=(0, counts[0].sum()))
    axes.set_title("Train: estimated success rate of each problem", fontsize=15, color=INK, loc="left", pad=12)
    axes.set_xlabel("GRPO step", fontsize=12, color=INK)
    axes.set_ylabel("problems", fontsize=12, color=INK)
    clean(axes)


def smooth(counts: np.ndarray) -> np.ndarray:
    """The mean over the last batches at each batch."""
    sums = np.cumsum(np.insert(counts.astype(float), 0, 0.0))
    ends = np.arange(1, len(counts) + 1)
    starts = np.maximum(ends - SMOOTHED_BATCHES, 0)
    means: np.ndarray = (sums[ends] - sums[starts]) / (ends - starts)
    return means


def clean(axes: Axes) -> None:
    """No frame, muted ticks, thousands with a comma."""
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.tick_params(axis="y", length=0)
    axes.tick_params(axis="x", labelsize=11, colors=MUTED)
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--demo", type=Path, default=ROOT / "demo" / "run", help="what `make demo` left")
    parser.add_argument("--out", type=Path, default=PICTURE, help="PNG to write")
    given = parser.parse_args()
    draw(given.demo, given.out)
