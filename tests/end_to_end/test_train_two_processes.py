"""Two gloo processes with the late-bound trainer: a resumed run goes on as the undisturbed one did, and FSDP shards."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from support.places import ROOT
from support.training.toy_runs import copying_problems, train_copier

from train.runs.launch import FOLDER

pytestmark = [pytest.mark.heavy, pytest.mark.timeout(600)]
BIN = Path(sys.executable).parent


CPU = ("--config_file", FOLDER / "cpu.yaml", "--no_python", BIN / "gradus")
FSDP = (
    "--config_file",
    FOLDER / "fsdp.yaml",
    "--num_processes",
    "2",
    "--mixed_precision",
    "no",
    "--main_process_port",
    "0",
)


def launch(how: tuple[str | Path, ...], folder: Path, out: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = [
        *(("accelerate", "launch", *how) if how else (BIN / "gradus",)), "train", "grpo",
        "--model", folder / "sft" / "model",
        # three groups of four over two processes: the second group lies on both
        "--data", folder / "problems.jsonl", "--out", out, "--num-problems", "3", "--group-size", "4",
        "--max-tokens", "16", "--save-steps", "2", "--logging-steps", "1", "--learning-rate", "3e-3", *options,
    ]  # fmt: skip
    environment = {
        **os.environ, "OMP_NUM_THREADS": "1", "PATH": f"{BIN}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT)
    }  # fmt: skip
    return subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=280, env=environment)


def train(folder: Path, out: Path) -> None:
    done = launch(CPU, folder, out, "--max-steps", "4", "--rewards", "accuracy", "--rewards", "kimi_length")
    assert done.returncode == 0, done.stderr[-2000:]


def test_two_processes_resume_to_the_same_draws_outcomes_and_weights(tmp_path: Path) -> None:
    train_copier(tmp_path)
    copying_problems(tmp_path / "problems.jsonl")
    run = tmp_path / "run"
    train(tmp_path, run)
    assert json.loads((run / "environment.json").read_text())["num_processes"] == 2
    assert {path.name for path in (run / "checkpoint-2").glob("rng_state*")} == {"rng_state_0.pth", "rng_state_1.pth"}
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
    other = launch(CPU, tmp_path, run, "--max-steps", "4", "--seed", "1")
    assert other.returncode != 0
    assert other.stderr.count("holds a run with other settings") == 1
    for name in ("model", "checkpoint-4"):
        shutil.rmtree(run / name)
    alone = launch((), tmp_path, run, "--max-steps", "4", "--rewards", "accuracy", "--rewards", "kimi_length")
    assert alone.returncode == 0, alone.stderr[-2000:]
    assert "resuming at step 2 on 1 processes, 2 before" in alone.stdout
    starts = json.loads((run / "environment.json").read_text())["starts"]
    assert [(start["step"], start["num_processes"]) for start in starts] == [(0, 2), (2, 2), (2, 1)]
    assert [json.loads(line)["step"] for line in (run / "draws.jsonl").read_text().splitlines()] == [1, 2, 3, 4]


def test_fsdp_shards_over_two_processes_that_end_and_leave_a_whole_model(tmp_path: Path) -> None:
    from safetensors import safe_open

    train_copier(tmp_path)
    copying_problems(tmp_path / "problems.jsonl")
    run = tmp_path / "run"
    sharded = (*FSDP, ROOT / "tests" / "support" / "training" / "fsdp_on_cpu.py")
    done = launch(sharded, tmp_path, run, "--max-steps", "2", "--objective", "grpo")
    assert done.returncode == 0, done.stderr[-2000:]
    # written by accelerate's FSDP alone
    assert (run / "checkpoint-2" / "pytorch_model_fsdp.bin").is_file()
    start, end = (
        {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118  # not a mapping
        for file in (safe_open(folder / "model" / "model.safetensors", "pt") for folder in (tmp_path / "sft", run))
    )
    # FSDP saves a tied head as well: one tensor still, or the embedding that is loaded for both would be another
    assert end.pop("lm_head.weight").equal(end["model.embed_tokens.weight"])
    assert {name: value.shape for name, value in end.items()} == {name: value.shape for name, value in start.items()}
    assert any(not value.equal(start[name]) for name, value in end.items())
    assert all(value.isfinite().all() for value in end.values())


def test_fsdp_is_refused_where_nothing_would_be_sharded(tmp_path: Path) -> None:
    train_copier(tmp_path)
    copying_problems(tmp_path / "problems.jsonl")
    done = launch((*FSDP, "--no_python", BIN / "gradus"), tmp_path, tmp_path / "run")
    assert done.returncode != 0
    assert "accelerate shards by FSDP on GPUs only" in done.stderr
    assert not (tmp_path / "run" / "model").exists()


def test_fsdp_resumes_with_the_reference_model_that_followed_the_policy(tmp_path: Path) -> None:
    train_copier(tmp_path)
    copying_problems(tmp_path / "problems.jsonl")
    runs = tmp_path / "run", tmp_path / "resumed"
    synced = "{sync_ref_model: true, ref_model_sync_steps: 1, ref_model_mixup_alpha: 0.5}"
    options = ("--max-steps", "4", "--objective", "grpo", "--kl-coef", "0.1", "--trl", synced)
    for run in runs:
        done = launch((*FSDP, ROOT / "tests" / "support" / "training" / "fsdp_on_cpu.py"), tmp_path, run, *options)
        assert done.returncode == 0, done.stderr[-2000:]
        if run == runs[0]:
            # as after a kill behind the checkpoint of step 2
            shutil.copytree(run, runs[1], ignore=shutil.ignore_patterns("model", "checkpoint-4"))
    for name in ("model/model.safetensors", "draws.jsonl"):
        assert (runs[0] / name).read_bytes() == (runs[1] / name).read_bytes()
