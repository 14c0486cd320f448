"""Commands of the curriculum room: inspect a run's curriculum, or simulate settings before spending GPU time."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from curate.artifacts.artifact import open_artifact
from curate.config import parse, read_yaml
from curate.figures import Figures, with_figures
from curate.options import with_options
from curate.panels import Commands
from curriculum.config import CurriculumConfig
from curriculum.show.explain import explain as explain_problem
from curriculum.show.plots import plot as plot_run
from curriculum.show.status import figures as status_figures
from curriculum.show.status import status as run_status
from curriculum.simulate.plots import plot_courses
from curriculum.simulate.replay import replay as replay_run
from curriculum.simulate.rules import RulesConfig, compare
from curriculum.simulate.scores import table as score_table
from curriculum.simulate.simulate import SimulateConfig, simulate, table
from curriculum.suspects.suspects import suspects as find_suspects
from curriculum.suspects.suspects import table as suspect_table

Run = Annotated[
    Path, typer.Argument(help="Run folder of gradus train grpo, or one of its checkpoints.", show_default=False)
]
Key = Annotated[str, typer.Argument(help="Problem key, or a unique prefix of it.", show_default=False)]
Png = Annotated[
    Path | None, typer.Option("--out", help="PNG to write; default RUN/curriculum.png.", show_default=False)
]
Dataset = Annotated[Path, typer.Argument(help="Artifact folder with measured pass rates.", show_default=False)]
Settings = Annotated[
    Path | None,
    typer.Option(
        "--curriculum", help="YAML file of curriculum settings; default: built-in settings.", show_default=False
    ),
]
Data = Annotated[
    Path | None, typer.Option("--data", help="Dataset of the run; default: the one in its config.", show_default=False)
]
ReplaySettings = Annotated[
    Path | None,
    typer.Option("--curriculum", help="YAML file of settings that differ from the run's.", show_default=False),
]
Alpha = Annotated[
    float, typer.Option("--alpha", help="Probability of listing a problem whose truth is the likeliest answer.")
]
SimulatePng = Annotated[
    Path | None, typer.Option("--out", help="PNG to write; default ./simulate.png.", show_default=False)
]

app = Commands(
    help="Problem selection: inspect a run's curriculum, or simulate policies before spending GPU time.",
)


@app.command()
@with_figures
def status(run: Run) -> Figures:
    """Show a run's pool sizes, its share of zero-variance groups and its next re-checks.

    Example: gradus curriculum status runs/grpo
    """
    typer.echo(run_status(run))
    return status_figures(run)


@app.command()
def explain(run: Run, key: Key) -> None:
    """Show every visit of a problem and the reason for its current pool.

    Example: gradus curriculum explain runs/grpo 3f2a91
    """
    typer.echo(explain_problem(run, key))


@app.command()
def plot(run: Run, out: Png = None) -> None:
    """Plot pools, success rates, zero-variance share and moves by training step as a PNG.

    Example: gradus curriculum plot runs/grpo --out curriculum.png
    """
    typer.echo(plot_run(run, out))


@app.command()
@with_figures
def replay(run: Run, data: Data = None, curriculum: ReplaySettings = None) -> Figures:
    """Score the forecasts of a finished run against its visits, under any settings and without a model.

    Each visit is scored against the forecast from before it: log loss of its outcome, success rates by decile, and the
    predicted and seen share of groups without a signal in windows of 10 steps. The draws stay those of the run.

    Example: gradus curriculum replay runs/grpo --curriculum other.yaml --json
    """
    found = replay_run(run, data, curriculum)
    typer.echo(score_table(found))
    return asdict(found)


@app.command()
@with_figures
def suspects(run: Run, data: Data = None, alpha: Alpha = 0.05) -> Figures:
    """List problems on which most completions agree on an answer other than the truth.

    Either the truth is wrong or the model errs the same way each time: read them. Completions of the run count, and
    those of the difficulty stage. The answer must be given more often than the truth, by a test that holds at every
    time, so a run may be asked again and again; the lower bound of its share holds so too.

    Example: gradus curriculum suspects runs/grpo
    """
    found = find_suspects(run, data, alpha)
    typer.echo(suspect_table(found, alpha))
    return found


def _rules(config: RulesConfig) -> None:
    typer.echo(compare(config))


def _simulate(dataset: Dataset, config: SimulateConfig, curriculum: Settings = None, out: SimulatePng = None) -> None:
    chosen = parse(CurriculumConfig, read_yaml(curriculum), str(curriculum)) if curriculum else CurriculumConfig()
    courses = simulate(open_artifact(dataset).read("kept"), chosen, config)
    typer.echo(table(courses))
    title = f"{dataset.resolve().name}: simulated, learner {config.learner}, {config.seeds} seeds (mean and range)"
    typer.echo(plot_courses(courses, title, out or Path("simulate.png")))


app.command("simulate", help=SimulateConfig.__doc__)(with_options(_simulate, SimulateConfig))
app.command("rules", help=RulesConfig.__doc__)(with_options(_rules, RulesConfig))


@app.callback()
def _room() -> None:
    pass
