"""The histogram of pass rates, which the difficulty stage writes to `plots/pass_rate.png`."""

from __future__ import annotations

import io
from typing import Any, Final

import polars as pl

from curate.artifacts.folder import Scan

MAX_BINS: Final = 20
KEPT, DROPPED = "#2a6f97", "#c9ada7"


def histogram(scan: Scan) -> dict[str, bytes]:
    """Problems by pass rate, kept and dropped stacked, as PNG bytes by file name."""
    from matplotlib.figure import Figure

    rows = {part: scan(part).select("pass_rate", "num_samples").collect().drop_nulls() for part in ("kept", "dropped")}
    rates = {part: frame["pass_rate"] for part, frame in rows.items()}
    # a bin around each rate that K samples can have
    num_samples = pl.concat(list(rows.values()))["num_samples"]
    steps = num_steps(num_samples)
    figure = Figure(figsize=(7, 3.6), dpi=120)
    axes = figure.add_axes((0.1, 0.14, 0.87, 0.76))
    axes.hist(
        [rates["kept"].to_list(), rates["dropped"].to_list()],
        bins=steps + 1,
        range=(-0.5 / steps, 1 + 0.5 / steps),
        rwidth=0.9,
        stacked=True,
        color=[KEPT, DROPPED],
        label=[f"kept ({rates['kept'].len():,})", f"dropped ({rates['dropped'].len():,})"],
    )
    _label(axes, pl.concat(list(rates.values())), num_samples)
    buffer = io.BytesIO()
    # no software version in the file: equal rows give equal bytes
    figure.savefig(buffer, format="png", metadata={"Software": None})
    return {"pass_rate.png": buffer.getvalue()}


def num_steps(num_samples: pl.Series) -> int:
    """Number of steps between 0 and 1 for rates of this many samples, up to what a reader can distinguish."""
    return min(MAX_BINS, max([1, *(int(num) for num in num_samples)]))


def _label(axes: Any, rates: pl.Series, num_samples: pl.Series) -> None:  # Any: matplotlib is not typed here
    num = max(rates.len(), 1)
    # rates of a few samples are coarse: state their number
    means = f"mean {rates.sum() / num:.2f}, {num_samples.sum() / num:.1f} samples each"
    axes.set_title(f"Pass rate of the model, by problem ({means})")
    axes.set_xlabel("share of judged samples that were correct")
    axes.set_ylabel("problems")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False)
