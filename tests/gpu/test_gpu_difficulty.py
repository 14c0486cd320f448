"""Difficulty through vLLM on CUDA: no sample is lost, a second run reuses them, and the stage keeps up with vLLM."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from support.places import ROOT

from curate.artifacts.artifact import open_artifact, scan_part

pytestmark = [pytest.mark.gpu, pytest.mark.heavy, pytest.mark.timeout(600)]
Gradus = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def measured(gradus: Gradus, copier: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The imported pool and what difficulty made of it."""
    folder = tmp_path_factory.mktemp("measured")
    gradus("curate", "ingest", copier / "problems.jsonl", "--out", folder / "pool")
    measure(gradus, copier, folder)
    return folder / "pool", folder / "difficulty"


def measure(gradus: Gradus, copier: Path, folder: Path) -> str:
    words = ("--model", copier / "sft" / "model", "--engine", "vllm", "--dtype", "float32", "--max-tokens", 16)
    band = ("--k", 8, "--keep", "0..8", "--no-early-stop", "--gpu-memory-utilization", 0.3)
    return gradus("curate", "difficulty", folder / "pool", "--out", folder / "difficulty", *words, *band).stdout


def test_every_problem_is_kept_or_dropped_once_with_all_its_samples(measured: tuple[Path, Path]) -> None:
    pool, difficulty = measured
    made = open_artifact(difficulty).manifest
    assert made.num_kept + made.num_dropped == open_artifact(pool).manifest.num_kept == 10
    samples = scan_part(difficulty, "samples").collect()
    assert samples.group_by("key").len()["len"].to_list() == [8] * 10
    assert set(samples["verdict"]) <= {"correct", "wrong"}
    assert samples["text"].n_unique() > 20  # each sample has a seed of its own


def test_a_second_run_reuses_the_artifact(gradus: Gradus, copier: Path, measured: tuple[Path, Path]) -> None:
    before = (measured[1] / "manifest.json").read_bytes()
    assert "reused" in measure(gradus, copier, measured[1].parent)
    assert (measured[1] / "manifest.json").read_bytes() == before


def test_the_stage_keeps_the_share_of_raw_vllm_that_the_benchmark_demands() -> None:
    command = [sys.executable, ROOT / "benchmarks" / "difficulty.py", "--problems", "1000"]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=550, cwd=ROOT)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
