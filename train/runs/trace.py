"""`gradus train trace`: a step's problems with their origin, and its completions with their rewards."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import polars as pl
import typer

from curate.artifacts.trajectory import trajectory_of, turn_by_turn
from curate.config import read_yaml
from curate.errors import UserError
from train.data.problems import read_problems
from train.runs.earlier import in_current_form
from train.runs.folder import CANARY, COMPLETIONS, CONFIG

FIXED = ("step", "key", "text", "num_tokens", "reason", CANARY)
Run = Annotated[Path, typer.Argument(help="Run folder of gradus train grpo.", show_default=False)]
Step = Annotated[int, typer.Argument(help="Optimizer step.", show_default=False)]
Data = Annotated[Path | None, typer.Option("--data", help="Current location of the problems, if they were moved.")]
Width = Annotated[int, typer.Option("--width", help="Characters shown of each completion.")]


def trace(run: Run, step: Step, data: Data = None, width: Width = 100) -> None:
    """List a step's problems, completions and rewards.

    Each problem is listed with its raw row and its answer, each completion with its rewards and reason code.

    Example: gradus train trace runs/grpo 40
    """
    if not (run / CONFIG).is_file():
        raise UserError(f"{run}: holds no {CONFIG}; give the folder that gradus train grpo wrote")
    table = in_current_form(read_yaml(run / CONFIG))
    if (command := table.get("command")) != "grpo":
        raise UserError(f"{run}: is a run of {command}, which has no steps with rewards; give one of gradus train grpo")
    generation = table["config"].get("generation", {})
    per_draw = generation.get("updates", 1) * generation.get("passes", 1)
    written = completions_of(run, step, per_draw)
    problems = read_problems(data or Path(table["data"])).frame
    drawn = f"{written.height} completions of {written['key'].n_unique()} problems, drawn for step {written['step'][0]}"
    typer.echo(f"step {step}: {drawn}")
    for (key,), rows in written.group_by("key", maintain_order=True):
        found = problems.row(by_predicate=pl.col("key") == key, named=True) if key in problems["key"] else {}
        typer.echo("\n".join(described(str(key), found, rows, width)))


def completions_of(run: Path, step: int, per_draw: int = 1) -> pl.DataFrame:
    """Completions that a step was trained on: those of the last draw up to it; a draw serves `per_draw` steps."""
    files = sorted((run / COMPLETIONS).glob("draw-*.parquet"))
    if not files:
        raise UserError(f"{run}: kept no completions; train with --save-completions")
    everything = pl.scan_parquet(files)
    last = everything.select(pl.col("step").max()).collect().item() + per_draw - 1
    if not 1 <= step <= last:
        raise UserError(f"{run}: has no step {step}; it has steps 1 to {last}")
    written = everything.filter(pl.col("step") <= step).collect()
    return written.filter(pl.col("step") == written["step"].max())


def described(key: str, problem: dict[str, Any], rows: pl.DataFrame, width: int) -> list[str]:
    """A problem and its completions as lines for a terminal."""
    asked = " ".join(str(problem.get("prompt", "(no longer in the data)")).split())
    place = f"{problem['source']}#{problem['source_row']}" if problem else "unknown"
    wrong = rows[CANARY][0] if CANARY in rows.columns else None
    answer = problem.get("ground_truth") if wrong is None else f"{wrong}, wrong on purpose: a canary, not learned from"
    lines = [f"{key}  {place}  answer {answer}", f"  {_cut(asked, 2 * width)}"]
    parts = [name for name in rows.columns if name not in FIXED]
    for row in rows.iter_rows(named=True):
        worth = "  ".join(f"{name} {'?' if row[name] is None else format(row[name], '.2f')}" for name in parts)
        told = trajectory_of(row["text"])
        text = " ".join(row["text"].split()) if told is None else told.end
        lines.append(f"    {worth}  {row['num_tokens']} tokens  {row['reason']}: {_cut(text, width)}")
        lines += [f"      {line}" for line in turn_by_turn(told, width)] if told else []
    return lines


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 1] + "…"
