"""Damage to a run folder: the checkpoint before is used and the loss is stated; what cannot be mended is one line."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from curate.errors import Stopped, UserError
from train.runs.checkpoints import MARK, damage, drop_old
from train.runs.differences import difference
from train.runs.folder import CONFIG, DRAWS, ENVIRONMENT, LOG, RunFolder

FILES = ("model.safetensors", "optimizer.pt", "trainer_state.json", "global_step/shard.bin")


def identity(**changes: Any) -> dict[str, Any]:
    base = {"command": "sft", "model": "m", "data": "d", "model_digest": "1", "data_digest": "2", "config": {"lr": 1}}
    return {**base, **changes}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A run with whole checkpoints at the steps 10 and 20, and a log of 25 steps."""
    with RunFolder(tmp_path / "run", identity()) as run:
        for step in (10, 20):
            for name in FILES:
                path = run.folder / f"checkpoint-{step}" / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(f"{name} {step}".encode() * 1000)
            run.mark_checkpoint(step)
        for step in range(1, 26):
            run.append(LOG, {"step": step})
            run.append(DRAWS, {"step": step})
    return tmp_path / "run"


def steps_in(path: Path) -> list[int]:
    return [json.loads(line)["step"] for line in path.read_text().splitlines()]


def cut_short(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-7])


def flip_a_byte(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


DAMAGES: dict[str, Callable[[Path], object]] = {
    "missing": Path.unlink,
    "has 0 bytes, not": lambda path: path.write_bytes(b""),
    "bytes, not": cut_short,
    "has other contents": flip_a_byte,
    "has other contents than": lambda path: path.write_bytes(b"\0" * path.stat().st_size),
}


@pytest.mark.parametrize("how", DAMAGES)
@pytest.mark.parametrize("name", FILES)
def test_a_damaged_newest_checkpoint_gives_way_to_the_one_before(
    folder: Path, name: str, how: str, capsys: pytest.CaptureFixture[str]
) -> None:
    DAMAGES[how](folder / "checkpoint-20" / name)
    with RunFolder(folder, identity()) as run:
        assert run.checkpoint() == folder / "checkpoint-10"
        assert not (folder / "checkpoint-20").exists()
        assert steps_in(folder / LOG) == steps_in(folder / DRAWS) == list(range(1, 11))
    said = capsys.readouterr().out
    assert f"checkpoint-20: damaged ({name}" in said
    assert how in said
    assert "resuming from checkpoint-10" in said


def test_a_mark_that_is_damaged_itself_counts_as_damage(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "checkpoint-20" / MARK).write_bytes(b"")
    with RunFolder(folder, identity()) as run:
        assert run.checkpoint() == folder / "checkpoint-10"
    assert "gradus.json is not readable" in capsys.readouterr().out


def test_with_every_checkpoint_damaged_nothing_is_started_over_or_deleted(folder: Path) -> None:
    for step in (10, 20):
        cut_short(folder / f"checkpoint-{step}" / "optimizer.pt")
    before = sorted(folder.rglob("*"))
    with (
        pytest.raises(UserError, match=r"checkpoint-20: damaged \(optimizer\.pt.*no earlier checkpoint is whole"),
        RunFolder(folder, identity()),
    ):
        pass
    assert sorted(folder.rglob("*")) == before
    with RunFolder(folder, identity(), force=True) as run:
        assert run.checkpoint() is None


def test_a_checkpoint_of_an_earlier_version_is_not_called_damaged(folder: Path) -> None:
    (folder / "checkpoint-20" / MARK).write_text('{"format": 1, "step": 20}\n')
    assert damage(folder / "checkpoint-20") is None


def test_the_newest_whole_checkpoints_stay_whatever_the_clock_and_copies_say(folder: Path) -> None:
    shutil.copytree(folder / "checkpoint-20", folder / "checkpoint-20-old")
    (folder / "checkpoint-30").mkdir()  # torn
    os.utime(folder / "checkpoint-10", (2e9, 2e9))
    drop_old(folder, 2)
    assert (folder / "checkpoint-10").is_dir()
    drop_old(folder, 1, best=str(folder / "checkpoint-10"))
    assert (folder / "checkpoint-10").is_dir()
    drop_old(folder, 1)
    assert {path.name for path in folder.glob("checkpoint-*")} == {
        "checkpoint-20",
        "checkpoint-20-old",
        "checkpoint-30",
    }


@pytest.mark.parametrize("is_forced", [False, True])
def test_a_copy_of_a_checkpoint_that_the_user_made_is_left_alone(folder: Path, is_forced: bool) -> None:
    kept = [folder / name for name in ("checkpoint-20-old", "checkpoint-best")]
    shutil.copytree(folder / "checkpoint-20", kept[0])
    shutil.copytree(folder / "checkpoint-10", kept[1])
    (kept[1] / MARK).unlink()
    with RunFolder(folder, identity(), force=is_forced) as run:
        assert run.checkpoint() == (None if is_forced else folder / "checkpoint-20")
    assert all((path / "model.safetensors").is_file() for path in kept)


def test_a_finished_run_keeps_its_whole_log(folder: Path) -> None:
    (folder / "model").mkdir()
    cut_short(folder / "checkpoint-20" / "optimizer.pt")
    with RunFolder(folder, identity()) as run:
        assert run.is_finished()
    assert steps_in(folder / LOG) == list(range(1, 26))


@pytest.mark.parametrize("zeros", [1, 4096])
def test_zero_bytes_in_a_log_are_mended_and_told(folder: Path, zeros: int, capsys: pytest.CaptureFixture[str]) -> None:
    lines = [json.dumps({"step": step}).encode() + b"\n" for step in range(1, 26)]
    # a lost line, a line behind zeros, half a line and bytes that are no text; all before the checkpoint
    lines[3:4] = [b"\0" * zeros + b"\n"]
    lines[6] = b"\0" * zeros + lines[6]
    lines[9:9] = [b'{"step": 1', b"0\xff}\n"]
    (folder / LOG).write_bytes(b"".join(lines) + b"\0" * zeros)
    with RunFolder(folder, identity()):
        pass
    assert steps_in(folder / LOG) == [step for step in range(1, 21) if step != 4]
    assert f"{LOG}: 2 damaged lines removed" in capsys.readouterr().out


def test_a_log_that_lost_everything_is_told(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / LOG).write_bytes(b"\0" * 100)
    with RunFolder(folder, identity()):
        pass
    assert f"{LOG}: holds no line of the steps up to 20" in capsys.readouterr().out


@pytest.mark.parametrize("content", [b"", b"\0" * 300, b"command: [sft", b"sft\n", b"\xff\xfe\0"])
def test_a_damaged_config_is_restored_from_the_newest_checkpoint(folder: Path, content: bytes) -> None:
    whole = (folder / CONFIG).read_bytes()
    (folder / CONFIG).write_bytes(content)
    with (
        pytest.raises(UserError, match="lr: 1 there, 2 here"),
        RunFolder(folder, identity(config={"lr": 2})),
    ):
        pass
    with RunFolder(folder, identity()) as run:
        assert run.checkpoint() == folder / "checkpoint-20"
    assert (folder / CONFIG).read_bytes() == whole


def test_a_damaged_config_that_no_checkpoint_holds_is_told_and_replaced_only_by_force(folder: Path) -> None:
    (folder / CONFIG).write_bytes(b"")
    for step in (10, 20):
        (folder / f"checkpoint-{step}" / MARK).write_text(f'{{"format": 1, "step": {step}}}\n')
    with pytest.raises(UserError, match=r"config\.yaml is damaged.*restore it"), RunFolder(folder, identity()):
        pass
    with RunFolder(folder, identity(), force=True) as run:
        assert run.checkpoint() is None


@pytest.mark.parametrize(
    ("there", "here", "named"),
    [
        ({"trl": {"adam_beta2": 0.99}}, {"trl": {"adam_beta2": 0.98}}, "trl.adam_beta2: 0.99 there, 0.98 here"),
        ({"trl": {}}, {"trl": {"lr_scheduler_kwargs": {"min_lr": 1}}}, "trl.lr_scheduler_kwargs.min_lr: None there, 1"),
        ({"a": {"b": {"c": [1, 2]}}}, {"a": {"b": {"c": [1, 3]}}}, "a.b.c: [1, 2] there, [1, 3] here"),
        ({"t": "x" * 90 + "old"}, {"t": "x" * 90 + "new"}, "t: …xxxxxxxxxxold there, …xxxxxxxxxxnew here"),
        (
            {"t": "new" + "x" * 90},
            {"t": "old" + "x" * 90},
            "t: newxxxxxxxxxxxxxxxxx… there, oldxxxxxxxxxxxxxxxxx… here",
        ),
    ],
)
def test_a_difference_inside_a_table_is_named_in_full(there: Any, here: Any, named: str) -> None:
    assert str(difference(identity(config=there), identity(config=here))).startswith(named)


def test_of_several_inputs_the_one_that_differs_is_named() -> None:
    digests = {"aime": "a" * 64, "math": "b" * 64}
    changed = difference(identity(data_digest=digests), identity(data_digest={**digests, "math": "c" * 64}))
    assert str(changed).startswith("data_digest.math: bbbb")


def test_another_number_of_processes_is_said_and_every_start_is_recorded(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    written = json.loads((folder / ENVIRONMENT).read_text())
    written["starts"][-1]["num_processes"] = 2
    (folder / ENVIRONMENT).write_text(json.dumps(written))
    with RunFolder(folder, identity(), runtime={"micro_batch_size": 4}):
        pass
    assert "resuming at step 20 on 1 processes, 2 before" in capsys.readouterr().out
    with RunFolder(folder, identity()):
        pass
    assert "processes" not in capsys.readouterr().out
    starts = json.loads((folder / ENVIRONMENT).read_text())["starts"]
    assert [(start["step"], start["num_processes"]) for start in starts] == [(0, 2), (20, 1), (20, 1)]
    assert starts[1]["micro_batch_size"] == 4


def test_a_damaged_environment_does_not_keep_a_run_from_resuming(folder: Path) -> None:
    for content in (b"", b"\0\0", b"[1]"):
        (folder / ENVIRONMENT).write_bytes(content)
        with RunFolder(folder, identity()) as run:
            assert run.checkpoint() == folder / "checkpoint-20"


def interrupt(folder: Path) -> str:
    """The line after Ctrl-C inside a run."""
    with pytest.raises(Stopped) as stop, RunFolder(folder, identity()):
        raise KeyboardInterrupt
    assert stop.value.exit_status == 130
    return str(stop.value)


def test_ctrl_c_promises_a_resume_only_where_there_is_something_to_resume_from(folder: Path, tmp_path: Path) -> None:
    assert "nothing is finished yet" in interrupt(tmp_path / "new")
    assert "checkpoint-20 is kept; the same command resumes from there" in interrupt(folder)
