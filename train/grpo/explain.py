"""`gradus train explain`: formula, normalisation and bias of an objective."""

from __future__ import annotations

import textwrap
from typing import Annotated

import typer

from train.grpo.objectives import OBJECTIVES, Objective, objective_named

WIDTH = 100
# of every objective: TRL's `vllm_importance_sampling_mode`, applied to our losses as well
WITH_VLLM = (
    "the term of each token is multiplied by w_i = pi_old(o_i) / pi_vllm(o_i), one weight for a whole completion, and "
    "a completion with w_i > 3 is left out; no gradient flows through w. This makes an expectation over vLLM's "
    "samples one over the trainer's policy: truncated importance sampling (Ionides 2008), with a mask in place "
    "of the truncation. --trl '{vllm_importance_sampling_mode: ...}' has it per token, or truncated at 3."
)
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
    where = settings if row.loss == "trl" else f"{settings}; the loss is train.grpo.loss.losses.{row.loss}_loss"
    parts = {
        "from": row.paper,
        "maximises": row.equation,
        "divides by": row.normalises,
        "favours": row.biases,
        "in TRL": where,
        "with vLLM": WITH_VLLM,
    }
    return "\n".join([name, *(_paragraph(label, text) for label, text in parts.items())])


def _paragraph(label: str, text: str) -> str:
    indent = " " * 14
    return textwrap.fill(text, WIDTH, initial_indent=f"  {label:<12}", subsequent_indent=indent)
