"""Commands of the card room: `gradus card {build,push,pull,trace,...}`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from curate.figures import Figures, with_figures
from curate.options import with_options
from curate.panels import Commands
from data_cards.config import CardConfig, PushConfig, PushModelConfig

app = Commands(
    help="Data cards: versioned, traceable datasets from runs, local and on the Hub.",
)


Against = Annotated[
    list[str] | None,
    typer.Option(help="Benchmark whose matched items are shown, named as in curate decontaminate.", show_default=False),
]


@app.callback()
def _room() -> None:
    pass


def _build(
    run: Annotated[
        Path, typer.Argument(metavar="RUN_DIR", help="Run folder, or its last artifact.", show_default=False)
    ],
    out: Annotated[Path, typer.Option("--out", help="Dataset folder to make.", show_default=False)],
    config: CardConfig,
    force: Annotated[bool, typer.Option("--force", help="Replace another dataset in --out.")] = False,
) -> Figures:
    from curate.artifacts.funnel import step_of, table
    from curate.artifacts.manifest import Manifest
    from data_cards.build import build

    manifest, is_reused = build(run, out, config, force=force)
    typer.echo(f"{out}{' (reused: same run and settings)' if is_reused else ''}")
    stages = [Manifest.model_validate(entry) for entry in manifest.facts["chain"]]
    typer.echo(table([step_of(stage) for stage in stages]))
    typer.echo(f"digest {manifest.digest[:16]}; look at {out / 'README.md'} and {out / 'plots'}")
    typer.echo(f"next: gradus card push {out} --repo ORG/NAME --tag v1.0.0")
    counts = manifest.model_dump(include={"num_in", "num_kept", "num_dropped", "reasons", "digest"})
    return {"out": str(out), "is_reused": is_reused, **counts}


app.command("build", help=CardConfig.__doc__)(with_figures(with_options(_build, CardConfig)))


def _push(
    dataset: Annotated[
        Path, typer.Argument(metavar="DATASET_DIR", help="Dataset folder of card build.", show_default=False)
    ],
    config: PushConfig,
) -> Figures:
    from huggingface_hub import HfApi

    from data_cards.hub.hub import push

    pushed = push(HfApi(), dataset, config)
    typer.echo(f"{pushed.url}{' (already on the Hub: nothing to do)' if pushed.is_reused else ''}")
    typer.echo(f"  commit {pushed.commit}" + (f", tag {config.tag}" if config.tag and not config.create_pr else ""))
    if config.tag and config.create_pr:
        typer.echo(f"  no tag: push again with --tag {config.tag} once the pull request is merged")
    return {"url": pushed.url, "commit": pushed.commit, "is_reused": pushed.is_reused}


app.command("push", help=PushConfig.__doc__)(with_figures(with_options(_push, PushConfig)))


def _push_model(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="Folder of a finished training run.", show_default=False)],
    config: PushModelConfig,
) -> Figures:
    from huggingface_hub import HfApi

    from data_cards.hub.models import push_model

    pushed = push_model(HfApi(), run, config)
    typer.echo(f"{pushed.url}{' (already on the Hub: nothing to do)' if pushed.is_reused else ''}")
    typer.echo(f"  commit {pushed.commit}" + (f", tag {config.tag}" if config.tag else ""))
    return {"url": pushed.url, "commit": pushed.commit, "is_reused": pushed.is_reused}


app.command("push-model", help=PushModelConfig.__doc__)(with_figures(with_options(_push_model, PushModelConfig)))


@app.command()
@with_figures
def pull(
    repo: Annotated[str, typer.Option(help="ORG/NAME on the Hub.", show_default=False)],
    out: Annotated[Path, typer.Option(help="Dataset folder to make.", show_default=False)],
    revision: Annotated[str, typer.Option(help="Tag, branch or commit.")] = "main",
) -> Figures:
    """Fetch a dataset from the Hub and verify every file against its manifest.

    Example: gradus card pull --repo me/first-problems --revision v1.0.0 --out datasets/first
    """
    from huggingface_hub import HfApi

    from data_cards.hub.hub import pull as fetch

    manifest, commit, is_reused = fetch(HfApi(), repo, revision, out)
    typer.echo(f"{out}{' (already complete: nothing to do)' if is_reused else ''}")
    typer.echo(f"  {manifest.num_kept:,} problems, every file verified; commit {commit}, digest {manifest.digest[:16]}")
    return {"out": str(out), "commit": commit, "digest": manifest.digest, "num_kept": manifest.num_kept}


@app.command()
def trace(
    key: Annotated[
        str, typer.Argument(help="Key of the problem, a unique prefix of it, or source#row.", show_default=False)
    ],
    folder: Annotated[Path, typer.Argument(help="Run folder, artifact or dataset.", show_default=False)],
    train: Annotated[
        list[Path] | None, typer.Option(help="Training run to include; may be repeated.", show_default=False)
    ] = None,
    against: Against = None,
) -> None:
    """Print a problem's history: its source, each stage's verdict with the evidence, its samples and its training.

    Example: gradus card trace 3fa9c1 datasets/first --train runs/grpo
    """
    from rich.console import Console

    from data_cards.dataset.evidence import benchmark_texts
    from data_cards.dataset.tables import open_tables, readable
    from data_cards.dataset.trace import trace as follow
    from data_cards.dataset.training import read_training
    from data_cards.show.trace import WIDTH, show

    with readable(folder):
        found = follow(open_tables(folder), key, benchmark_texts(against or ()))
    trainings = {str(run): read_training(run, found.row["key"]) for run in train or ()}
    show(found, trainings, Console(width=WIDTH, highlight=False, emoji=False))


Old = Annotated[str, typer.Argument(help="Folder, ORG/NAME@REVISION, or a revision of --repo.", show_default=False)]
New = Annotated[str, typer.Argument(help="Newer folder or revision, named likewise.", show_default=False)]
Repo = Annotated[
    str, typer.Option(help="Dataset on the Hub, ORG/NAME, whose revisions are compared.", show_default=False)
]


@app.command()
@with_figures
def diff(old: Old, new: New, repo: Repo = "") -> Figures:
    """Compare two datasets or runs: rows added, removed and moved, contents, rates, columns, settings.

    Example: gradus card diff v1.0.0 v1.1.0 --repo me/first-problems
    """
    from data_cards.dataset.diff import diff as compare
    from data_cards.dataset.tables import readable
    from data_cards.hub.references import opened
    from data_cards.show.diff import lines

    with readable(f"{old} or {new}"), opened(old, repo) as before, opened(new, repo) as after:
        found = compare(before, after)
    typer.echo("\n".join(lines(found)))
    return found.as_json()


@app.command()
@with_figures
def bump(
    old: Old,
    new: New,
    repo: Repo = "",
    current: Annotated[str, typer.Option(help="Version of OLD, if OLD is not a version tag.", show_default=False)] = "",
) -> Figures:
    """Propose the next version of a dataset from its changes, with the reasons.

    Example: gradus card bump me/first-problems datasets/second
    """
    from data_cards.dataset.bump import next_version, propose
    from data_cards.dataset.diff import diff as compare
    from data_cards.dataset.tables import readable
    from data_cards.hub.references import opened, version_of

    version = current or version_of(old, repo)
    with readable(f"{old} or {new}"), opened(old, repo) as before, opened(new, repo) as after:
        proposal = propose(compare(before, after))
    step = f": {version} -> {next_version(version, proposal.level)}" if version else ""
    typer.echo("\n".join([f"{proposal.level}{step}", *(f"  {reason}" for reason in proposal.reasons)]))
    following = next_version(version, proposal.level) if version else None
    return {"level": proposal.level, "version": version, "next": following, "reasons": list(proposal.reasons)}


@app.command()
def report(
    folder: Annotated[Path, typer.Argument(help="Run folder, artifact or dataset.", show_default=False)],
    out: Annotated[Path, typer.Option(help="HTML file to write.")] = Path("report.html"),
    title: Annotated[str, typer.Option(help="Page title; default: name of the folder.", show_default=False)] = "",
    against: Against = None,
) -> None:
    """Write one self-contained HTML page: funnel, reasons with examples, matches side by side, rates and lengths.

    Example: gradus card report runs/first --out first.html --against math500.jsonl
    """
    from data_cards.dataset.evidence import benchmark_texts
    from data_cards.dataset.tables import open_tables, readable
    from data_cards.show.report import report as write

    with readable(folder):
        write(open_tables(folder), out, title or folder.resolve().name, benchmark_texts(against or ()))
    typer.echo(f"{out}: open in a browser; no network needed")
