"""A run folder continues its own run, refuses another by name, and removes what a kill left unfinished."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from support.interruption import REMOVALS, cut_everywhere

from curate.errors import UserError
from train.runs.checkpoints import mark_checkpoint
from train.runs.folder import DRAWS, LOG, UNFINISHED, RunFolder
from train.runs.output.log_lines import cut_after


def identity(**changes: Any) -> dict[str, Any]:
    base = {"command": "sft", "model": "m", "data": "d", "model_digest": "1", "data_digest": "2", "config": {"lr": 1}}
    return {**base, **changes}


def checkpoint(folder: Path, step: int, *, is_whole: bool = True) -> Path:
    path = folder / f"checkpoint-{step}"
    path.mkdir()
    if is_whole:
        mark_checkpoint(path, step)
    return path


def lines(*steps: int) -> str:
    return "".join(json.dumps({"step": step}) + "\n" for step in steps)


def steps_in(path: Path) -> list[int]:
    return [json.loads(line)["step"] for line in path.read_text().splitlines()]


def test_a_rerun_resumes_from_the_last_whole_checkpoint_and_drops_a_torn_one(tmp_path: Path) -> None:
    with RunFolder(tmp_path / "run", identity()) as run:
        checkpoint(run.folder, 10)
        checkpoint(run.folder, 20)
        checkpoint(run.folder, 30, is_whole=False)
    with RunFolder(tmp_path / "run", identity()) as run:
        found = run.checkpoint()
        assert found is not None
        assert found.name == "checkpoint-20"
        assert not (run.folder / "checkpoint-30").exists()


def test_a_rerun_removes_log_lines_after_the_checkpoint_and_a_torn_last_line(tmp_path: Path) -> None:
    with RunFolder(tmp_path / "run", identity()) as run:
        checkpoint(run.folder, 20)
        (run.folder / LOG).write_text(lines(10, 20, 30))
        (run.folder / DRAWS).write_text(lines(19, 20) + '{"step": 2')
    with RunFolder(tmp_path / "run", identity()) as run:
        assert steps_in(run.folder / LOG) == [10, 20]
        assert steps_in(run.folder / DRAWS) == [19, 20]


def test_without_a_checkpoint_a_rerun_removes_every_line(tmp_path: Path) -> None:
    with RunFolder(tmp_path / "run", identity()) as run:
        (run.folder / LOG).write_text(lines(1, 2))
    with RunFolder(tmp_path / "run", identity()) as run:
        assert (run.folder / LOG).read_text() == ""


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"config": {"lr": 2}}, "lr: 1 there, 2 here"),
        ({"data_digest": "9"}, "data_digest: 2 there, 9 here"),
        ({"model_digest": "9"}, "model_digest"),
        ({"command": "grpo"}, "command: sft there, grpo here"),
    ],
)
def test_another_run_is_refused_by_the_name_of_what_differs(tmp_path: Path, change: Any, named: str) -> None:
    with RunFolder(tmp_path / "run", identity()) as run:
        checkpoint(run.folder, 10)
    with pytest.raises(UserError, match=named), RunFolder(tmp_path / "run", identity(**change)):
        pass


def test_a_run_that_failed_to_start_is_replaced(tmp_path: Path) -> None:
    with RunFolder(tmp_path / "run", identity()):
        pass
    for settings in ({"lr": 2}, {"lr": 3}):
        with RunFolder(tmp_path / "run", identity(config=settings)):
            pass
    with RunFolder(tmp_path / "run", identity(config={"lr": 3})) as run:
        checkpoint(run.folder, 10)
    with pytest.raises(UserError, match="lr: 3 there, 2 here"), RunFolder(tmp_path / "run", identity(config={"lr": 2})):
        pass


def test_a_moved_model_or_dataset_is_still_the_same_run(tmp_path: Path) -> None:
    with RunFolder(tmp_path / "run", identity()):
        pass
    with RunFolder(tmp_path / "run", identity(model="elsewhere/m", data="elsewhere/d")) as run:
        assert run.checkpoint() is None


def test_force_starts_over_and_leaves_nothing_of_the_earlier_run(tmp_path: Path) -> None:
    with RunFolder(tmp_path / "run", identity()) as run:
        checkpoint(run.folder, 10)
        (run.folder / LOG).write_text(lines(10))
        run.model.mkdir()
    with RunFolder(tmp_path / "run", identity(config={"lr": 2}), force=True) as run:
        assert run.checkpoint() is None
        assert not run.is_finished()
        assert not (run.folder / LOG).exists()


def test_a_folder_with_other_files_is_never_cleared(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("x")
    with pytest.raises(UserError, match="not a training run"), RunFolder(tmp_path, identity(), force=True):
        pass
    assert (tmp_path / "thesis.tex").exists()


def test_two_processes_cannot_train_into_one_folder(tmp_path: Path) -> None:
    with (
        RunFolder(tmp_path / "run", identity()),
        pytest.raises(UserError, match="another gradus process"),
        RunFolder(tmp_path / "run", identity()),
    ):
        pass


def test_a_place_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(UserError, match="cannot write here"), RunFolder(tmp_path / "file" / "run", identity()):
        pass


def test_a_checkpoint_of_another_format_is_refused(tmp_path: Path) -> None:
    with RunFolder(tmp_path / "run", identity()) as run:
        path = checkpoint(run.folder, 10)
        (path / "gradus.json").write_text('{"format": 99, "step": 10}')
    with pytest.raises(UserError, match="format 99"), RunFolder(tmp_path / "run", identity()):
        pass


def test_cutting_a_missing_log_does_nothing(tmp_path: Path) -> None:
    cut_after(tmp_path / "none.jsonl", 3)
    assert not (tmp_path / "none.jsonl").exists()


def test_a_start_that_was_killed_before_its_first_file_is_replaced(tmp_path: Path) -> None:
    def start(number: int) -> None:
        with RunFolder(tmp_path / str(number), identity()):
            pass

    cuts = list(cut_everywhere(start))
    assert cuts == [0, 1]  # config.yaml, environment.json
    for number in cuts:
        with RunFolder(tmp_path / str(number), identity(config={"lr": 2})) as run:
            assert run.checkpoint() is None


@pytest.mark.parametrize("settings", [{"lr": 1}, {"lr": 2}])
def test_a_kill_while_an_earlier_run_is_deleted_leaves_nothing_of_it_to_reuse(tmp_path: Path, settings: Any) -> None:
    with RunFolder(tmp_path / "earlier", identity()) as run:
        checkpoint(run.folder, 10)
        (run.folder / LOG).write_text(lines(10))
        for folder in (run.model, run.folder / UNFINISHED):
            folder.mkdir()
            for name in ("config.json", "model.safetensors"):
                (folder / name).write_text("x")

    def replace(number: int) -> None:
        folder = shutil.copytree(tmp_path / "earlier", tmp_path / str(number))
        with RunFolder(folder, identity(config={"lr": 2}), force=True):
            pass

    num_cuts = 0
    for number in cut_everywhere(replace, REMOVALS):
        if not (tmp_path / str(number) / ".clearing.tmp").exists():
            continue
        num_cuts += 1
        with RunFolder(tmp_path / str(number), identity(config=settings)) as run:
            assert run.checkpoint() is None
            assert not run.is_finished()
            assert not (run.folder / LOG).exists()
            assert not (run.folder / UNFINISHED).exists()
    assert num_cuts > 5
