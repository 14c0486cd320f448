"""A real small model on real problems: SmolLM2-135M, four examples in the prompt, 100 problems of GSM8K, by vLLM."""

import json
from pathlib import Path
from typing import Any

import pytest
from support.model_pool import pool, problem
from support.smollm2 import smollm2

from curate.artifacts.artifact import open_artifact
from curate.config import parse
from curate.difficulty.stage import DifficultyConfig, stage
from curate.runner.run import run_stage

NUM_SHOTS, NUM_PROBLEMS = 4, 100


def read(path: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def worked(row: dict[str, str]) -> str:
    """An example: the solution without the calculator's marks, its answer in a box."""
    steps, _, answer = row["answer"].partition("####")
    plain = "".join(part.partition(">>")[2] if at else part for at, part in enumerate(steps.split("<<")))
    return f"Question: {row['question']}\nAnswer: {plain.strip()}\nSo the answer is \\boxed{{{answer.strip()}}}.\n\n"


@pytest.mark.slow
@pytest.mark.shared
@pytest.mark.timeout(1800)
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_smollm2_solves_some_of_gsm8k_and_stopping_early_saves_samples(shared: Path, tmp_path: Path) -> None:
    shots = "".join(worked(row) for row in read(shared / "data/gsm8k/train.jsonl")[:NUM_SHOTS])
    asked = read(shared / "data/gsm8k/test.jsonl")[:NUM_PROBLEMS]
    rows = [problem(row["question"], row["answer"].partition("####")[2].strip()) for row in asked]
    settings: dict[str, Any] = {
        "model": str(smollm2(tmp_path / "model")),
        "prompt_format": "raw",
        "template": shots + "Question: {prompt}\nAnswer:",
        "stop": ["\nQuestion:", "\n\n"],
        "temperature": 0.6,
        "max_tokens": 160,
        "max_model_len": 1024,
        "dtype": "bfloat16",
        "max_in_flight": 48,
        "keep": "1..7",
    }
    outcome = run_stage(stage(parse(DifficultyConfig, settings, "--")), pool(tmp_path / "pool", rows), tmp_path / "out")
    manifest = outcome.manifest
    assert manifest.num_in == NUM_PROBLEMS
    samples = open_artifact(tmp_path / "out").read("samples")
    assert 0 < (samples["verdict"] == "correct").sum() < samples.height
    assert manifest.num_kept > 0
    assert manifest.reasons["too_hard"] > 0
    assert manifest.facts["samples"] < manifest.facts["samples_of_fixed_k"]
    print(manifest.num_kept, manifest.reasons, manifest.facts)
