"""What the tests on a GPU share: the command in a process of its own, and a small model that vLLM can serve on CUDA."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from support.places import ROOT
from support.training.toy_runs import copying_problems, train_copier

Gradus = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="session")
def gradus() -> Gradus:
    """`gradus(words)` runs the command line; CUDA, vLLM and TRL leave a process changed, so each has its own."""

    def run(*words: object, before: tuple[object, ...] = ()) -> subprocess.CompletedProcess[str]:
        program = [*before, Path(sys.executable).with_name("gradus"), *words]
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        done = subprocess.run(list(map(str, program)), capture_output=True, text=True, timeout=550, env=environment)
        assert done.returncode == 0, done.stderr[-3000:]
        return done

    return run


@pytest.fixture(scope="session")
def copier(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with `sft/model`, which copies a figure some of the time, and `problems.jsonl`."""
    folder = tmp_path_factory.mktemp("copier")
    train_copier(folder, hidden=128, max_steps=24, learning_rate=2e-3)  # heads of 32: vLLM knows no smaller ones
    copying_problems(folder / "problems.jsonl")
    return folder
