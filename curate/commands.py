"""The commands of the curate room, one per stage in a table: `gradus curate <stage> POOL --out OUT [options]`.

A stage's module holds its config model and a function `stage(config) -> Stage`. The command's options are the model's
fields; its help is the model's docstring, whose last line is an example.
"""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Annotated, Final

import typer

from curate.artifacts.artifact import open_artifact
from curate.config import Config
from curate.difficulty.redecide import RedecideConfig, redecide
from curate.figures import Figures, with_figures
from curate.ingest import stage as ingest
from curate.ingest.hub import pinned
from curate.ingest.plan import IngestConfig, plan
from curate.ingest.preview import expected, preview
from curate.ingest.sources import sources_from
from curate.options import Maps, Names, Revisions, Splits, with_options
from curate.panels import Commands
from curate.review.command import ReviewConfig, review
from curate.runner.executors import check_executor
from curate.runner.run import Outcome, run_stage
from curate.stages import FIRST, STAGES, Entry
from curate.summary import figures, next_command, summary
from curate.tasks.command import ExportConfig, InjectConfig, export_tasks, inject_bugs
from curate.verify import command as verify_command
from curate.verify.policy import Policy

Pool = Annotated[Path, typer.Argument(help="Artifact folder of the previous stage.", show_default=False)]
Out = Annotated[Path, typer.Option("--out", help="Artifact folder to write.", show_default=False)]
Force = Annotated[bool, typer.Option("--force", help="Replace the result of another configuration in --out.")]
Executor = Annotated[
    str,
    typer.Option(
        "--executor",
        metavar="local|ray",
        help="Where batches run: this machine or a Ray cluster; dedup: this machine.",
    ),
]

RUN_HELP: Final = """Run a pipeline file: import its sources, then every stage in order, into one run folder.

Unchanged stages are reused, and an interrupted run resumes. Paths in the file are relative to the working folder.

Example: gradus curate run pipeline.yaml --out runs/first
"""
FUNNEL_HELP: Final = """Print how many problems each stage of a run kept and dropped, and why.

Example: gradus curate funnel runs/first --png
"""

BENCHMARKS_HELP: Final = """List the benchmarks behind `decontaminate --against default`: name, Hub id, part, commit.

Example: gradus curate benchmarks
"""

app = Commands(
    help="Raw pools to a curated dataset: each stage reads one artifact folder and writes the next.",
)


def report(outcome: Outcome, out: Path) -> Figures:
    """Print the summary of a finished stage and the command that usually follows; its figures."""
    typer.echo("\n".join([summary(outcome, out), *next_command(outcome, out)]))
    return figures(outcome, out)


Sources = Annotated[
    list[str],
    typer.Argument(
        metavar="SOURCE...", help="Files, folders, archives or Hub ids; - is standard input.", show_default=False
    ),
]
OutUnlessDry = Annotated[
    Path | None,
    typer.Option("--out", help="Artifact folder to write; required without --dry-run.", show_default=False),
]
Dry = Annotated[
    bool, typer.Option("--dry-run", help="Print the mapping and the fate of the first rows; write nothing.")
]
Licences = Annotated[
    list[str], typer.Option("--licence", metavar="<str>", help="Licence, or NAME=LICENCE for one source.")
]
Encodings = Annotated[
    list[str], typer.Option("--encoding", metavar="<str>", help="Encoding of text files, or NAME=ENCODING.")
]
Weights = Annotated[
    list[str], typer.Option("--weight", metavar="<str>", help="Mixture weight to record, or NAME=WEIGHT.")
]


def ingest_command(
    source: Sources,
    config: IngestConfig,
    out: OutUnlessDry = None,
    *,
    maps: Maps = [],  # noqa: B006  # typer copies it
    names: Names = [],  # noqa: B006
    licences: Licences = [],  # noqa: B006
    revisions: Revisions = [],  # noqa: B006
    splits: Splits = [],  # noqa: B006
    weights: Weights = [],  # noqa: B006
    encodings: Encodings = [],  # noqa: B006
    force: Force = False,
    dry_run: Dry = False,
) -> Figures:
    """Print the detected column mapping, then import."""
    if out is None and not dry_run:
        raise typer.TyperException("missing option '--out': name the folder to write, or look first with --dry-run")
    stated = {"map": maps, "licence": licences, "revision": revisions, "split": splits, "weight": weights}
    stated["encoding"] = encodings
    plans = [plan(pinned(one), config) for one in sources_from(source, names, stated)]
    typer.echo("\n".join(preview(one, config) for one in plans))
    if out is None or dry_run:
        fates = {one.source.label(): expected(one, config) for one in plans}
        typer.echo("\n".join([*(f"{label}: {fate}" for label, fate in fates.items()), "nothing written"]))
        return {"sources": fates}
    return report(run_stage(ingest.stage(config, plans), None, out, force=force), out)


app.command(FIRST, help=IngestConfig.__doc__)(with_figures(with_options(ingest_command, IngestConfig)))


def _add(name: str, entry: Entry) -> None:
    module = importlib.import_module(entry.module)
    model: type[Config] = getattr(module, entry.config)  # named in the table, so that a command needs no code

    def command(pool: Pool, out: Out, config: Config, force: Force = False, executor: Executor = "local") -> Figures:
        return report(run_stage(module.stage(config), open_artifact(pool), out, force=force, executor=executor), out)

    app.command(name, help=model.__doc__)(with_figures(with_options(command, model)))


app.command("verify", help=verify_command.HELP)(with_figures(with_options(verify_command.verify_file, Policy)))

for _name, _entry in STAGES.items():
    if _name != FIRST:
        _add(_name, _entry)


def review_command(
    artifact: Annotated[list[Path], typer.Argument(help="Artifact folders to review.", show_default=False)],
    config: ReviewConfig,
) -> None:
    """Serve the review page."""
    review(artifact, config)


app.command("review", help=ReviewConfig.__doc__)(with_options(review_command, ReviewConfig))


def inject_command(
    source: Annotated[Path, typer.Argument(help="Folder or source distribution of a project.", show_default=False)],
    config: InjectConfig,
    out: Annotated[Path, typer.Option("--out", help="Folder to write tasks to.", show_default=False)],
) -> None:
    """Make tasks by bugs on purpose."""
    for line in inject_bugs(source, out, config):
        typer.echo(line)


app.command("inject-bugs", help=InjectConfig.__doc__)(with_options(inject_command, InjectConfig))


def export_tasks_command(
    pool: Pool,
    config: ExportConfig,
    out: Annotated[Path, typer.Option("--out", help="Folder to write tasks to.", show_default=False)],
) -> None:
    """Write tasks for other programs."""
    for line in export_tasks(pool, out, config):
        typer.echo(line)


app.command("export-tasks", help=ExportConfig.__doc__)(with_options(export_tasks_command, ExportConfig))


Measured = Annotated[Path, typer.Argument(help="Artifact that `difficulty` wrote.", show_default=False)]


def redecide_command(measured: Measured, out: Out, config: RedecideConfig, force: Force = False) -> Figures:
    """Decide an artifact of the difficulty stage again."""
    outcome = redecide(open_artifact(measured), config, out, force=force)
    found = report(outcome, out)
    if outcome.manifest.reasons.get("undersampled"):
        typer.echo(
            f"to draw the missing samples: gradus curate difficulty POOL --samples-from {measured}, with the same band"
        )
    return found


app.command("redecide", help=RedecideConfig.__doc__)(with_figures(with_options(redecide_command, RedecideConfig)))


def run_command(
    pipeline: Annotated[Path, typer.Argument(help="YAML file with `sources` and `stages`.", show_default=False)],
    out: Annotated[Path, typer.Option("--out", help="Run folder: one artifact folder per stage.", show_default=False)],
    force: Force = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show the plan and write nothing.")] = False,
    executor: Executor = "local",
) -> Figures:
    """Run a pipeline file."""
    from curate.artifacts.funnel import steps_of, table
    from curate.pipeline import plan_lines, read_pipeline, run_pipeline

    check_executor(executor)
    plans = read_pipeline(pipeline)
    typer.echo("\n".join(preview(one) for one in plans.plans))
    if dry_run:
        lines = list(plan_lines(plans, out))
        typer.echo("\n".join(lines))
        return {"plan": lines}
    outcomes: list[Outcome] = []

    def done(outcome: Outcome) -> None:
        outcomes.append(outcome)
        typer.echo(summary(outcome, out / outcome.manifest.stage))

    run_pipeline(plans, out, done, force=force, executor=executor)
    last = outcomes[-1]
    typer.echo("\n".join(["", table(steps_of(out, plans.names())), *next_command(last, out / last.manifest.stage)]))
    return [figures(outcome, out / outcome.manifest.stage) for outcome in outcomes]


app.command("run", help=RUN_HELP)(with_figures(run_command))


def funnel_command(
    run: Annotated[Path, typer.Argument(help="Folder of a run, or one that holds its artifacts.", show_default=False)],
    png: Annotated[bool, typer.Option("--png", help="Also draw it as RUN/funnel.png.")] = False,
) -> Figures:
    """Print a run's funnel."""
    from curate.artifacts.funnel import chain_in, draw, steps_of, table
    from curate.pipeline import PIPELINE, stages_of

    steps = steps_of(run, stages_of(run) if (run / PIPELINE).exists() else chain_in(run))
    typer.echo(table(steps))
    if png and steps:
        draw(steps, run / "funnel.png")
        typer.echo(f"drawn in {run / 'funnel.png'}")
    return [{**step._asdict(), "reasons": dict(step.reasons)} for step in steps]


app.command("funnel", help=FUNNEL_HELP)(with_figures(funnel_command))


def benchmarks_command() -> Figures:
    """List the bundle of benchmarks."""
    from curate.decontaminate.benchmarks import DEFAULT, bundle_lines

    typer.echo("\n".join(bundle_lines()))
    return [{"name": one.name, "hub": str(one.hub), "revision": str(one.revision)} for one in DEFAULT]


app.command("benchmarks", help=BENCHMARKS_HELP)(with_figures(benchmarks_command))


@app.callback()
def _room() -> None:
    pass
