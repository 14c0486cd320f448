"""Figures over seeds, and their place in a page of the docs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from statistics import fmean, stdev


def spread(values: Sequence[float], digits: int = 3) -> str:
    """Mean and standard deviation over seeds."""
    return f"{fmean(values):.{digits}f}" + (f" ± {stdev(values):.{digits}f}" if len(values) > 1 else "")


def interval(values: Sequence[float], digits: int) -> str:
    """Mean with the ends of its 95% t interval."""
    from scipy.stats import t

    mean = fmean(values)
    if len(values) < 2:
        return f"{mean:+.{digits}f}"
    half = float(t.ppf(0.975, len(values) - 1)) * stdev(values) / len(values) ** 0.5
    return f"{mean:+.{digits}f} [{mean - half:+.{digits}f}, {mean + half:+.{digits}f}]"


def insert(path: Path, name: str, text: str) -> None:
    """Put a text between the marks `<!-- NAME -->` and `<!-- /NAME -->` of a Markdown file."""
    start, end = f"<!-- {name} -->\n", f"<!-- /{name} -->"
    before, _, rest = path.read_text(encoding="utf-8").partition(start)
    path.write_text(f"{before}{start}\n{text}\n{end}{rest.partition(end)[2]}", encoding="utf-8")
