"""Two gloo processes with the late-bound trainer: a run that is resumed goes on as the undisturbed one did."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from toy_runs import copying_problems, train_copier

from train.launch import FOLDER

pytestmark = [pytest.mark.heavy, pytest.mark.timeout(600)]
BIN = Path(sys.executable).parent


def train(folder: Path, out: Path) -> None:
    launch = ["accelerate", "launch", "--config_file", str(FOLDER / "cpu.yaml"), "--no_python", str(BIN / "gradus")]
    command = [
        "train", "grpo", "--model", str(folder / "sft" / "model"), "--data", str(folder / "problems.jsonl"),
        # three groups of four over two processes: the second group lies on both
        "--out", str(out), "--num-problems", "3", "--group-size", "4", "--max-steps", "4", "--max-tokens", "16",
        "--save-steps", "2", "--logging-steps", "1", "--learning-rate", "3e-3", "--rewards", "accuracy",
        "--rewards", "kimi_length",
    ]  # fmt: skip
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PATH": f"{BIN}:{os.environ['PATH']}"}
    done = subprocess.run([*launch, *command], capture_output=True, text=True, timeout=280, env=environment)
    assert done.returncode == 0, done.stderr[-2000:]


def test_two_processes_resume_to_the_same_draws_outcomes_and_weights(tmp_path: Path) -> None:
    train_copier(tmp_path)
    copying_problems(tmp_path / "problems.jsonl")
    run = tmp_path / "run"
    train(tmp_path, run)
    draws, weights = (run / "draws.jsonl").read_bytes(), (run / "model" / "model.safetensors").read_bytes()
    records = [json.loads(line) for line in draws.splitlines()]
    assert [record["step"] for record in records] == [1, 2, 3, 4]
    assert all(len(record["keys"]) == 3 for record in records)
    counts = [sum(record[f"num_{verdict}"]) for record in records for verdict in ("correct", "wrong", "undecided")]
    assert sum(counts) == 4 * 3 * 4
    assert sum(record["num_correct"] != [0, 0, 0] for record in records) > 0
    # as after a kill behind the checkpoint of step 2
    for name in ("model", "checkpoint-4"):
        shutil.rmtree(run / name)
    train(tmp_path, run)
    assert (run / "draws.jsonl").read_bytes() == draws
    assert (run / "model" / "model.safetensors").read_bytes() == weights
