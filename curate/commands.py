"""The commands of the curate room, one per stage, made from a table: `gradus curate <stage> POOL --out OUT [options]`.

A stage's module holds its config model and a function `stage(config) -> Stage`. The command's options are the model's
fields; its help is the model's docstring, whose last line is an example.
"""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Annotated, Final, NamedTuple

import typer

from curate.artifact import open_artifact
from curate.config import Config
from curate.options import with_options
from curate.stage import Outcome, run_stage


class Entry(NamedTuple):
    """Where a stage lives. Its module has the config model of this name and `stage(config) -> Stage`."""

    module: str
    config: str


STAGES: Final[dict[str, Entry]] = {
    "verifiable": Entry("curate.verifiable", "VerifiableConfig"),
}

Pool = Annotated[Path, typer.Argument(help="Artifact folder of the stage before.", show_default=False)]
Out = Annotated[Path, typer.Option("--out", help="Artifact folder to write.", show_default=False)]
Force = Annotated[bool, typer.Option("--force", help="Replace what another configuration left in --out.")]
Executor = Annotated[str, typer.Option("--executor", help="Where batches run: local or ray.")]

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    help="Raw pools to a curated dataset: each stage reads one artifact folder and writes the next.",
)


def summary(outcome: Outcome) -> str:
    """One screen about a finished stage: rows in, kept, dropped by reason."""
    manifest = outcome.manifest
    width = len(f"{manifest.num_in:,}")
    lines = [
        manifest.stage + (" (reused: same configuration and input)" if outcome.is_reused else ""),
        f"  {manifest.num_in:>{width},} in",
        f"  {manifest.num_kept:>{width},} kept",
        *(f"  {count:>{width},} dropped: {reason}" for reason, count in sorted(manifest.reasons.items())),
        *(f"  {name}: {value}" for name, value in manifest.facts.items()),
    ]
    return "\n".join(lines)


def _add(name: str, entry: Entry) -> None:
    module = importlib.import_module(entry.module)
    model: type[Config] = getattr(module, entry.config)  # the table names it, so that the command needs no code

    def command(pool: Pool, out: Out, config: Config, force: Force = False, executor: Executor = "local") -> None:
        typer.echo(summary(run_stage(module.stage(config), open_artifact(pool), out, force=force, executor=executor)))

    app.command(name, help=model.__doc__)(with_options(command, model))


for _name, _entry in STAGES.items():
    _add(_name, _entry)


@app.callback()
def _room() -> None:
    pass
