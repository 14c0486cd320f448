"""Plots of the card: the difficulty histogram and completion lengths (the funnel plot is curate's).

Each function returns one matplotlib figure; `save` writes it as a PNG whose bytes depend only on the figure.
"""

from __future__ import annotations

import io
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Final

import polars as pl

from curate.artifacts.manifest import write_atomic

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

KEPT: Final = "#2f6f8f"
DROPPED: Final = "#c9d1d9"
WRONG: Final = "#c8553d"
INK: Final = "#1f2933"
# 0 and 1 have bars of their own: a problem that is never or always solved teaches nothing
RATE_EDGES: Final = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
RATE_LABELS: Final = ("0", *(f"≤{edge:.1f}" for edge in RATE_EDGES), "<1", "1")
TOKEN_BINS: Final = 40


def difficulty(kept: pl.DataFrame, dropped: pl.DataFrame, model: str) -> Figure:
    """Histogram of `pass_rate`, kept and dropped, as measured with `model`.

    Rates of few samples are coarse (1 of 2 correct is 0.5), so the title gives the mean of `num_samples`.
    """
    figure, axes = _figure(height=3.2)
    num_kept, num_dropped = rate_counts(kept["pass_rate"]), rate_counts(dropped["pass_rate"])
    places = range(len(RATE_LABELS))
    axes.bar(places, num_kept, color=KEPT, width=0.8, label=f"kept ({kept.height:,})")
    axes.bar(places, num_dropped, bottom=num_kept, color=DROPPED, width=0.8, label=f"dropped ({dropped.height:,})")
    axes.set_xticks(places, RATE_LABELS)
    axes.set_xlabel("pass rate")
    axes.set_ylabel("problems")
    # a model name such as $x$ is not a formula
    num_samples = pl.concat([kept["num_samples"], dropped["num_samples"]])
    each = f"{num_samples.sum() / max(num_samples.len(), 1):.1f} samples each on average"
    axes.set_title(f"Difficulty for {model}, {each}", loc="left", fontsize=10, color=INK, parse_math=False)
    axes.legend(frameon=False, fontsize=9)
    return figure


def lengths(samples: pl.DataFrame, stage: str) -> Figure:
    """Histogram of a stage's completion lengths in tokens, correct and wrong, up to the 99th percentile."""
    figure, axes = _figure(height=3.2)
    longest = int(samples["num_tokens"].quantile(0.99) or 0)
    width = longest // TOKEN_BINS + 1
    edges = list(range(0, longest + width + 1, width))  # whole tokens: a fractional width would leave bins empty
    for verdict, color in (("correct", KEPT), ("wrong", WRONG)):
        tokens = samples.filter(pl.col("verdict") == verdict)["num_tokens"].clip(upper_bound=longest)
        if tokens.len():
            label = f"{verdict} ({tokens.len():,}, median {tokens.sort()[tokens.len() // 2]:,})"
            axes.hist(tokens.to_list(), bins=edges, histtype="step", lw=1.8, color=color, label=label)
    axes.set_xlabel("tokens of a completion")
    axes.set_ylabel("completions")
    axes.set_title(f"Lengths of the completions that {stage} sampled", loc="left", fontsize=10, color=INK)
    if axes.get_legend_handles_labels()[0]:
        axes.legend(frameon=False, fontsize=9)
    return figure


def rate_counts(rates: pl.Series) -> list[int]:
    """Problems per bar of the difficulty histogram: exactly 0, ten bins between, exactly 1."""
    rates = rates.drop_nulls()
    inner = rates.filter((rates > 0) & (rates < 1))
    edges = [0.0, *RATE_EDGES, 1.0]
    bins = [int(((inner > low) & (inner <= high)).sum()) for low, high in pairwise(edges)]
    return [int((rates == 0).sum()), *bins, int((rates == 1).sum())]


def png(figure: Figure) -> bytes:
    """The figure as PNG; equal figures give equal bytes."""
    buffer = io.BytesIO()
    # without the Software entry the bytes do not name the matplotlib version
    figure.savefig(buffer, format="png", dpi=120, metadata={"Software": None})
    return buffer.getvalue()


def save(figure: Figure, path: Path) -> None:
    """Write the figure as a PNG file, atomically."""
    write_atomic(path, png(figure))


def _figure(height: float) -> tuple[Figure, Axes]:
    # a Figure without pyplot: no global state, no display
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8.4, height), layout="constrained")
    axes = figure.subplots()
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    axes.tick_params(labelsize=9, colors=INK)
    return figure, axes
