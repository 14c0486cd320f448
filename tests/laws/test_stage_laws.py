"""The laws of every stage that needs no model: nothing lost, nothing by chance, and a kill costs work but no byte.

`stage` is every stage that reads a pool; `work` is these with their pool, and the first stage, which reads sources.
"""

import importlib
import json
import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

import polars as pl
import pytest
from support.interruption import cut_everywhere
from support.pools import pool_of, run

from curate.artifacts.artifact import Artifact, open_artifact
from curate.config import Config, parse
from curate.errors import UserError
from curate.ingest import stage as ingest
from curate.ingest.plan import IngestConfig, plan
from curate.ingest.sources import Source
from curate.records import DECISION, problem_key
from curate.runner.run import Outcome, run_stage
from curate.runner.stage import Stage
from curate.stages import FIRST, STAGES

NEED_A_MODEL: Final = {"no-think", "difficulty"}
NAMES: Final = [name for name in STAGES if name not in NEED_A_MODEL | {FIRST}]
NUM_BATCHES: Final = 3
LEAKED: Final = (
    "A gardener plants seven rows of nine tulips and then gives away twenty of them. How many tulips remain standing?"
)


@pytest.fixture(scope="module")
def benchmark_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("benchmark") / "exam.jsonl"
    path.write_text(json.dumps({"question": LEAKED, "answer": "43"}) + "\n")
    return path


def configured(name: str, benchmark: Path) -> Config:
    """A config of the stage with its required settings."""
    verdicts = benchmark.with_name("verdicts.jsonl")
    word = {"key": problem_key(LEAKED), "reviewer": "ada", "decision": "drop", "queue": "audit", "time": "2030-01-01"}
    verdicts.write_text(json.dumps(word) + "\n")
    required: Mapping[str, Mapping[str, Any]] = {
        "decontaminate": {"against": [str(benchmark)]},
        "reviewed": {"verdicts": str(verdicts)},
    }
    model = getattr(importlib.import_module(STAGES[name].module), STAGES[name].config)
    return parse(model, required.get(name, {}), name)


@pytest.fixture(params=NAMES)
def stage(request: pytest.FixtureRequest, benchmark_file: Path) -> Stage:
    """Every registered stage that reads a pool and needs no model, cut into several batches."""
    return in_batches(made(request.param, benchmark_file))


def made(name: str, benchmark: Path) -> Stage:
    """The stage of this name."""
    found: Stage = importlib.import_module(STAGES[name].module).stage(configured(name, benchmark))
    return found


def in_batches(stage: Stage) -> Stage:
    """The stage with `NUM_BATCHES` batches of the messy pool."""
    return Stage(**{**vars(stage), "batch_rows": -(-messy_pool().height // NUM_BATCHES)})


class Work(NamedTuple):
    """A stage and what it reads: a pool, or sources of its own."""

    stage: Stage
    pool: Artifact | None

    def run(self, out: Path, *, force: bool = False) -> Outcome:
        """Take it into the artifact `out`."""
        return run_stage(self.stage, self.pool, out, force=force)


@pytest.fixture(params=[FIRST, *NAMES])
def work(request: pytest.FixtureRequest, benchmark_file: Path, pool_folder: Path) -> Work:
    """Every registered stage that needs no model, with what it reads."""
    if request.param == FIRST:
        return Work(in_batches(importer(pool_folder.with_name("rows.jsonl"))), None)
    return Work(in_batches(made(request.param, benchmark_file)), open_artifact(pool_folder))


def importer(source: Path) -> Stage:
    """The stage that imports a file."""
    config = IngestConfig()
    return ingest.stage(config, [plan(Source(path=source), config)])


def messy_pool() -> pl.DataFrame:
    """Rows of which each stage drops some and keeps some."""
    source = random.Random(5)
    things = ("apples", "boats", "chairs", "dogs", "lamps", "rings", "stones", "tulips")
    rows: list[str | dict[str, Any]] = []
    for number in range(24):
        a, b = source.randint(3, 400), source.randint(3, 400)
        thing = source.choice(things)
        text = f"Row {number}: a merchant in the harbour town has {a} {thing} and buys {b} more. How many are there?"
        rows.append({"prompt": text, "ground_truth": str(a + b)})
    rows += [
        {"prompt": str(rows[0]["prompt"]).replace("there?", "there ?"), "ground_truth": rows[0]["ground_truth"]},
        {"prompt": "Prove that the square root of two is irrational.", "ground_truth": "proof"},
        {"prompt": "Which is the largest? (A) 1 (B) 2 (C) 3 (D) 4", "ground_truth": "D"},
        {"prompt": "Which colour is it?", "choices": ["red", "blue", "green"], "ground_truth": "B"},
        {"prompt": "What is missing here and why?"},
        {"prompt": "$\\frac{1}{2}$ 是多少？", "ground_truth": "0.5", "solution": "half"},
        {"prompt": LEAKED, "ground_truth": "43"},
    ]
    return pool_of(rows)


@pytest.fixture(scope="module")
def pool_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The messy pool as an artifact."""
    folder = tmp_path_factory.mktemp("pool")
    source = folder / "rows.jsonl"
    rows = messy_pool().select("prompt", "ground_truth", "choices", "solution")
    # a twin and two rows that are none, for the first stage
    bad = '{"prompt": "torn\n{"prompt": null}\n'
    source.write_text(rows.write_ndjson() + rows.head(1).write_ndjson() + bad)
    run_stage(importer(source), None, folder / "ingest")
    return folder / "ingest"


def files(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()
    }


def test_every_row_comes_out_once_and_in_order_with_the_announced_columns(stage: Stage) -> None:
    pool = messy_pool()
    out = run(stage, pool)
    assert out["key"].to_list() == pool["key"].to_list()
    assert set(out.columns) == {*pool.columns, *stage.adds, *DECISION}
    # the pool has no tasks of agents, which are all that `solvable` decides
    assert stage.name == "solvable" or 0 < out["drop_reason"].null_count() < pool.height
    assert out.filter(pl.col("drop_reason").is_null() & pl.col("drop_detail").is_not_null()).height == 0


def test_the_same_pool_gives_the_same_rows(stage: Stage) -> None:
    assert run(stage, messy_pool()).equals(run(stage, messy_pool()))


def test_a_batch_stage_decides_each_row_alone(stage: Stage) -> None:
    if stage.scope != "batch":
        pytest.skip("compares problems with one another")
    pool = messy_pool()
    for cut in (1, pool.height // 2, pool.height - 1):
        apart = pl.concat([run(stage, pool.head(cut)), run(stage, pool.tail(-cut))])
        assert apart.equals(run(stage, pool))
    shuffled = pool.sample(fraction=1, shuffle=True, seed=3)
    assert run(stage, shuffled).sort("key").equals(run(stage, pool).sort("key"))


def test_a_second_run_over_what_was_kept_drops_nothing(stage: Stage) -> None:
    once = run(stage, messy_pool())
    kept = once.filter(pl.col("drop_reason").is_null()).select(messy_pool().columns)
    again = run(stage, kept)
    assert again["drop_reason"].null_count() == kept.height


def test_a_stage_runs_on_its_own_output(stage: Stage, pool_folder: Path, tmp_path: Path) -> None:
    once = run_stage(stage, open_artifact(pool_folder), tmp_path / "once").manifest
    twice = run_stage(stage, open_artifact(tmp_path / "once"), tmp_path / "twice").manifest
    assert (twice.num_in, twice.num_kept) == (once.num_kept, once.num_kept)


def test_an_empty_pool_passes(stage: Stage) -> None:
    assert run(stage, messy_pool().head(0)).height == 0


def test_a_run_killed_anywhere_and_resumed_leaves_the_same_bytes(work: Work, tmp_path: Path) -> None:
    work.run(tmp_path / "undisturbed")
    wanted = files(tmp_path / "undisturbed")
    cuts = 0
    for num_renames in cut_everywhere(lambda n: void(work.run(tmp_path / str(n)))):
        work.run(tmp_path / str(num_renames))
        assert files(tmp_path / str(num_renames)) == wanted
        cuts += 1
    assert cuts > 2 * NUM_BATCHES  # a kept and a dropped shard a batch, and the rest


def void(_: object) -> None:
    """For callbacks that return nothing."""


def test_a_finished_run_is_reused_and_another_is_refused_unless_forced(work: Work, tmp_path: Path) -> None:
    first = work.run(tmp_path / "out")
    again = work.run(tmp_path / "out")
    assert (first.is_reused, again.is_reused) == (False, True)
    assert again.manifest == first.manifest
    version = work.stage.version + 1
    changed = work._replace(stage=Stage(**{**vars(work.stage), "version": version}))
    with pytest.raises(UserError, match="--force"):
        changed.run(tmp_path / "out")
    assert open_artifact(tmp_path / "out").manifest == first.manifest
    assert changed.run(tmp_path / "out", force=True).manifest.version == version


def test_every_row_of_the_sources_is_kept_dropped_or_named_by_its_twin(pool_folder: Path) -> None:
    out = open_artifact(pool_folder)
    rows = pl.concat([out.read(part).select("source", "source_row", "also_in") for part in ("kept", "dropped")])
    places = [f"{source}#{row}" for source, row, _ in rows.iter_rows()]
    twins = [place for also_in in rows["also_in"].drop_nulls() for place in also_in]
    num_rows = messy_pool().height + 3
    assert sorted(places + twins) == sorted(f"rows#{number}" for number in range(num_rows))
    facts = out.manifest.facts
    assert (facts["num_rows"], facts["num_merged"]) == (num_rows, len(twins))
    assert [source["num_rows"] for source in facts["sources"]] == [num_rows]
    assert len(twins) >= 1


def test_kept_and_dropped_are_the_pool_and_the_manifest_counts_them(
    stage: Stage, pool_folder: Path, tmp_path: Path
) -> None:
    pool = open_artifact(pool_folder)
    run_stage(stage, pool, tmp_path / "out")
    out = open_artifact(tmp_path / "out")
    kept, dropped = out.read("kept"), out.read("dropped")
    assert sorted([*kept["key"], *dropped["key"]]) == sorted(pool.read()["key"])
    assert (out.manifest.num_kept, out.manifest.num_dropped) == (kept.height, dropped.height)
    assert out.manifest.reasons == dict(dropped.group_by("drop_reason").len().iter_rows())
    assert kept["key"].to_list() == [key for key in pool.read()["key"] if key in set(kept["key"])]
