"""Drops tasks that cannot be solved, are solved already, or that a cheat solves: `solvable` runs each."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import polars as pl
from pydantic import Field

from curate.config import Config
from curate.cpus import usable_cores
from curate.errors import UserError
from curate.records import ADDED
from curate.runner.stage import Run, Stage, Workspace
from curate.tasks.solvable import Proof, prove
from curate.tasks.store import TaskStore, proof_of
from curate.verify.code.sandbox import SandboxUnavailable
from curate.verify.repo.box import BoxFault, BoxLimits

BATCH_ROWS: Final = 20


class SolvableConfig(Config):
    """Prove the tasks of agents: the reference solves them, doing nothing does not, and no cheat does.

    The reference must pass the hidden tests 3 times of 3, the unchanged repository never; tests that vary are dropped
    by name. The fix may stand nowhere in what an agent sees, and probes (cheats as programs) must earn nothing. Rows of
    other kinds pass unchecked. Needs bubblewrap.

    Example: gradus curate solvable runs/ingest --out runs/solvable --tasks tasks
    """

    tasks: Path | None = Field(None, description="Folder of the tasks, as it was ingested.")
    box: BoxLimits = Field(default_factory=BoxLimits, description="Limits of the box in which tests run.")


def stage(config: SolvableConfig) -> Stage:
    """The stage that the command and a pipeline run."""

    @contextmanager
    def opened(_: Workspace) -> Iterator[Run]:
        store = TaskStore(config.tasks) if config.tasks else None
        yield lambda problems: run(problems, config, store)

    return Stage(
        name="solvable", version=1, scope="batch", config=config, open=opened, adds={"proof": ADDED["proof"].dtype},
        batch_rows=BATCH_ROWS,
    )  # fmt: skip


def run(problems: pl.DataFrame, config: SolvableConfig, store: TaskStore | None) -> pl.DataFrame:
    """Decide each row; tasks are proven side by side."""
    agents = (problems["kind"] == "agent").to_list()
    if any(agents) and store is None:
        raise UserError("the pool holds tasks of agents: name the folder that was ingested with --tasks")

    def proof(cell: str | None) -> Proof:
        assert store is not None
        try:
            return prove(store.task(cell), config.box)
        except (BoxFault, SandboxUnavailable) as why:
            raise UserError(f"tasks cannot be proven on this machine: {why}") from None

    cells = [cell for cell, is_agent in zip(problems["tests"], agents, strict=True) if is_agent]
    with ThreadPoolExecutor(usable_cores()) as pool:
        found = iter(list(pool.map(proof, cells)))
    proofs = [next(found) if is_agent else Proof(None, None, "") for is_agent in agents]
    return problems.with_columns(
        proof=pl.Series([proof_of(one.task, one.notes) if one.task else None for one in proofs], dtype=pl.String),
        drop_reason=pl.Series([one.reason for one in proofs], dtype=pl.String),
        drop_detail=pl.Series([_detail(one) for one in proofs], dtype=pl.String),
    )


def _detail(proof: Proof) -> str | None:
    if proof.reason is None:
        return None
    return "; ".join([proof.detail, *proof.notes])[:1000]


def notes_of(proof: str | None) -> list[str]:
    """The tests that a task lost when it was proven, and why."""
    return list(json.loads(proof)["notes"]) if proof else []
