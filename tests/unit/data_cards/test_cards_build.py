"""`card build`: every row is present once, the folder opens anywhere, and a failure leaves no partial folder."""

import json
import shutil
from pathlib import Path

import datasets
import polars as pl
import pytest
from huggingface_hub import DatasetCard
from support.small_run import decontaminate, write_run

from curate.artifacts.artifact import open_artifact
from curate.errors import UserError
from curate.runner.run import run_stage
from data_cards.build import build
from data_cards.config import CardConfig
from data_cards.dataset.folder import DatasetFolder

CONFIG = CardConfig()


def rows_in(run: Path) -> set[str]:
    first = open_artifact(run / "ingest")
    return {*first.read("kept")["key"], *first.read("dropped")["key"]}


def test_every_raw_row_is_kept_or_dropped_once(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run")
    build(run, tmp_path / "dataset", CONFIG)
    dataset = open_artifact(tmp_path / "dataset")
    keys = [*dataset.read("kept")["key"], *dataset.read("dropped")["key"]]
    assert len(keys) == len(set(keys))
    assert set(keys) == rows_in(run)


def test_dropped_rows_name_stage_reason_and_evidence(tmp_path: Path) -> None:
    build(write_run(tmp_path / "run"), tmp_path / "dataset", CONFIG)
    dropped = open_artifact(tmp_path / "dataset").read("dropped")
    leaked = dropped.filter(pl.col("prompt").str.contains("leak")).row(0, named=True)
    assert (leaked["stage"], leaked["drop_reason"]) == ("decontaminate", "contaminated")
    assert json.loads(leaked["drop_detail"])["benchmark"] == "bench"
    assert set(dropped["stage"]) == {"ingest", "decontaminate", "difficulty"}


@pytest.mark.parametrize("part", ["default", "dropped", "samples"])
def test_datasets_and_polars_open_the_same_rows_offline(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, part: str
) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    build(write_run(tmp_path / "run"), tmp_path / "dataset", CONFIG)
    opened = datasets.load_dataset(str(tmp_path / "dataset"), part, split="train", cache_dir=str(tmp_path / "cache"))
    folder = {"default": "kept"}.get(part, part)
    read = pl.read_parquet(tmp_path / "dataset" / folder)
    assert read.height > 0
    assert opened.to_polars().equals(read)


def test_a_part_without_rows_gets_no_config(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", ["What is 1 + 1?", "What is 2 + 2?", "What is 7 + 7?"])
    kept_all = write_run(tmp_path / "kept_all", ["What is 1 + 1?"])
    build(run, tmp_path / "a", CONFIG)
    build(kept_all / "ingest", tmp_path / "b", CONFIG)
    names = [entry["config_name"] for entry in DatasetCard.load(tmp_path / "b" / "README.md").data.configs]
    assert names == ["default"]
    opened = datasets.load_dataset(str(tmp_path / "b"), split="train", cache_dir=str(tmp_path / "cache"))
    assert opened.num_rows == 1


def test_two_builds_give_the_same_bytes(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run")
    for name in ("a", "b"):
        build(run, tmp_path / name, CONFIG)
    files = sorted(path.relative_to(tmp_path / "a") for path in (tmp_path / "a").rglob("*") if path.is_file())
    assert [path for path in files if path.suffix == ".png"]
    assert all((tmp_path / "a" / path).read_bytes() == (tmp_path / "b" / path).read_bytes() for path in files)


def test_the_manifest_chains_the_stages_digests(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run")
    manifest, _ = build(run, tmp_path / "dataset", CONFIG)
    chain = manifest.facts["chain"]
    on_disk = [open_artifact(run / name).manifest for name in ("ingest", "decontaminate", "difficulty")]
    assert [entry["digest"] for entry in chain] == [stage.digest for stage in on_disk]
    assert [entry["inputs"]["pool"] for entry in chain[1:]] == [entry["digest"] for entry in chain[:-1]]
    assert manifest.facts["adds"][1:] == [["contaminated_by"], ["num_correct", "num_samples", "pass_rate"]]


def test_a_run_is_found_by_its_last_artifact_and_without_a_pipeline_file(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run")
    whole, _ = build(run, tmp_path / "a", CONFIG)
    build(run, run / "dataset", CONFIG)  # a dataset among the stages is not part of the chain
    (run / "pipeline.json").unlink()
    for number, folder in enumerate((run / "difficulty", run)):
        found, _ = build(folder, tmp_path / f"found{number}", CONFIG)
        assert found == whole


def test_a_folder_with_two_ends_is_refused(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run")
    (run / "pipeline.json").unlink()
    run_stage(decontaminate(9), open_artifact(run / "difficulty"), run / "second")
    run_stage(decontaminate(7), open_artifact(run / "difficulty"), run / "third")
    with pytest.raises(UserError, match="several artifacts end a chain"):
        build(run, tmp_path / "dataset", CONFIG)
    chain = build(run / "third", tmp_path / "dataset", CONFIG)[0].facts["chain"]
    assert [stage["config"].get("limit") for stage in chain] == [None, 4, 4, 7]


def test_a_rerun_reuses_and_another_run_is_refused_until_forced(tmp_path: Path) -> None:
    run, other = write_run(tmp_path / "run"), write_run(tmp_path / "other", limit=3)
    out = tmp_path / "dataset"
    first, _ = build(run, out, CONFIG)
    assert build(run, out, CONFIG) == (first, True)
    with pytest.raises(UserError, match="another dataset"):
        build(other, out, CONFIG)
    replaced, is_reused = build(other, out, CONFIG, force=True)
    assert not is_reused
    assert open_artifact(out).manifest == replaced != first


def test_a_foreign_folder_is_never_replaced(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run")
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "thesis.txt").write_text("years of work")
    for force in (False, True):
        with pytest.raises(UserError, match="did not write"):
            build(run, mine, CONFIG, force=force)
        with pytest.raises(UserError, match="artifact of stage"):
            build(run, run / "difficulty", CONFIG, force=force)
    assert (mine / "thesis.txt").read_text() == "years of work"


def break_link(run: Path) -> None:
    shutil.rmtree(run / "decontaminate")
    shutil.copytree(run.parent / "other" / "decontaminate", run / "decontaminate")


def change_byte(run: Path) -> None:
    shard = run / "difficulty" / "kept" / "part-00000.parquet"
    data = bytearray(shard.read_bytes())
    data[len(data) // 2] ^= 1
    shard.write_bytes(bytes(data))


DAMAGE = {
    "is not finished": lambda run: (run / "difficulty" / "manifest.json").unlink(),
    "missing, though": lambda run: (run / "difficulty" / "kept" / "part-00000.parquet").unlink(),
    "changed since": change_byte,
    "was not made from": break_link,
    "no such folder": lambda run: shutil.rmtree(run / "decontaminate"),
    "names no stages": lambda run: (run / "pipeline.json").write_text("[]"),
    "names no stages;": lambda run: (run / "pipeline.json").write_bytes(b"\xff{"),
}


@pytest.mark.parametrize("message", DAMAGE)
def test_a_damaged_run_is_one_line_and_leaves_nothing(tmp_path: Path, message: str) -> None:
    run, _ = write_run(tmp_path / "run"), write_run(tmp_path / "other", ["a leak", "What is 1 + 1?", "What is 5 + 6?"])
    DAMAGE[message](run)
    before = sorted(tmp_path.iterdir())
    with pytest.raises(UserError, match=message) as error:
        build(run, tmp_path / "dataset", CONFIG)
    assert "\n" not in str(error.value)
    assert sorted(tmp_path.iterdir()) == before


def test_huge_text_is_one_line_naming_the_row_and_leaves_nothing(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run")
    longest = max(open_artifact(run / "difficulty").read("kept")["prompt"].str.len_bytes())
    with pytest.raises(UserError, match=r"kept row [0-9a-f]{24}: prompt is longer") as error:
        build(run, tmp_path / "dataset", CardConfig(max_text_bytes=longest - 1))
    assert "\n" not in str(error.value)
    assert not (tmp_path / "dataset").exists()
    assert not list(tmp_path.glob(".*"))


def test_a_run_that_kept_nothing_is_refused(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", ["a leak of everything"])
    with pytest.raises(UserError, match="kept no rows"):
        build(run, tmp_path / "dataset", CONFIG)


def test_json_of_the_manifest_names_no_path_of_this_machine(tmp_path: Path) -> None:
    build(write_run(tmp_path / "run"), tmp_path / "dataset", CONFIG)
    text = (tmp_path / "dataset" / "manifest.json").read_text()
    assert str(tmp_path) not in text
    assert json.loads(text)["facts"]["made_with"]["gradus-rlvr"]


def test_remains_of_a_killed_build_change_nothing(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run")
    build(run, tmp_path / "a", CONFIG)
    left = tmp_path / ".b.building"
    (left / "kept").mkdir(parents=True)
    (left / "kept" / "part-00007.parquet").write_bytes(b"PAR1 torn")
    (left / "manifest.json").write_text("{")
    build(run, tmp_path / "b", CONFIG)
    names = [
        sorted(path.relative_to(folder) for path in folder.rglob("*")) for folder in (tmp_path / "a", tmp_path / "b")
    ]
    assert names[0] == names[1]
    assert open_artifact(tmp_path / "b").manifest == open_artifact(tmp_path / "a").manifest
    assert not list(tmp_path.glob(".*"))


def test_two_builds_of_one_folder_do_not_mix(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run")
    with (
        DatasetFolder(tmp_path / "dataset", {"fingerprint": "1"}),
        pytest.raises(UserError, match="another gradus process builds it"),
    ):
        build(run, tmp_path / "dataset", CONFIG)


def test_a_forced_build_that_fails_leaves_the_old_dataset(tmp_path: Path) -> None:
    run, other = write_run(tmp_path / "run"), write_run(tmp_path / "other", limit=3)
    before, _ = build(run, tmp_path / "dataset", CONFIG)
    with pytest.raises(UserError, match="is longer"):
        build(other, tmp_path / "dataset", CardConfig(max_text_bytes=1), force=True)
    assert open_artifact(tmp_path / "dataset").manifest == before
    assert not list(tmp_path.glob(".*"))


def test_a_damaged_neighbour_is_no_ancestor(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run")
    (run / "wreck").mkdir()
    (run / "wreck" / "manifest.json").write_text("{")
    manifest, _ = build(run / "difficulty", tmp_path / "dataset", CONFIG)
    assert [stage["stage"] for stage in manifest.facts["chain"]] == ["ingest", "decontaminate", "difficulty"]
