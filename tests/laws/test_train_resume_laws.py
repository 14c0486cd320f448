"""A training run that is stopped anywhere and resumed is the run that was not: same weights, draws and log lines."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import pytest
from support.training.generations import half
from support.training.resuming import assert_same_run, copies_of
from support.training.toy_runs import copying_problems, small_toy, write_jsonl

from curate.errors import UserError
from train.grpo.command import grpo
from train.grpo.config import GrpoConfig
from train.rewards import rewards
from train.tuning.sft import SftConfig, sft

pytestmark = [pytest.mark.heavy, pytest.mark.timeout(900)]

SYNCED: Final = {"sync_ref_model": True, "ref_model_sync_steps": 2, "ref_model_mixup_alpha": 0.5}
REPETITION: Final = ["accuracy", "repetition"]
EVERYTHING: Final = {
    "objective": "dapo", "kl_coef": 0.1, "trl": SYNCED, "rewards": ["accuracy", "overlong", "kimi_length"],
    "overlong_cache": 4, "length_warmup_steps": 3, "refill_rounds": 1, "updates_per_generation": 2,
    "micro_batch_size": 2, "logging_steps": 3, "save_steps": 2, "max_steps": 7, "probe_steps": 2,
    "curriculum": {"probe_size": 3, "canaries": 0.2},
}  # fmt: skip
# every objective, reward and setting in one of them; save_steps and logging_steps do not divide one another in some
SETTINGS: Final[Mapping[str, Mapping[str, Any]]] = {
    "dr_grpo": {"objective": "dr_grpo"},
    "grpo, KL": {"objective": "grpo", "kl_coef": 0.1, "rewards": ["accuracy", "kimi_length"], "length_warmup_steps": 2},
    "grpo, synced reference": {"objective": "grpo", "kl_coef": 0.1, "trl": SYNCED, "save_steps": 1},
    "grpo, LoRA": {"objective": "grpo", "kl_coef": 0.1, "lora_rank": 2, "logging_steps": 3},
    "dapo, refill": {"objective": "dapo", "refill_rounds": 2, "rewards": ["accuracy", "overlong"], "overlong_cache": 4},
    "dapo, passes": {"objective": "dapo", "passes_per_generation": 2, "max_steps": 4},
    "kimi, updates": {"objective": "kimi", "updates_per_generation": 2, "max_steps": 5, "rewards": REPETITION},
    "gspo, micro-batches": {"objective": "gspo", "micro_batch_size": 2, "rewards": ["accuracy", "think_format"]},
    "rloo, probe": {"objective": "rloo", "probe_steps": 2, "curriculum": {"probe_size": 3}},
    "reinforce": {"objective": "reinforce", "rewards": ["accuracy", "language", "think_flag"], "logging_steps": 5},
    "raft": {
        "objective": "raft", "updates_per_generation": 2, "passes_per_generation": 2, "save_steps": 4, "max_steps": 9,
        "logging_steps": 3,
    },
    "pass_at_k, updates": {"objective": "pass_at_k", "pass_k": 2, "updates_per_generation": 2},
    "reinforce_pp, refill": {"objective": "reinforce_pp", "refill_rounds": 1},
    "dr_grpo, screen and mix": {
        "objective": "dr_grpo", "screen": 2, "refill_rounds": 2, "updates_per_generation": 2,
        "curriculum": {"mix": "adaptive", "mix_by": "ground_truth", "canaries": 0.2, "suspect_alpha": 0.2},
    },
}  # fmt: skip
# their losses and advantages read the batch alone, as those above: tried with `-m slow`
ALIKE: Final[Mapping[str, Mapping[str, Any]]] = {
    name: {"objective": name, "updates_per_generation": 2}
    for name in ("cispo", "sapo", "luspo", "vespo", "maxrl", "gdpo", "gmpo")
}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("resume")
    small_toy(folder / "toy")
    copying_problems(folder / "problems.jsonl")
    return folder


@pytest.fixture(autouse=True)
def judge(monkeypatch: pytest.MonkeyPatch) -> None:
    # an untrained model has signal, and undecided answers
    monkeypatch.setattr(rewards.Accuracy, "__call__", half)


def config(settings: Mapping[str, Any]) -> GrpoConfig:
    short = {
        "num_problems": 2, "group_size": 4, "max_tokens": 8, "max_steps": 4, "save_steps": 2, "logging_steps": 1,
        "learning_rate": 1e-2,
    }  # fmt: skip
    return GrpoConfig.model_validate({**short, **settings})


def stopped_and_resumed(place: Path, folder: Path, settings: Mapping[str, Any], *, everywhere: bool) -> int:
    """Number of points at which the run was stopped; each resumed copy is compared to it."""
    run, asked = folder / "run", config(settings)
    with copies_of(run, folder) as copies:
        grpo(str(place / "toy"), place / "problems.jsonl", run, asked)
    saved = [number for number, copy in enumerate(copies) if copy.name.endswith("saved")]
    # before the first checkpoint, right after it, in the step after that, and when only the model is missing
    chosen = copies if everywhere else [copies[number] for number in (0, saved[0], saved[0] + 1, -1)]
    for copy in chosen:
        grpo(str(place / "toy"), place / "problems.jsonl", copy, asked)
        assert_same_run(copy, run)
    return len(chosen)


@pytest.mark.parametrize("name", SETTINGS)
def test_every_setting_resumes_to_the_same_run(place: Path, tmp_path: Path, name: str) -> None:
    assert stopped_and_resumed(place, tmp_path, SETTINGS[name], everywhere=False) == 4


def test_a_run_with_everything_resumes_from_between_any_two_steps(place: Path, tmp_path: Path) -> None:
    assert stopped_and_resumed(place, tmp_path, EVERYTHING, everywhere=True) > 12


def test_benchmarks_while_training_change_nothing_and_resume(place: Path, tmp_path: Path) -> None:
    benchmark = write_jsonl(
        tmp_path / "exam.jsonl", [{"question": f"Say {i}.", "answer": str(i)} for i in range(20, 25)]
    )
    settings = {"objective": "dr_grpo", "max_steps": 5, "curriculum": {"probe_size": 2}}
    watched = {**settings, "eval_data": [str(benchmark)], "eval_steps": 2, "eval_n": 3}
    plain, run = tmp_path / "plain", tmp_path / "run"
    grpo(str(place / "toy"), place / "problems.jsonl", plain, config(settings | {"probe_steps": 2, "probe": {"n": 3}}))
    with copies_of(run, tmp_path) as copies:
        grpo(str(place / "toy"), place / "problems.jsonl", run, config(watched))
    assert (run / "model/model.safetensors").read_bytes() == (plain / "model/model.safetensors").read_bytes()
    assert (run / "draws.jsonl").read_bytes() == (plain / "draws.jsonl").read_bytes()
    lines = [json.loads(line) for line in (run / "evaluations.jsonl").read_text().splitlines()]
    assert [(line["step"], line["benchmark"], len(line["num_correct"])) for line in lines] == [
        (step, "exam", 5) for step in (0, 2, 4, 5)
    ]
    assert all(set(line["num_judged"].values()) <= {0, 1, 2, 3} for line in lines)
    best = json.loads((run / "best.json").read_text())
    assert best["average"] == max(line["average"] for line in lines)
    assert best["step"] == 0 or (run / best["checkpoint"]).is_dir()
    for copy in copies[:: max(1, len(copies) // 4)]:
        grpo(str(place / "toy"), place / "problems.jsonl", copy, config(watched))
        assert_same_run(copy, run)
        for name in ("evaluations.jsonl", "best.json"):
            assert (copy / name).read_bytes() == (run / name).read_bytes()


def test_a_finished_run_goes_on_with_more_steps_as_if_they_had_been_planned(place: Path, tmp_path: Path) -> None:
    for folder, steps in (("grown", 3), ("grown", 6), ("planned", 6)):
        grpo(
            str(place / "toy"),
            place / "problems.jsonl",
            tmp_path / folder,
            config({"objective": "dapo", "max_steps": steps}),
        )
    grown, planned = tmp_path / "grown", tmp_path / "planned"
    for name in ("model/model.safetensors", "draws.jsonl"):
        assert (grown / name).read_bytes() == (planned / name).read_bytes()
    assert (grown / "model-3" / "model.safetensors").is_file()
    falling = {"optimizer": {"schedule": "linear"}}
    grpo(str(place / "toy"), place / "problems.jsonl", tmp_path / "falling", config({**falling, "max_steps": 3}))
    with pytest.raises(UserError, match="has 3 steps of a linear schedule"):
        grpo(str(place / "toy"), place / "problems.jsonl", tmp_path / "falling", config({**falling, "max_steps": 6}))
    with pytest.raises(UserError, match=r"max_steps: 6 there, 5 here"):
        grpo(str(place / "toy"), place / "problems.jsonl", grown, config({"objective": "dapo", "max_steps": 5}))


@pytest.mark.slow
@pytest.mark.parametrize("name", [*SETTINGS, *ALIKE])
def test_every_setting_resumes_from_between_any_two_steps(place: Path, tmp_path: Path, name: str) -> None:
    assert stopped_and_resumed(place, tmp_path, {**SETTINGS, **ALIKE}[name], everywhere=True) > 4


def test_every_objective_and_reward_is_tried() -> None:
    from train.grpo.objectives import OBJECTIVES

    tried = [*SETTINGS.values(), *ALIKE.values(), EVERYTHING]
    assert {settings["objective"] for settings in tried} == set(OBJECTIVES)
    # episodes that did not end are those of agents: tests/end_to_end/test_train_agents.py
    of_answers = set(rewards.REWARDS) - {"unfinished"}
    assert {name for settings in tried for name in settings.get("rewards", ["accuracy"])} == of_answers


def test_fine_tuning_resumes_to_the_same_run(place: Path, tmp_path: Path) -> None:
    data = write_jsonl(
        tmp_path / "data.jsonl", [{"prompt": f"Say {i}.", "completion": f"It is {i}."} for i in range(10)]
    )
    asked = SftConfig(max_steps=7, batch_size=4, save_steps=2, logging_steps=3, learning_rate=1e-2)
    run = tmp_path / "run"
    with copies_of(run, tmp_path) as copies:
        sft(str(place / "toy"), data, run, asked)
    for copy in copies:
        sft(str(place / "toy"), data, copy, asked)
        assert_same_run(copy, run)


def test_a_checkpoint_without_the_reference_is_refused_once_that_was_replaced(place: Path, tmp_path: Path) -> None:
    from curate.errors import UserError
    from train.grpo.loss.reference import load_reference

    with pytest.raises(UserError, match=r"holds no reference\.safetensors"):
        load_reference(None, tmp_path, is_initial=False)
    load_reference(None, tmp_path, is_initial=True)


@pytest.mark.parametrize(
    ("option", "message"), [({"kl_coef": 0.0}, "needs a KL"), ({"lora_rank": 2}, "which adapters lack")]
)
def test_a_synced_reference_that_cannot_be_is_refused(option: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        config({"objective": "grpo", "trl": SYNCED, **option})
