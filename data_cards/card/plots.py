"""The card's plot of completion lengths; its funnel and its histogram of pass rates are curate's.

`save` writes a figure as a PNG whose bytes depend only on the figure.
"""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING, Final

import polars as pl

from curate.artifacts.manifest import write_atomic
from curate.difficulty.plot import INK, KEPT

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WRONG: Final = "#c8553d"
TOKEN_BINS: Final = 40


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
