"""A stage with sources: the rows that they made survive a kill, and its result is checked."""

from collections.abc import Callable, Sequence
from pathlib import Path

import polars as pl
import pytest
from support.pools import pool_of

from curate.artifacts.artifact import open_artifact, write_shard
from curate.config import Config
from curate.errors import Stopped, UserError
from curate.progress import Progress
from curate.runner.run import run_stage
from curate.runner.stage import Sources, Stage, bound, decide

ROWS = pool_of([f"What is {number} + 1?" for number in range(7)])


def kept(rows: pl.DataFrame) -> pl.DataFrame:
    return decide(rows, pl.lit(None), pl.lit(None))


def made(run: Callable[[pl.DataFrame], pl.DataFrame] = kept, log: list[int] | None = None) -> Stage:
    """A stage whose sources make `ROWS`, two a batch; `log` notes each batch that is made."""

    def write(folder: Path, batch_rows: int, _: Progress) -> Sequence[Path]:
        shards = [folder / f"{start}.parquet" for start in range(0, ROWS.height, batch_rows)]
        for number, shard in enumerate(shards):
            if not shard.exists():
                write_shard(shard, ROWS.slice(number * batch_rows, batch_rows))
                if log is not None:
                    log.append(number)
        return shards

    config = Config()
    stage = bound(lambda rows, _: run(rows), config)
    return Stage("made", 1, "corpus", config, stage, sources=Sources([], write), batch_rows=2)


def test_its_rows_become_the_artifact_and_nothing_else_stays(tmp_path: Path) -> None:
    manifest = run_stage(made(), None, tmp_path / "out").manifest
    assert open_artifact(tmp_path / "out").read().equals(ROWS)
    assert (manifest.inputs, len(manifest.files)) == ({}, 8)
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "README.md",
        "dropped",
        "kept",
        "manifest.json",
    ]


def test_a_stopped_run_finds_the_rows_that_were_made(tmp_path: Path) -> None:
    log: list[int] = []

    def stop(_: pl.DataFrame) -> pl.DataFrame:
        raise KeyboardInterrupt

    with pytest.raises(Stopped):
        run_stage(made(stop, log), None, tmp_path / "out")
    assert log == [0, 1, 2, 3]
    assert not run_stage(made(log=log), None, tmp_path / "out").is_reused
    assert log == [0, 1, 2, 3]
    assert open_artifact(tmp_path / "out").read().equals(ROWS)


def test_rows_may_be_merged_but_not_invented(tmp_path: Path) -> None:
    assert run_stage(made(lambda rows: kept(rows.head(1))), None, tmp_path / "fewer").manifest.num_in == 4
    strange = made(lambda rows: kept(rows.with_columns(key=pl.lit("new"))))
    turned = made(lambda rows: kept(rows.reverse()))
    for stage in (strange, turned):
        with pytest.raises(RuntimeError, match="stage made lost, doubled or reordered rows"):
            run_stage(stage, None, tmp_path / "other", force=True)
    with pytest.raises(RuntimeError, match="did not announce: \\['more'\\]"):
        run_stage(made(lambda rows: kept(rows.with_columns(more=1))), None, tmp_path / "more")


def test_a_pool_and_sources_exclude_each_other(tmp_path: Path) -> None:
    run_stage(made(), None, tmp_path / "pool")
    pool = open_artifact(tmp_path / "pool")
    with pytest.raises(TypeError, match="stage made takes no pool"):
        run_stage(made(), pool, tmp_path / "out")
    without = Stage(**{**vars(made()), "sources": None})
    with pytest.raises(TypeError, match="stage made takes a pool"):
        run_stage(without, None, tmp_path / "out")
    with pytest.raises(UserError, match="--executor is 'ray': made compares problems"):
        run_stage(made(), None, tmp_path / "out", executor="ray")
