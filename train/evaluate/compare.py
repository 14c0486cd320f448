"""Comparison of two evaluations: paired differences over the same problems, with their uncertainty."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import polars as pl
import typer

from curate.errors import UserError
from train.estimators import Estimate, paired_difference

SAMPLES = "samples.parquet"
Before = Annotated[Path, typer.Argument(help="Folder of the first evaluation.", show_default=False)]
After = Annotated[Path, typer.Argument(help="Folder of the second evaluation.", show_default=False)]


def compare(before: Before, after: After) -> None:
    """Compare two evaluations problem by problem.

    For each benchmark in both, the output is the two success rates, the mean paired difference, and its 95% interval
    from a bootstrap over problems. An interval that contains 0 shows no difference.

    Example: gradus train compare eval/before eval/after
    """
    for name, (first, second, difference, num) in differences(before, after).items():
        verdict = "shown" if difference.low > 0 or difference.high < 0 else "none shown"
        typer.echo(
            f"{name}: {first:.3f} -> {second:.3f}  difference {difference.value:+.3f} "
            f"[{difference.low:+.3f}, {difference.high:+.3f}] ({verdict})  {num} problems"
        )


def differences(before: Path, after: Path) -> dict[str, tuple[float, float, Estimate, int]]:
    """Per benchmark: both rates, the paired difference, and the number of problems that both judged."""
    pairs = problem_rates(before).join(problem_rates(after), on=["benchmark", "key"], how="inner", suffix="_after")
    if pairs.is_empty():
        raise UserError(f"{before} and {after}: have no problem of a benchmark in common; compare equal benchmarks")
    found = {}
    for (name,), rows in pairs.sort("benchmark", "key").group_by("benchmark", maintain_order=True):
        first, second = rows["rate"].to_list(), rows["rate_after"].to_list()
        means: Any = rows.select(pl.col("rate", "rate_after").mean()).row(0)
        found[str(name)] = (means[0], means[1], paired_difference(first, second), rows.height)
    return found


def problem_rates(folder: Path) -> pl.DataFrame:
    """`benchmark`, `key` and success `rate` of every problem with a judged completion."""
    path = folder / SAMPLES
    if not path.is_file():
        raise UserError(f"{folder}: holds no {SAMPLES}; give the --out of a finished gradus train evaluate")
    judged = pl.read_parquet(path).filter(pl.col("verdict") != "undecided")
    return judged.group_by("benchmark", "key").agg(rate=(pl.col("verdict") == "correct").mean())
