"""GRPO on a GPU: with vLLM inside the trainer it resumes from a checkpoint, and FSDP shards on one device."""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from train.runs.launch import FOLDER

pytestmark = [pytest.mark.gpu, pytest.mark.heavy, pytest.mark.timeout(600)]
Gradus = Callable[..., subprocess.CompletedProcess[str]]


def words(copier: Path, out: Path, *more: object) -> list[object]:
    data = ("--model", copier / "sft" / "model", "--data", copier / "problems.jsonl", "--out", out)
    sizes = ("--num-problems", 4, "--group-size", 4, "--max-tokens", 16, "--save-steps", 2, "--logging-steps", 1)
    return ["train", "grpo", *data, *sizes, "--learning-rate", 1e-3, "--max-steps", 4, *more]


def records(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_a_run_with_vllm_resumes_with_the_same_draws_up_to_its_first_new_completions(
    gradus: Gradus, copier: Path, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    settings = ("--vllm", "--trl", json.dumps({"vllm_gpu_memory_utilization": 0.3}))
    gradus(*words(copier, run, *settings))
    first = records(run / "draws.jsonl")
    # as after a kill behind the checkpoint of step 2
    for name in ("model", "checkpoint-4"):
        shutil.rmtree(run / name)
    gradus(*words(copier, run, *settings))
    again = records(run / "draws.jsonl")
    assert [record["step"] for record in again] == [1, 2, 3, 4]
    assert again[:2] == first[:2]
    # what step 3 trains on is decided by the checkpoint alone; kernels on a GPU need not repeat what was sampled
    assert again[2]["keys"] == first[2]["keys"]
    assert (run / "model" / "model.safetensors").is_file()


def test_sampled_and_trained_probabilities_agree(gradus: Gradus, copier: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    gradus(*words(copier, run, "--vllm", "--trl", json.dumps({"vllm_gpu_memory_utilization": 0.3})))
    name = "sampling/sampling_logp_difference/mean"
    gaps = [line[name] for line in records(run / "log.jsonl") if name in line]
    assert len(gaps) == 4
    assert max(map(float, gaps)) < 0.05  # vLLM's kernels in bfloat16 against the trainer's


def test_fsdp_on_one_device_trains_and_leaves_a_whole_model(gradus: Gradus, copier: Path, tmp_path: Path) -> None:
    from safetensors import safe_open

    config = {**yaml.safe_load((FOLDER / "fsdp.yaml").read_text()), "num_processes": 1}
    (tmp_path / "fsdp.yaml").write_text(yaml.safe_dump(config))
    launch = (Path(sys.executable).with_name("accelerate"), "launch", "--config_file", tmp_path / "fsdp.yaml")
    gradus(*words(copier, tmp_path / "run"), before=(*launch, "--main_process_port", "0", "--no_python"))
    start, end = (
        {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118  # not a mapping
        for file in (
            safe_open(folder / "model" / "model.safetensors", "pt") for folder in (copier / "sft", tmp_path / "run")
        )
    )
    end.pop("lm_head.weight", None)  # FSDP saves a tied head as well
    assert {name: value.shape for name, value in end.items()} == {name: value.shape for name, value in start.items()}
    assert any(not value.equal(start[name].to(value.dtype)) for name, value in end.items())
    assert all(value.isfinite().all() for value in end.values())
