"""`gradus train explain`: formula, normalisation and bias of an objective."""

from __future__ import annotations

import textwrap
from typing import Annotated

import typer

from train.grpo.objectives import OBJECTIVES, Objective, objective_named

WIDTH = 100
Name = Annotated[str | None, typer.Option("--objective", help="Name of an objective; by default all are shown.")]


def explain(objective: Name = None) -> None:
    """Explain what an objective computes and favours.

    Example: gradus train explain --objective grpo
    """
    chosen = OBJECTIVES if objective is None else {objective: objective_named(objective)}
    typer.echo("\n\n".join(described(name, row) for name, row in chosen.items()))


def described(name: str, row: Objective) -> str:
    """A row of the table as text for a terminal."""
    settings = ", ".join(f"{field}={value}" for field, value in row.settings.items())
    where = settings if row.loss == "trl" else f"{settings}; the loss is train.grpo.losses.{row.loss}_loss"
    parts = {
        "from": row.paper,
        "maximises": row.equation,
        "divides by": row.normalises,
        "favours": row.biases,
        "in TRL": where,
    }
    return "\n".join([name, *(_paragraph(label, text) for label, text in parts.items())])


def _paragraph(label: str, text: str) -> str:
    indent = " " * 14
    return textwrap.fill(text, WIDTH, initial_indent=f"  {label:<12}", subsequent_indent=indent)
