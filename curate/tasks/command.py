"""`gradus curate inject-bugs` makes tasks from a project; `export-tasks` writes them for other programs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final, Literal

from pydantic import Field

from curate.artifacts.artifact import open_artifact
from curate.config import Config
from curate.errors import UserError
from curate.progress import Progress, announce
from curate.tasks.folder import task_folders, write_task
from curate.tasks.inject.bugs import inject
from curate.tasks.inject.project import read_project
from curate.tasks.store import TaskStore
from curate.verify.code.sandbox import SandboxUnavailable
from curate.verify.repo.box import BoxFault, BoxLimits

REASONS: Final = {
    "no_test_fails": "no test sees the bug",
    "all_tests_fail": "every test fails",
    "same_failures": "the same tests fail for another bug of the function",
    "breaks_the_run": "the tests do not come to their end",
    "too_slow": "the tests take over four times as long",
}


class InjectConfig(Config):
    """Make tasks for agents from a Python project with tests, by bugs on purpose.

    Each task has one bug in a function: the tests that see it are hidden and must pass again, the others must stay
    green. Bugs come from families in turn (operators, constants, conditions, statements, arguments, returns). SOURCE is
    a folder or a source distribution; its tests run with pytest in a box without a network. Needs bubblewrap.

    Example: gradus curate inject-bugs toolz-1.1.0.tar.gz --out tasks --number 20
    """

    number: int = Field(20, ge=1, description="Tasks to make; fewer if the project has not so many.")
    seed: int = Field(0, description="Seed of the order of bugs.")
    packages: tuple[str, ...] = Field((), description="Installed packages that the project or its tests import.")
    box: BoxLimits = Field(default_factory=BoxLimits, description="Limits of the box in which tests run.")


def inject_bugs(source: Path, out: Path, config: InjectConfig) -> Iterator[str]:
    """Make the tasks below `out`; yields what to print."""
    if out.exists() and any(out.iterdir()):
        raise UserError(f"{out}: is not empty; name a new folder for the tasks")
    project = read_project(source)
    announce(f"{project.name}: {len(project.sources)} source files, {len(project.tests)} test files; running its tests")
    try:
        with Progress("inject-bugs", config.number) as progress:
            made = inject(project, config.number, config.seed, config.box, config.packages, progress)
    except (BoxFault, SandboxUnavailable) as why:
        raise UserError(f"the tests cannot run on this machine: {why}") from None
    if not made.tasks:
        raise UserError(f"{source}: no bug gave a task ({_told(made.rejected)}); its tests see too little or too much")
    for task in made.tasks:
        write_task(out, task)
    tried = len(made.tasks) + sum(made.rejected.values())
    num_tasks = len(made.tasks)
    sums = f"{tried} bugs tried = {num_tasks} tasks + {tried - num_tasks} others"
    yield f"{project.name}: {made.num_tests} tests pass, {sums}"
    yield from (f"  {number} {REASONS.get(reason, reason)}" for reason, number in sorted(made.rejected.items()))
    yield f"next: gradus curate ingest {out} --out RUN/ingest --licence {project.licence}"


def _told(rejected: dict[str, int]) -> str:
    return ", ".join(f"{number} {REASONS.get(reason, reason)}" for reason, number in sorted(rejected.items()))


class ExportConfig(Config):
    """Write the tasks of an artifact as folders that other programs load.

    A Harbor folder a task: task.toml (schema 1.4), instruction.md, environment, tests, solution. Only kept rows, with
    the tests that `gradus curate solvable` left.

    Example: gradus curate export-tasks runs/solvable --tasks tasks --out harbor
    """

    tasks: Path = Field(Path("tasks"), description="Folder of the tasks, as it was ingested.")
    to: Literal["harbor"] = Field("harbor", description="Format of the folders.")


def export_tasks(pool: Path, out: Path, config: ExportConfig) -> Iterator[str]:
    """Write a folder for each kept task; yields what to print."""
    if out.exists() and any(out.iterdir()):
        raise UserError(f"{out}: is not empty; name a new folder for the tasks")
    store, kept = TaskStore(config.tasks), open_artifact(pool).read("kept")
    agents = kept.filter(kept["kind"] == "agent")
    if agents.is_empty():
        raise UserError(f"{pool}: holds no tasks of agents; name an artifact of ingested tasks")
    proofs = agents["proof"] if "proof" in agents.columns else [None] * agents.height
    for cell, proof in zip(agents["tests"], proofs, strict=True):
        write_task(out, store.task(cell, proof))
    others = kept.height - agents.height
    yield f"{len(task_folders(out))} tasks written to {out}" + (
        f"; {others} rows of other kinds left out" if others else ""
    )
