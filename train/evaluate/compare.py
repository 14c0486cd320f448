"""Comparison of two evaluations: paired differences over the same problems, with their uncertainty."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

import polars as pl
import typer

from curate.errors import UserError
from curate.figures import Figures
from train.estimators import Estimate, average, paired_difference, pass_at_k

SAMPLES = "samples.parquet"
Before = Annotated[Path, typer.Argument(help="Folder of the first evaluation.", show_default=False)]
After = Annotated[Path, typer.Argument(help="Folder of the second evaluation.", show_default=False)]


@dataclass(frozen=True)
class Change:
    """A figure of one benchmark before and after, the mean paired difference, and its 95% interval."""

    before: float
    after: float
    difference: Estimate

    @property
    def is_shown(self) -> bool:
        """Whether the interval lies on one side of 0."""
        return self.difference.low > 0 or self.difference.high < 0


@dataclass(frozen=True)
class Comparison:
    """One benchmark in two evaluations, over the problems that both judged.

    pass_1: success rates. pass_k: the chance that one of `k` completions is correct, over the `num_k` problems with
    that many judged completions in both; None where k is 1. gained, lost: shares of these problems that are solved in
    only the second or only the first evaluation, a problem being solved by one correct completion of k.
    """

    num: int
    pass_1: Change
    k: int = 1
    num_k: int = 0
    pass_k: Change | None = None
    gained: Estimate | None = None
    lost: Estimate | None = None


def compare(before: Path, after: Path) -> Iterator[str]:
    """A line per benchmark in both evaluations; with several completions a problem also one for pass@k.

    Raises `UserError` if the evaluations have no problem in common.
    """
    for name, found in comparisons(before, after).items():
        yield f"{name}: {_line(found.pass_1)}  {found.num} problems"
        if found.pass_k and found.gained and found.lost:
            yield f"  pass@{found.k}: {_line(found.pass_k)}  {_meaning(found)}"
            yield (
                f"  newly solved by one of {found.k}: {_share(found.gained, found.num_k)}  "
                f"no longer: {_share(found.lost, found.num_k)}"
            )


def compare_command(before: Before, after: After) -> Figures:
    """Compare two evaluations problem by problem.

    For each benchmark in both, the output is the two success rates, the mean paired difference, and its 95% interval
    from a bootstrap over problems. An interval that contains 0 shows no difference. With several completions a problem
    it also compares pass@k, which says whether training sharpened what the model could do or added to it, and counts
    the problems newly solved and no longer solved.

    Example: gradus train compare eval/before eval/after
    """
    for line in compare(before, after):
        typer.echo(line)
    return {name: asdict(found) for name, found in comparisons(before, after).items()}


def comparisons(before: Path, after: Path) -> dict[str, Comparison]:
    """Each benchmark of both evaluations."""
    keys = ["benchmark", "key"]
    pairs = problem_counts(before).join(problem_counts(after), on=keys, how="inner", suffix="_after")
    if pairs.is_empty():
        raise UserError(f"{before} and {after}: have no problem of a benchmark in common; compare equal benchmarks")
    groups = pairs.sort(keys).group_by("benchmark", maintain_order=True)
    return {str(name): _compared(rows) for (name,), rows in groups}


def problem_counts(folder: Path) -> pl.DataFrame:
    """`benchmark`, `key`, and the completions `judged` and `correct` of every problem with a judged one."""
    path = folder / SAMPLES
    if not path.is_file():
        raise UserError(f"{folder}: holds no {SAMPLES}; give the --out of a finished gradus train evaluate")
    judged = pl.read_parquet(path).filter(pl.col("verdict") != "undecided")
    return judged.group_by("benchmark", "key").agg(judged=pl.len(), correct=(pl.col("verdict") == "correct").sum())


def _compared(rows: pl.DataFrame) -> Comparison:
    pass_1 = _change(rows, 1)
    # an undecided completion costs a problem its place in pass@k, not all problems their k
    k = min(int(rows[name].max()) for name in ("judged", "judged_after"))  # type: ignore[arg-type]
    whole = rows.filter((pl.col("judged") >= k) & (pl.col("judged_after") >= k))
    if k == 1 or whole.is_empty():
        return Comparison(rows.height, pass_1)
    was, now = (solved_in(whole, suffix, k) for suffix in ("", "_after"))
    gained = average([n * (1 - w) for w, n in zip(was, now, strict=True)])
    lost = average([w * (1 - n) for w, n in zip(was, now, strict=True)])
    return Comparison(rows.height, pass_1, k, whole.height, _change(whole, k), gained, lost)


def solved_in(rows: pl.DataFrame, suffix: str, k: int) -> list[float]:
    """pass@k of each problem."""
    counts = rows.select(f"judged{suffix}", f"correct{suffix}").iter_rows()
    return [pass_at_k(judged, correct, k) for judged, correct in counts]


def _change(rows: pl.DataFrame, k: int) -> Change:
    was, now = (solved_in(rows, suffix, k) for suffix in ("", "_after"))
    return Change(sum(was) / len(was), sum(now) / len(now), paired_difference(was, now))


def _line(change: Change) -> str:
    found, verdict = change.difference, "shown" if change.is_shown else "none shown"
    interval = f"[{found.low:+.3f}, {found.high:+.3f}]"
    return f"{change.before:.3f} -> {change.after:.3f}  difference {found.value:+.3f} {interval} ({verdict})"


def _share(found: Estimate, num: int) -> str:
    return f"{found.value:.3f} [{found.low:.3f}, {found.high:.3f}], about {found.value * num:.0f} problems"


def _meaning(found: Comparison) -> str:
    """What both figures together say."""
    if found.pass_k is None:
        return ""
    if found.pass_k.is_shown:
        return "solves more problems" if found.pass_k.difference.value > 0 else "solves fewer problems"
    if found.pass_1.is_shown and found.pass_1.difference.value > 0:
        return "sharpened: oftener right, no rise of pass@k shown"
    return "no change shown in what it can solve"
