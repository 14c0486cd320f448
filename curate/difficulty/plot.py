"""The histogram of pass rates: `plots/pass_rate.png` of the difficulty stage, `plots/difficulty.png` of a card.

Problems with all K samples have a bar for each number of correct ones. Those whose sampling stopped early, because
their decision was final, stand apart by decision: a rate of two samples (0, 0.5 or 1) says little about a problem.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from curate.artifacts.folder import Scan

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLUMNS: Final = ("pass_rate", "num_samples")
KEPT: Final = "#2f6f8f"
DROPPED: Final = "#c9d1d9"
INK: Final = "#1f2933"
# with more samples than this a bar for each number of correct ones is too narrow to read
MAX_BARS: Final = 16
# 0 and 1 have bars of their own: a problem that is never or always solved teaches nothing
RATE_EDGES: Final = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
RATE_LABELS: Final = ("0", *(f"≤{edge:.1f}" for edge in RATE_EDGES), "<1", "1")


def histogram(scan: Scan, *, k: int | None, model: str) -> dict[str, bytes]:
    """The figure of an artifact's parts as PNG bytes by file name; see `figure`."""
    import io

    kept = scan("kept").select(COLUMNS).collect()
    dropped = scan("dropped").select(*COLUMNS, "drop_reason").collect()
    buffer = io.BytesIO()
    # no software version in the file: equal rows give equal bytes
    figure(kept, dropped, k, model).savefig(buffer, format="png", dpi=120, metadata={"Software": None})
    return {"pass_rate.png": buffer.getvalue()}


def figure(kept: pl.DataFrame, dropped: pl.DataFrame, k: int | None, model: str) -> Figure:
    """Problems by pass rate, kept and dropped, as measured with `model`; problems without a judged sample are left out.

    kept, dropped: frames with `COLUMNS`, dropped also with `drop_reason`. k: samples of a problem that did not stop
    early; None where no such number exists.
    """
    from matplotlib.figure import Figure as Drawn  # without pyplot: no global state, no display

    kept = kept.select(COLUMNS).drop_nulls()
    dropped = dropped.select(*COLUMNS, pl.col("drop_reason").fill_null("dropped")).drop_nulls()
    early = by_decision(kept, dropped, k)
    num_bars = len(bars(kept["pass_rate"], k))
    drawn = Drawn(figsize=(8.4, 3.4), layout="constrained")
    if early:
        axes, apart = drawn.subplots(1, 2, sharey=True, width_ratios=(num_bars, len(early) + 0.5))
        _draw_early(apart, early)
    else:
        axes = drawn.subplots()
    _draw_full(axes, _full(kept, k), _full(dropped, k), k)
    axes.set_ylabel("problems")
    # matplotlib ends the axis at the top of a bar that another, empty one stands on
    full = bars(pl.concat([_full(kept, k), _full(dropped, k)]), k)
    axes.set_ylim(0, 1.05 * max(1, *full.values(), *early.values()))
    for each in drawn.axes:
        each.spines[["top", "right"]].set_visible(False)
        each.tick_params(labelsize=9, colors=INK)
    num_samples = pl.concat([kept["num_samples"], dropped["num_samples"]])
    mean = num_samples.sum() / max(num_samples.len(), 1)
    drawn.suptitle(
        f"Difficulty for {model}, {mean:.1f} samples each on average",
        x=0.01, ha="left", fontsize=10, color=INK, parse_math=False,  # a model name such as $x$ is not a formula
    )  # fmt: skip
    handles, labels = axes.get_legend_handles_labels()
    counts = {"kept": kept.height, "dropped": dropped.height}
    axes.legend(handles, [f"{label} ({counts[label]:,})" for label in labels], frameon=False, fontsize=9)
    return drawn


def by_decision(kept: pl.DataFrame, dropped: pl.DataFrame, k: int | None) -> dict[str, int]:
    """Problems with fewer than `k` samples, by decision: `kept`, or why they were dropped."""
    if k is None:
        return {}
    reasons = dropped.filter(pl.col("num_samples") < k)["drop_reason"].value_counts().sort("drop_reason").iter_rows()
    found = {"kept": kept.filter(pl.col("num_samples") < k).height, **dict(reasons)}
    return {name: num for name, num in found.items() if num}


def bars(rates: pl.Series, k: int | None) -> dict[str, int]:
    """Problems per bar: one for each number of correct samples of `k`; else exactly 0, ten bins between, exactly 1."""
    rates = rates.drop_nulls()
    if k is not None and k <= MAX_BARS:
        num_correct = (rates * k).round().cast(pl.Int64)
        return {str(num): int((num_correct == num).sum()) for num in range(k + 1)}
    inner = rates.filter((rates > 0) & (rates < 1))
    bins = [int(((inner > low) & (inner <= high)).sum()) for low, high in pairwise([0.0, *RATE_EDGES, 1.0])]
    return dict(zip(RATE_LABELS, [int((rates == 0).sum()), *bins, int((rates == 1).sum())], strict=True))


def _full(rows: pl.DataFrame, k: int | None) -> pl.Series:
    """Pass rates of the problems whose sampling did not stop early."""
    return rows["pass_rate"] if k is None else rows.filter(pl.col("num_samples") >= k)["pass_rate"]


def _draw_full(axes: Any, kept: pl.Series, dropped: pl.Series, k: int | None) -> None:  # Any: matplotlib's Axes
    num_kept, num_dropped = bars(kept, k), bars(dropped, k)
    places = range(len(num_kept))
    axes.bar(places, num_kept.values(), color=KEPT, width=0.8, label="kept")
    axes.bar(places, num_dropped.values(), bottom=list(num_kept.values()), color=DROPPED, width=0.8, label="dropped")
    axes.set_xticks(places, num_kept)
    counted = k is not None and k <= MAX_BARS
    axes.set_xlabel(f"correct of {k} samples" if counted else "share of judged samples that were correct")


def _draw_early(axes: Any, early: dict[str, int]) -> None:
    colors = [KEPT if name == "kept" else DROPPED for name in early]
    places = range(len(early))
    axes.bar(places, early.values(), color=colors, width=0.8, hatch="//", edgecolor="white")
    axes.set_xticks(places, [name.replace("_", "\n") for name in early])
    axes.set_xlabel("stopped early")
