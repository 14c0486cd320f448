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
from curate.ingest import IngestConfig, ingest, plan, preview
from curate.options import with_options
from curate.sources import sources_from
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
        *(f"  {name}: {value}" for name, value in manifest.facts.items() if not isinstance(value, list | dict)),
    ]
    return "\n".join(lines)


Sources = Annotated[
    list[str], typer.Argument(metavar="SOURCE...", help="Files, folders or Hub ids.", show_default=False)
]
Maps = Annotated[
    list[str], typer.Option("--map", help="FIELD=COLUMN, or NAME:FIELD=COLUMN for one source; repeatable.")
]
Names = Annotated[list[str], typer.Option("--name", help="Names of the sources, in their order.")]
Licences = Annotated[list[str], typer.Option("--licence", help="Licence, or NAME=LICENCE for one source.")]
Revisions = Annotated[list[str], typer.Option("--revision", help="Revision, or NAME=REVISION for one source.")]
Weights = Annotated[list[str], typer.Option("--weight", help="Mixture weight to record, or NAME=WEIGHT.")]


def ingest_command(
    source: Sources,
    out: Out,
    config: IngestConfig,
    *,
    maps: Maps = [],  # noqa: B006  # typer copies it
    names: Names = [],  # noqa: B006
    licences: Licences = [],  # noqa: B006
    revisions: Revisions = [],  # noqa: B006
    weights: Weights = [],  # noqa: B006
    force: Force = False,
) -> None:
    """Print what every column was taken for, then import."""
    stated = {"map": maps, "licence": licences, "revision": revisions, "weight": weights}
    plans = [plan(one, config) for one in sources_from(source, names, stated)]
    typer.echo("\n".join(preview(one) for one in plans))
    typer.echo(summary(ingest(plans, config, out, force=force)))


app.command("ingest", help=IngestConfig.__doc__)(with_options(ingest_command, IngestConfig))


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
