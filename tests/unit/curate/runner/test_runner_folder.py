"""The folder of a run: one writer, no foreign files, no unnoticed changes, and `datasets` opens it."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import polars as pl
import pytest
from datasets import load_dataset
from support.pools import pool_of

from curate.artifacts.artifact import Artifact, open_artifact, seal, shard_path, write_shard
from curate.artifacts.folder import OutFolder
from curate.artifacts.manifest import fingerprint
from curate.config import Config
from curate.errors import Stopped, UserError
from curate.runner.run import run_stage
from curate.runner.stage import Run, Stage, Workspace, bound, decide

IDENTITY = {"stage": "test", "version": 1, "config": {}, "inputs": {}}


class Short(Config):
    """Settings of the test stage."""

    max_chars: int = 12


def keep_short(problems: pl.DataFrame, config: Short) -> pl.DataFrame:
    is_long = pl.col("prompt").str.len_chars() > config.max_chars
    return decide(problems, pl.when(is_long).then(pl.lit("long")), pl.col("prompt").str.len_chars())


def stage(config: Short, batch_rows: int = 4) -> Stage:
    return Stage("test", 1, "batch", config, bound(keep_short, config), batch_rows=batch_rows)


@pytest.fixture
def pool(tmp_path: Path) -> Artifact:
    rows = pool_of([f"Problem {'x' * number}" for number in range(10)])
    write_shard(shard_path(tmp_path / "pool", "kept", 0), rows.head(7))
    write_shard(shard_path(tmp_path / "pool", "kept", 1), rows.tail(3))
    counts = {"num_in": 10, "num_kept": 10, "num_dropped": 0, "reasons": {}}
    seal(tmp_path / "pool", {**IDENTITY, **counts, "fingerprint": fingerprint(**IDENTITY)})
    return open_artifact(tmp_path / "pool")


def test_batches_are_the_rows_in_order_however_the_shards_lie(pool: Artifact) -> None:
    for num_rows in (1, 3, 7, 8, 100):
        assert pl.concat(pool.batches(num_rows)).equals(pool.read())
    assert pool.rows(6, 2)["key"].to_list() == pool.read()["key"].to_list()[6:8]
    assert pool.rows(50, 5).height == 0


def test_datasets_opens_every_part(pool: Artifact, tmp_path: Path) -> None:
    run_stage(stage(Short()), pool, tmp_path / "out")
    kept, dropped = (
        load_dataset(str(tmp_path / "out"), part, split="train", cache_dir=str(tmp_path / "cache"))
        for part in ("kept", "dropped")
    )
    assert kept["key"][:] == open_artifact(tmp_path / "out").read()["key"].to_list()
    assert dropped["drop_reason"][:] == ["long"] * 5


def test_two_runs_do_not_write_into_one_folder(tmp_path: Path) -> None:
    with (
        OutFolder(tmp_path / "out", IDENTITY),
        pytest.raises(UserError, match="another gradus process writes here; wait for it or choose another folder"),
        OutFolder(tmp_path / "out", IDENTITY),
    ):
        pass
    with OutFolder(tmp_path / "out", IDENTITY):
        pass


def test_a_folder_with_foreign_files_is_refused_and_unchanged(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "thesis.tex").write_text("years of work")
    with (
        pytest.raises(UserError, match=r"holds files that gradus did not write \(thesis.tex\)"),
        OutFolder(tmp_path / "out", IDENTITY, force=True),
    ):
        pass
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["thesis.tex"]


def test_a_run_into_the_pool_that_it_reads_is_refused_even_by_force(pool: Artifact, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(pool.folder)
    for out in (pool.folder, tmp_path / "link"):
        with pytest.raises(UserError, match="is an input of the run; choose another folder"):
            run_stage(stage(Short()), pool, out, force=True)
    with pytest.raises(UserError, match=r"is inside .*, which the run reads; choose a folder beside it"):
        run_stage(stage(Short()), pool, pool.folder / "next")
    assert not (pool.folder / "next").exists()
    assert open_artifact(pool.folder).read().height == 10


def test_a_file_where_the_folder_should_be_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("")
    with pytest.raises(UserError, match="cannot write here"), OutFolder(tmp_path / "out", IDENTITY):
        pass


@pytest.mark.parametrize("damage", ["changed", "missing"])
def test_a_shard_that_changed_or_vanished_is_named(damage: str, pool: Artifact) -> None:
    path = pool.folder / "kept" / "part-00001.parquet"
    if damage == "changed":
        path.write_bytes(path.read_bytes()[:-1] + b"?")
    else:
        path.unlink()
    with pytest.raises(UserError, match=f"part-00001.parquet: {damage}"):
        open_artifact(pool.folder)


def test_a_folder_without_manifest_is_not_finished(pool: Artifact, tmp_path: Path) -> None:
    (pool.folder / "manifest.json").unlink()
    with pytest.raises(UserError, match=r"holds no manifest.json, so it is not finished"):
        open_artifact(pool.folder)
    with pytest.raises(UserError, match="no such folder"):
        open_artifact(tmp_path / "nowhere")


def test_runtime_settings_do_not_change_the_fingerprint(pool: Artifact, tmp_path: Path) -> None:
    run_stage(stage(Short()), pool, tmp_path / "out")
    assert run_stage(stage(Short()), pool, tmp_path / "out").is_reused
    with pytest.raises(UserError, match="another configuration or input; choose another folder, or --force"):
        run_stage(stage(Short(max_chars=9)), pool, tmp_path / "out")


def test_a_run_that_failed_to_start_does_not_block_the_next(pool: Artifact, tmp_path: Path) -> None:
    def refused(number: int) -> Stage:
        @contextmanager
        def open_run(_: Workspace) -> Iterator[Run]:
            raise UserError("the model does not start")
            yield

        return Stage("test", 1, "batch", Short(max_chars=number), open_run)

    for number in (3, 4):
        with pytest.raises(UserError, match="does not start"):
            run_stage(refused(number), pool, tmp_path / "out")
    assert run_stage(stage(Short()), pool, tmp_path / "out").manifest.num_in == 10


def test_a_resumed_run_pays_only_for_the_batches_it_owes(pool: Artifact, tmp_path: Path) -> None:
    seen: list[int] = []

    def failing_at(number: int | None) -> Stage:
        @contextmanager
        def open_run(_: Workspace) -> Iterator[Run]:
            def run(problems: pl.DataFrame) -> pl.DataFrame:
                seen.append(problems["source_row"][0])
                if problems["source_row"][0] == number:
                    raise KeyboardInterrupt
                return keep_short(problems, Short())

            yield run

        return Stage("test", 1, "batch", Short(), open_run, batch_rows=4)

    with pytest.raises(Stopped):
        run_stage(failing_at(8), pool, tmp_path / "out")
    run_stage(failing_at(None), pool, tmp_path / "out")
    assert seen == [0, 4, 8, 8]


def test_a_finished_run_opens_no_engine(pool: Artifact, tmp_path: Path) -> None:
    run_stage(stage(Short()), pool, tmp_path / "out")

    @contextmanager
    def open_nothing(_: Workspace) -> Iterator[Run]:
        raise AssertionError("opened")
        yield

    reused = Stage("test", 1, "batch", Short(), open_nothing, batch_rows=4)
    assert run_stage(reused, pool, tmp_path / "out").is_reused


@pytest.mark.parametrize("fault", ["lost", "doubled", "reordered", "unannounced"])
def test_a_stage_that_breaks_the_contract_raises_a_bug_that_names_the_fault(
    fault: str, pool: Artifact, tmp_path: Path
) -> None:
    faults = {
        "lost": lambda rows: rows.tail(-1),
        "doubled": lambda rows: pl.concat([rows, rows.head(1)]),
        "reordered": lambda rows: rows.reverse(),
        "unannounced": lambda rows: rows.with_columns(surprise=1),
    }

    def run(problems: pl.DataFrame, config: Short) -> pl.DataFrame:
        return faults[fault](keep_short(problems, config))

    broken = Stage("test", 1, "batch", Short(), bound(run, Short()), batch_rows=4)
    with pytest.raises(RuntimeError, match=r"stage test (lost, doubled or reordered|added or lost columns)"):
        run_stage(broken, pool, tmp_path / "out")


def test_an_empty_pool_gives_an_empty_artifact_with_its_columns(tmp_path: Path) -> None:
    write_shard(shard_path(tmp_path / "pool", "kept", 0), pool_of([]))
    counts = {"num_in": 0, "num_kept": 0, "num_dropped": 0, "reasons": {}}
    seal(tmp_path / "pool", {**IDENTITY, **counts, "fingerprint": fingerprint(**IDENTITY)})
    outcome = run_stage(stage(Short()), open_artifact(tmp_path / "pool"), tmp_path / "out")
    assert (outcome.manifest.num_in, outcome.manifest.num_kept) == (0, 0)
    assert open_artifact(tmp_path / "out").read().columns == pool_of([]).columns


def test_the_manifest_names_no_path_and_no_time(pool: Artifact, tmp_path: Path) -> None:
    run_stage(stage(Short()), pool, tmp_path / "one")
    run_stage(stage(Short()), pool, tmp_path / "two")
    one, two = ((tmp_path / name / "manifest.json").read_bytes() for name in ("one", "two"))
    assert one == two
    assert str(tmp_path) not in json.dumps(json.loads(one))


def test_a_run_killed_between_its_manifest_and_tidying_up_is_tidied_by_the_next(pool: Artifact, tmp_path: Path) -> None:
    out = tmp_path / "out"
    run_stage(stage(Short()), pool, out)
    whole = {path.name for path in out.iterdir()}
    for name in ("state.json", "samples.jsonl"):
        (out / name).write_text("{}\n")
    run_stage(stage(Short()), pool, out)
    assert {path.name for path in out.iterdir()} == whole
