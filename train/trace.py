"""`gradus train trace`: what a step was trained on, what the model wrote, what it was worth, where it came from."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Annotated, Any

import polars as pl
import typer

from curate.config import read_yaml
from curate.errors import UserError
from train.problems import read_problems
from train.run_folder import COMPLETIONS, CONFIG

FIXED = ("step", "key", "text", "num_tokens", "reason")
Run = Annotated[Path, typer.Argument(help="Run folder of gradus train grpo.", show_default=False)]
Step = Annotated[int, typer.Argument(help="Optimizer step.", show_default=False)]
Data = Annotated[Path | None, typer.Option("--data", help="Where the problems lie now, if they were moved.")]
Width = Annotated[int, typer.Option("--width", help="Characters shown of each completion.")]


def trace(run: Run, step: Step, data: Data = None, width: Width = 100) -> None:
    """List the problems of a training step, their completions and rewards, and the raw row each came from.

    Example: gradus train trace runs/grpo 40
    """
    if not (run / CONFIG).is_file():
        raise UserError(f"{run}: holds no {CONFIG}; give the folder that gradus train grpo wrote")
    problems = read_problems(data or Path(read_yaml(run / CONFIG)["data"])).frame
    written = completions_of(run, step)
    for (key,), rows in written.group_by("key", maintain_order=True):
        found = problems.row(by_predicate=pl.col("key") == key, named=True) if key in problems["key"] else {}
        typer.echo("\n".join(described(str(key), found, rows, width)))


def completions_of(run: Path, step: int) -> pl.DataFrame:
    """The completions that step `step` was trained on: those of the last generation at or before it."""
    files = sorted((run / COMPLETIONS).glob("draw-*.parquet"))
    if not files:
        raise UserError(f"{run}: kept no completions; train with --save-completions")
    written = pl.scan_parquet(files).filter(pl.col("step") <= step).collect()
    if step < 1 or written.is_empty():
        raise UserError(f"{run}: has no step {step}; it begins at step 1")
    return written.filter(pl.col("step") == written["step"].max())


def described(key: str, problem: dict[str, Any], rows: pl.DataFrame, width: int) -> list[str]:
    """A problem and its completions as lines for a terminal."""
    asked = " ".join(str(problem.get("prompt", "(not in the data any more)")).split())
    place = f"{problem['source']}#{problem['source_row']}" if problem else "unknown"
    lines = [f"{key}  {place}  answer {problem.get('ground_truth')}", f"  {textwrap.shorten(asked, 2 * width)}"]
    parts = [name for name in rows.columns if name not in FIXED]
    for row in rows.iter_rows(named=True):
        worth = "  ".join(f"{name} {'?' if row[name] is None else format(row[name], '.2f')}" for name in parts)
        text = " ".join(row["text"].split())
        lines.append(f"    {worth}  {row['num_tokens']} tokens  {row['reason']}: {textwrap.shorten(text, width)}")
    return lines
