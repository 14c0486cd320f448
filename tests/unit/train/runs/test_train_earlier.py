"""A run folder that an earlier version wrote, with its settings at the top level, resumes and is not refused."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from curate.errors import UserError
from train.grpo.config import GrpoConfig
from train.runs.checkpoints import mark_checkpoint
from train.runs.differences import difference
from train.runs.earlier import in_current_form
from train.runs.folder import CONFIG, RunFolder
from train.runs.settings import TrainerConfig
from train.tuning.distill import DistillConfig
from train.tuning.on_policy import OnPolicyConfig

WRITTEN = Path(__file__).parents[3] / "cases" / "earlier_runs"
GRPO = GrpoConfig.model_validate(
    {
        "objective": "dapo",
        "max_steps": 4,
        "generation": {"num_problems": 4, "group_size": 4, "updates": 2},
        "sampling": {"max_tokens": 12, "temperature": 0.7, "top_k": 20},
        "rewards": {"names": ["accuracy", "overlong"], "weights": [2, 1], "overlong_cache": 4},
        "optimizer": {"learning_rate": 1e-2, "warmup_steps": 1},
        "lora": {"rank": 2},
        "logging": {"steps": 1},
        "saving": {"steps": 2},
        "probe": {"n": 2},
        "verify": {"unevaluated": "accept", "asked_form": "ignored"},
        "prompt": {"thinking": "off"},
        "trl": {"adam_beta2": 0.9},
        "curriculum": {"policy": "learnability", "p0": 0.65},
    }
)
ON_POLICY = OnPolicyConfig(teacher="runs/teacher", divergence=0.5, temperature=0.8, max_steps=7, batch_size=4)
DISTILL = DistillConfig.model_validate(
    {"per_problem": 2, "max_steps": 7, "optimizer": {"learning_rate": 1e-3}, "packing": True}
)
RUNS = [
    ("grpo.yaml", "grpo", GRPO, {}),
    ("distill_on_policy.yaml", "distill-on-policy", ON_POLICY, {"teacher_digest": "3"}),
    ("distill.yaml", "distill", DISTILL, {}),
]


def identity(command: str, config: TrainerConfig, also: dict[str, str]) -> dict[str, Any]:
    digests = {"model_digest": "1", "data_digest": "2"}
    settings = {**config.fingerprinted(), **also}
    return {"command": command, "model": "runs/sft/model", "data": "pool.jsonl", **digests, "config": settings}


@pytest.mark.parametrize(("file", "command", "config", "also"), RUNS)
def test_settings_of_an_earlier_run_get_their_current_places(
    file: str, command: str, config: TrainerConfig, also: dict[str, str]
) -> None:
    now = identity(command, config, also)
    assert in_current_form(yaml.safe_load((WRITTEN / file).read_text())) == now
    assert in_current_form(now) == now


@pytest.mark.parametrize(("file", "command", "config", "also"), RUNS)
def test_an_earlier_run_resumes_and_a_changed_one_is_refused_by_the_current_name(
    tmp_path: Path, file: str, command: str, config: TrainerConfig, also: dict[str, str]
) -> None:
    written = (WRITTEN / file).read_text()
    (tmp_path / CONFIG).write_text(written)
    (tmp_path / "checkpoint-2").mkdir()
    mark_checkpoint(tmp_path / "checkpoint-2", 2)
    with RunFolder(tmp_path, identity(command, config, also)) as run:
        assert run.checkpoint() == tmp_path / "checkpoint-2"
    assert (tmp_path / CONFIG).read_text() == written
    optimizer = config.optimizer.model_copy(update={"max_grad_norm": 0.5})
    other = config.model_copy(update={"optimizer": optimizer})
    with (
        pytest.raises(UserError, match=r"optimizer\.max_grad_norm: 1\.0 there, 0\.5 here"),
        RunFolder(tmp_path, identity(command, other, also)),
    ):
        pass


@pytest.mark.parametrize("name", ["teacher", "divergence", "temperature"])
def test_what_on_policy_distillation_learned_from_is_compared(name: str) -> None:
    earlier = in_current_form(yaml.safe_load((WRITTEN / "distill_on_policy.yaml").read_text()))
    changed = {"teacher": "runs/other", "divergence": 0.25, "temperature": 0.25}[name]
    other = identity("distill-on-policy", ON_POLICY.model_copy(update={name: changed}), {"teacher_digest": "3"})
    assert str(difference(earlier, other)).startswith(f"{name}: ")


def test_an_evaluation_and_a_folder_of_other_commands_stay_as_they_are() -> None:
    evaluation = {"command": "evaluate", "config": {"temperature": 0.6, "max_tokens": 9, "template": "{prompt}"}}
    assert in_current_form(evaluation) == evaluation
