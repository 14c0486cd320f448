"""A fork begins from a checkpoint's weights and curriculum, with the settings of its run but for those given."""

import shutil
from pathlib import Path

import pytest
import yaml
from support.training.generations import odd_start
from support.training.toy_runs import copying_problems, small_toy

from curate.errors import UserError
from curriculum.state.files import read

pytestmark = pytest.mark.heavy


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from train.grpo.command import grpo
    from train.grpo.config import GrpoConfig
    from train.rewards import rewards

    folder = tmp_path_factory.mktemp("fork")
    small_toy(folder / "toy")
    copying_problems(folder / "problems.jsonl", 8)
    short = {
        "num_problems": 2, "group_size": 4, "max_tokens": 6, "max_steps": 6, "save_steps": 2, "logging_steps": 1,
        "learning_rate": 1e-2, "curriculum": {"policy": "uniform"}, "saving": {"keep_checkpoints": 9},
    }  # fmt: skip
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rewards.Accuracy, "__call__", odd_start)
        grpo(str(folder / "toy"), folder / "problems.jsonl", folder / "run", GrpoConfig.model_validate(short))
    return folder


@pytest.fixture(autouse=True)
def judge(monkeypatch: pytest.MonkeyPatch) -> None:
    from train.rewards import rewards

    monkeypatch.setattr(rewards.Accuracy, "__call__", odd_start)


def forked(source: str, out: Path, **settings: object) -> None:
    from train.grpo.config import GrpoConfig
    from train.grpo.fork import fork

    fork(source, out, GrpoConfig.model_validate(settings))


def test_weights_and_curriculum_are_those_of_the_checkpoint(place: Path, tmp_path: Path) -> None:
    # a step that changes next to nothing
    forked(f"{place / 'run'}@4", tmp_path / "still", learning_rate=1e-30)
    import safetensors.torch

    before, after = (
        safetensors.torch.load_file(path / "model.safetensors")
        for path in (place / "run/checkpoint-4", tmp_path / "still/model")
    )
    assert all(value.equal(after[name]) for name, value in before.items())
    identity = yaml.safe_load((tmp_path / "still/config.yaml").read_text())
    assert identity["fork"]["step"] == 4
    assert identity["fork"]["changed"]["optimizer.learning_rate"] == [0.01, 1e-30]
    # what is not given is the run's, and the steps are those that it had left
    assert identity["config"]["curriculum"]["policy"] == "uniform"
    assert identity["config"]["max_steps"] == 2
    assert "fork of | `run` at step 4" in (tmp_path / "still/model/README.md").read_text()
    source, begun = (read(place / "run/checkpoint-4"), read(tmp_path / "still/checkpoint-2"))
    assert begun.clock["draw_number"] == source.clock["draw_number"] + 2
    assert begun.stats.num_visits.sum() >= source.stats.num_visits.sum()


def test_other_settings_act_and_a_killed_fork_resumes(place: Path, tmp_path: Path) -> None:
    settings = {"objective": "grpo", "max_steps": 4, "learning_rate": 1e-2}
    forked(f"{place / 'run'}@2", tmp_path / "run", **settings)
    weights = (tmp_path / "run/model/model.safetensors").read_bytes()
    assert yaml.safe_load((tmp_path / "run/config.yaml").read_text())["config"]["objective"] == "grpo"
    for name in ("model", "checkpoint-4"):
        shutil.rmtree(tmp_path / "run" / name)
    forked(f"{place / 'run'}@2", tmp_path / "run", **settings)
    assert (tmp_path / "run/model/model.safetensors").read_bytes() == weights


@pytest.mark.parametrize(
    ("source", "settings", "message"),
    [
        ("{run}@3", {}, "no whole checkpoint of step 3; steps with one: 2, 4, 6"),
        ("{run}/nothing@3", {}, "is no run of train grpo"),
        ("{run}@2", {"max_tokens": 7}, "sampling"),
    ],
)
def test_what_cannot_be_forked_is_one_line(
    place: Path, tmp_path: Path, source: str, settings: dict[str, object], message: str
) -> None:
    with pytest.raises(UserError, match=message):
        forked(source.format(run=place / "run"), tmp_path / "out", **settings)
