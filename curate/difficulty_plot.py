"""The histogram of pass rates that the difficulty stage leaves in `plots/pass_rate.png`."""

from __future__ import annotations

import io
from typing import Any, Final

import polars as pl

from curate.out_folder import Scan

NUM_BINS: Final = 20
KEPT, DROPPED = "#2a6f97", "#c9ada7"


def histogram(scan: Scan) -> dict[str, bytes]:
    """Problems by pass rate, kept and dropped stacked, as PNG bytes by file name."""
    from matplotlib.figure import Figure

    rates = {part: scan(part).select("pass_rate").drop_nulls().collect()["pass_rate"] for part in ("kept", "dropped")}
    figure = Figure(figsize=(7, 3.6), dpi=120, layout="constrained")
    axes = figure.subplots()
    axes.hist(
        [rates["kept"].to_list(), rates["dropped"].to_list()],
        bins=NUM_BINS,
        range=(0, 1),
        stacked=True,
        color=[KEPT, DROPPED],
        label=[f"kept ({rates['kept'].len():,})", f"dropped ({rates['dropped'].len():,})"],
    )
    _label(axes, pl.concat(list(rates.values())))
    buffer = io.BytesIO()
    # no software version in the file: equal rows give equal bytes
    figure.savefig(buffer, format="png", metadata={"Software": None})
    return {"pass_rate.png": buffer.getvalue()}


def _label(axes: Any, rates: pl.Series) -> None:  # Any: matplotlib is not typed here
    mean = f" (mean {rates.sum() / rates.len():.2f})" if rates.len() else ""
    axes.set_title(f"Pass rate of the model, by problem{mean}")
    axes.set_xlabel("share of judged samples that were correct")
    axes.set_ylabel("problems")
    axes.set_xlim(0, 1)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False)
