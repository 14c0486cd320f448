"""A run folder is one run in a tracker, over all its resumes."""

import os
import shutil
from importlib.util import find_spec
from pathlib import Path

import pytest
from support.training.toy_runs import copying_problems, small_toy

from train.runs.folder import RunFolder
from train.runs.trackers import tracked

VARIABLES = ("TENSORBOARD_LOGGING_DIR", "WANDB_RUN_ID", "WANDB_RESUME", "WANDB_PROJECT", "WANDB_DIR")
IDENTITY = {"command": "grpo", "model": "m", "data": "d", "model_digest": "1", "data_digest": "2", "config": {}}


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in VARIABLES:
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)


@pytest.mark.heavy
def test_starts_of_a_run_share_an_id_and_what_the_user_set_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def started(name: str) -> tuple[object, str]:
        monkeypatch.delenv("WANDB_RUN_ID", raising=False)
        with RunFolder(tmp_path / name, IDENTITY, force=False) as run:
            return tracked(["wandb"], run)["run_name"], os.environ["WANDB_RUN_ID"]

    monkeypatch.setenv("WANDB_PROJECT", "mine")
    first, other = started("a"), started("b")
    assert started("a") == first
    assert first != other
    assert first[0] == f"a-{first[1]}"
    assert os.environ["WANDB_PROJECT"] == "mine"
    with RunFolder(tmp_path / "c", IDENTITY, force=False) as run:
        assert tracked([], run) == {}
        assert not (tmp_path / "c/tracker.json").exists()


@pytest.mark.heavy
@pytest.mark.parametrize("tracker", ["tensorboard", "wandb", "trackio"])
def test_a_resumed_run_is_one_run_in_the_tracker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tracker: str) -> None:
    if find_spec(tracker) is None:
        pytest.skip(f"{tracker} is not installed")
    from train.grpo.command import grpo
    from train.grpo.config import GrpoConfig

    monkeypatch.setenv("WANDB_MODE", "offline")
    monkeypatch.setenv("TRACKIO_DIR", str(tmp_path / "trackio"))
    small_toy(tmp_path / "toy")
    copying_problems(tmp_path / "problems.jsonl", 6)
    short = {"num_problems": 2, "group_size": 2, "max_tokens": 4, "max_steps": 4, "save_steps": 2, "logging_steps": 1}
    config = GrpoConfig.model_validate({**short, "logging": {"report_to": [tracker]}})
    run = tmp_path / "run"
    grpo(str(tmp_path / "toy"), tmp_path / "problems.jsonl", run, config)
    for name in ("model", "checkpoint-4"):
        shutil.rmtree(run / name)
    grpo(str(tmp_path / "toy"), tmp_path / "problems.jsonl", run, config)
    if tracker == "tensorboard":
        from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

        assert {path.parent for path in run.rglob("events.*")} == {run / "tensorboard"}
        events = EventAccumulator(str(run / "tensorboard"))
        events.Reload()
        assert {event.step for event in events.Scalars("train/reward")} == {1, 2, 3, 4}
    if tracker == "wandb":
        assert len({path.name for path in run.rglob("run-*.wandb")}) == 1
    if tracker == "trackio":
        import sqlite3

        with sqlite3.connect(tmp_path / "trackio/gradus.db") as database:
            assert len(database.execute("select distinct run_name from metrics").fetchall()) == 1
