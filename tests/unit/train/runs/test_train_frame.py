"""The frame of a training run: refusals before a folder is claimed, and reuse of a finished run."""

from pathlib import Path
from typing import Any

import pytest
from support.training.toy_runs import small_toy

from curate.errors import UserError
from train.runs.frame import Classes, Job, Material, Parts, Start, Training, claimed, run_training
from train.tuning.sft import SftConfig


@pytest.fixture
def job(tmp_path: Path) -> Job:
    return Job("sft", str(small_toy(tmp_path / "toy")), Path("data"), tmp_path / "run")


def training(config: SftConfig, read: Any) -> Training[list[str]]:
    def classes() -> Classes:
        raise AssertionError("nothing is trained here")

    def parts(_: list[str], __: Start) -> Parts:
        raise AssertionError("nothing is trained here")

    return Training(config, config.batch_size, read, classes, parts, frozenset())


def nothing() -> Material[list[str]]:
    return Material([], "digest")


def test_unusable_data_leave_no_folder(job: Job) -> None:
    def read() -> Material[list[str]]:
        raise UserError("no rows")

    with pytest.raises(UserError, match="no rows"):
        run_training(job, training(SftConfig(), read))
    assert not job.out.exists()


def test_a_step_that_cannot_be_split_is_refused_before_data_are_read(job: Job) -> None:
    def read() -> Material[list[str]]:
        raise AssertionError("data were read")

    with pytest.raises(UserError, match="use a divisor of 32"):
        run_training(job, training(SftConfig(micro_batch_size=5), read))


@pytest.mark.parametrize(("also", "inputs"), [({}, "model and data"), ({"teacher_digest": "t"}, "models and data")])
def test_a_finished_run_is_reused_and_a_claimed_one_holds_what_it_depends_on(
    job: Job, also: dict[str, str], inputs: str, capsys: pytest.CaptureFixture[str]
) -> None:
    material = Material("", "digest", also)
    with claimed(job, material, SftConfig()) as run:
        assert run is not None
        assert all(f"{name}: {value}" in (run.folder / "config.yaml").read_text() for name, value in also.items())
        run.model.mkdir()
    with claimed(job, material, SftConfig()) as run:
        assert run is None
    assert f"model (reused: same settings, {inputs})" in capsys.readouterr().out
    with pytest.raises(UserError, match=r"data_digest: digest there, other here"):
        claimed(job, Material("", "other", also), SftConfig()).__enter__()


def test_a_finished_run_is_not_trained_again(job: Job) -> None:
    with claimed(job, nothing(), SftConfig()) as run:
        assert run is not None
        run.model.mkdir()
    run_training(job, training(SftConfig(), nothing))
