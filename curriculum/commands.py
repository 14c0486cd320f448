"""The commands of the curriculum room: look at a run's curriculum, or try settings before spending GPU time."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from curriculum.explain import explain as explain_problem
from curriculum.plots import plot as plot_run
from curriculum.status import status as run_status

Run = Annotated[
    Path, typer.Argument(help="Run folder of gradus train grpo, or one of its checkpoints.", show_default=False)
]
Key = Annotated[str, typer.Argument(help="The problem's key, or its beginning.", show_default=False)]
Png = Annotated[
    Path | None, typer.Option("--out", help="PNG to write; default RUN/curriculum.png.", show_default=False)
]

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    help="Which problem next: look at a run's curriculum, or try policies before spending GPU time.",
)


@app.command()
def status(run: Run) -> None:
    """Show where a run's problems stand, what share of groups teaches nothing, and what is re-checked next.

    Example: gradus curriculum status runs/grpo
    """
    typer.echo(run_status(run))


@app.command()
def explain(run: Run, key: Key) -> None:
    """Show a problem's history, visit by visit, and why it is where it is.

    Example: gradus curriculum explain runs/grpo 3f2a91
    """
    typer.echo(explain_problem(run, key))


@app.command()
def plot(run: Run, out: Png = None) -> None:
    """Draw pools, success rates, zero-variance share and moves over the steps into a PNG.

    Example: gradus curriculum plot runs/grpo --out curriculum.png
    """
    typer.echo(plot_run(run, out))


@app.callback()
def _room() -> None:
    pass
