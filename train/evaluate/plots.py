"""Plots of an evaluation: success against attempts and thinking budgets, lengths of right and wrong answers."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import polars as pl

RIGHT, WRONG, UNDECIDED = "#228833", "#ee6677", "#bbbbbb"
SERIES: Final = ("#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee", "#aa3377", "#bbbbbb")
MAX_BINS: Final = 30

Axes = Any  # matplotlib ships no types


def plot_scores(results: dict[str, Any], samples: pl.DataFrame, folder: Path) -> Path:  # Any: JSON
    """Write `scores.png` into `folder`: pass@k by benchmark with avg@n's interval, and lengths by verdict."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(12, 4.5), layout="constrained")
    FigureCanvasAgg(figure)
    left, right = figure.subplots(1, 2)
    _reach(left, results)
    _lengths(right, samples)
    folder.mkdir(parents=True, exist_ok=True)
    figure.savefig(folder / "scores.png", dpi=120)
    return folder / "scores.png"


def plot_budgets(sweeps: dict[str, list[dict[str, Any]]], folder: Path) -> Path:  # Any: JSON
    """Write `budgets.png` into `folder`: accuracy against the thinking budget, with no budget as a dashed line."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4.5), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots()
    for place, (name, rows) in enumerate(sweeps.items()):
        _budget_line(axes, name, [row for row in rows if row["average"]], SERIES[place % len(SERIES)])
    axes.set(
        title="Accuracy when reasoning is cut short (bars: 95% intervals)",
        xlabel="thinking budget, tokens",
        ylabel="avg@n",
    )
    axes.set_ylim(0, 1)
    axes.locator_params(axis="x", integer=True)
    if axes.get_legend_handles_labels()[0]:
        axes.legend(frameon=False)
    folder.mkdir(parents=True, exist_ok=True)
    figure.savefig(folder / "budgets.png", dpi=120)
    return folder / "budgets.png"


def _budget_line(axes: Axes, name: str, rows: list[dict[str, Any]], colour: str) -> None:
    cut = [row for row in rows if row["budget"] is not None]
    means = [row["average"] for row in cut]
    ends = [[mean["value"] - mean["low"] for mean in means], [mean["high"] - mean["value"] for mean in means]]
    values = [mean["value"] for mean in means]
    axes.errorbar([row["budget"] for row in cut], values, yerr=ends, fmt="o-", capsize=4, color=colour, label=name)
    for row in rows:
        if row["budget"] is None:
            axes.axhline(row["average"]["value"], color=colour, linestyle="--", label=f"{name}, no budget")


def _reach(axes: Axes, results: dict[str, Any]) -> None:
    for place, (name, figures) in enumerate(results["benchmarks"].items()):
        if not figures["pass_at_k"]:
            continue
        colour = SERIES[place % len(SERIES)]
        attempts = [int(k) for k in figures["pass_at_k"]]
        axes.plot(attempts, list(figures["pass_at_k"].values()), "o-", color=colour, label=name)
        mean = figures["average"]
        ends = [[mean["value"] - mean["low"]], [mean["high"] - mean["value"]]]
        axes.errorbar([1], [mean["value"]], yerr=ends, color=colour, capsize=4, fmt="none")
    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_formatter("{x:.0f}")
    axes.set(
        title="At least one of k attempts right (bar: 95% interval of avg@n)",
        xlabel="attempts k",
        ylabel="share of problems",
    )
    axes.set_ylim(0, 1)
    if axes.get_legend_handles_labels()[0]:
        axes.legend(frameon=False)


def _lengths(axes: Axes, samples: pl.DataFrame) -> None:
    by_verdict = {"correct": RIGHT, "wrong": WRONG, "undecided": UNDECIDED}
    tokens = {verdict: samples.filter(pl.col("verdict") == verdict)["num_tokens"].to_list() for verdict in by_verdict}
    seen = {verdict: values for verdict, values in tokens.items() if values}
    longest = int(samples["num_tokens"].max() or 1)  # type: ignore[arg-type]  # a count
    # bins of equal whole widths, so that no bin is empty for lack of an integer in it
    width = -(-(longest + 1) // MAX_BINS)
    edges = [width * i - 0.5 for i in range(-(-(longest + 1) // width) + 1)]
    if seen:
        colours = [by_verdict[verdict] for verdict in seen]
        labels = [f"{verdict} ({len(values):,})" for verdict, values in seen.items()]
        axes.hist(list(seen.values()), edges, color=colours, label=labels)
        axes.legend(frameon=False)
    for axis in (axes.xaxis, axes.yaxis):
        axis.get_major_locator().set_params(integer=True)
    axes.set(title="Length of the completions", xlabel="tokens", ylabel="completions")
