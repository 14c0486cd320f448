"""The other stages of post-training, each from the command line on the toy model: they run, and leave a model."""

import json
from pathlib import Path
from typing import Any

import pytest
from support.model_pool import pool, problem, script
from support.training.toy_runs import copying_problems, small_toy, train_copier, write_jsonl

from curate.difficulty.stage import DifficultyConfig, stage
from curate.errors import UserError
from curate.runner.run import run_stage
from demo.toy import build_toy
from gradus import app

pytestmark = [pytest.mark.heavy, pytest.mark.timeout(400)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A toy model, and an artifact with four samples of each of eight problems."""
    folder = tmp_path_factory.mktemp("stages")
    small_toy(folder / "toy")
    rows = [problem(f"Say {figure}.", str(figure)) for figure in range(8)]
    answers: dict[str, Any] = {
        row["prompt"]: [
            {"text": f"<think>{row['ground_truth'] * n}</think>\\boxed{{{row['ground_truth'] if n != 2 else 'no'}}}",
             "num_tokens": n + 4}
            for n in range(1, 5)
        ]
        for row in rows
    }  # fmt: skip
    config = DifficultyConfig(script=script(folder / "script.json", answers), k=4, early_stop=False)
    run_stage(stage(config), pool(folder / "pool", rows), folder / "difficulty")
    write_jsonl(folder / "thought.jsonl", [{"prompt": "1+1=", "completion": "<think>one, two</think>\\boxed{2}"}] * 4)
    return folder


@pytest.mark.parametrize(
    ("command", "data", "options"),
    [
        ("distill", "difficulty", []),
        ("shortest", "difficulty", ["--method", "sft"]),
        ("shortest", "difficulty", ["--method", "dpo"]),
        ("fuse", "thought.jsonl", []),
        ("sft", "thought.jsonl", ["--lora-rank", "2"]),
        ("sft", "thought.jsonl", ["--dtype", "bfloat16", "--gradient-checkpointing"]),
    ],
)
def test_a_stage_trains_and_leaves_a_model_that_loads(
    folder: Path, tmp_path: Path, command: str, data: str, options: list[str]
) -> None:
    from transformers import AutoModelForCausalLM

    out = tmp_path / "run"
    arguments = ["train", command, "--model", str(folder / "toy"), "--data", str(folder / data), "--out", str(out)]
    schedule = [
        "--batch-size",
        "4",
        "--max-steps",
        "3",
        "--logging-steps",
        "1",
        "--max-tokens",
        "64",
        "--learning-rate",
    ]
    app([*arguments, *schedule, "1e-2", *options], standalone_mode=False)
    trained = AutoModelForCausalLM.from_pretrained(out / "model")
    start = AutoModelForCausalLM.from_pretrained(folder / "toy")
    moved = [not new.equal(old) for new, old in zip(trained.parameters(), start.parameters(), strict=True)]
    assert any(moved)
    lines = [json.loads(line) for line in (out / "log.jsonl").read_text().splitlines()]
    assert [line["step"] for line in lines if "loss" in line] == [1, 2, 3]


@pytest.mark.parametrize(
    ("command", "data", "options"),
    [("sft", "thought.jsonl", []), ("shortest", "difficulty", ["--method", "dpo"])],
)
def test_every_trainer_stops_when_its_time_is_over(
    folder: Path, tmp_path: Path, command: str, data: str, options: list[str]
) -> None:
    limits = ["--batch-size", "4", "--max-steps", "9", "--logging-steps", "1", "--max-tokens", "64"]
    arguments = ["train", command, "--model", str(folder / "toy"), "--data", str(folder / data)]
    arguments += ["--out", str(tmp_path / "run")]
    app([*arguments, *limits, "--max-time-s", "1e-3", *options], standalone_mode=False)
    lines = [json.loads(line) for line in (tmp_path / "run" / "log.jsonl").read_text().splitlines()]
    assert [line["step"] for line in lines if "loss" in line] == [1]
    assert (tmp_path / "run" / "model").is_dir()


@pytest.fixture(scope="module")
def copier(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model that copies a figure, some of the time."""
    return train_copier(tmp_path_factory.mktemp("copier"))


@pytest.mark.parametrize("options", [["--lora-rank", "2"], ["--dtype", "bfloat16", "--gradient-checkpointing"]])
def test_grpo_trains_adapters_and_in_bfloat16(copier: Path, tmp_path: Path, options: list[str]) -> None:
    from transformers import AutoModelForCausalLM

    model, problems = train_copier(tmp_path / "copier"), copying_problems(tmp_path / "problems.jsonl")
    out = tmp_path / "run"
    command = [
        "train",
        "grpo",
        "--model",
        str(model),
        "--data",
        str(problems),
        "--out",
        str(out),
        "--num-problems",
        "4",
    ]
    sizes = [
        "--group-size",
        "4",
        "--max-steps",
        "2",
        "--max-tokens",
        "12",
        "--save-steps",
        "2",
        "--learning-rate",
        "1e-2",
    ]
    app([*command, *sizes, *options], standalone_mode=False)
    trained = AutoModelForCausalLM.from_pretrained(out / "model").state_dict()
    start = AutoModelForCausalLM.from_pretrained(copier).state_dict()
    # adapters are merged: the model has the start's own weights, changed
    assert trained.keys() == start.keys()
    assert any(not value.equal(start[name]) for name, value in trained.items())


def test_a_student_moves_towards_its_teacher_on_its_own_completions(folder: Path, copier: Path, tmp_path: Path) -> None:
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    problems = copying_problems(tmp_path / "problems.jsonl")
    out = tmp_path / "run"
    command = ["train", "distill-on-policy", "--model", str(folder / "toy"), "--teacher", str(copier)]
    sizes = ["--batch-size", "16", "--max-steps", "12", "--max-tokens", "8", "--learning-rate", "1e-2"]
    app([*command, "--data", str(problems), "--out", str(out), *sizes, "--logging-steps", "1"], standalone_mode=False)
    tokenizer = AutoTokenizer.from_pretrained(copier)
    ids = tokenizer("<|user|>Say 3.<|assistant|><think>3</think>", return_tensors="pt").input_ids
    wanted, start, learned = (
        AutoModelForCausalLM.from_pretrained(model)(ids).logits.log_softmax(-1)
        for model in (copier, folder / "toy", out / "model")
    )
    before, after = (
        torch.nn.functional.kl_div(own, wanted, log_target=True, reduction="batchmean") for own in (start, learned)
    )
    assert after < 0.7 * before
    lines = [json.loads(line) for line in (out / "log.jsonl").read_text().splitlines()]
    assert [line["step"] for line in lines if "loss" in line] == list(range(1, 13))


def test_a_teacher_of_another_vocabulary_is_refused(folder: Path, tmp_path: Path) -> None:
    other = build_toy(tmp_path / "other", ["banana banana banana"], hidden=32, layers=1)
    command = [
        "train",
        "distill-on-policy",
        "--model",
        str(folder / "toy"),
        "--data",
        str(folder / "thought.jsonl"),
        "--max-tokens",
        "64",
    ]
    with pytest.raises(UserError, match="has another vocabulary than the student"):
        app([*command, "--teacher", str(other), "--out", str(tmp_path / "run")], standalone_mode=False)
    with pytest.raises(UserError, match="--teacher is missing; set it"):
        app([*command, "--temperature", "0.5", "--out", str(tmp_path / "run")], standalone_mode=False)
