"""A gradient depends neither on the number of processes nor on the size of a forward pass, for every objective."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from support.places import ROOT
from support.training.toy_runs import copying_problems, small_toy

from train.grpo.objectives import OBJECTIVES
from train.runs.launch import FOLDER

pytestmark = [pytest.mark.heavy, pytest.mark.timeout(600)]
PROGRAM = ROOT / "tests" / "support" / "training" / "gradients_by_rank.py"
WHOLE = 12
BIN = Path(sys.executable).parent


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[int, dict[str, Any]]:
    """The gradients by number of processes; those of two come from the documented `cpu.yaml`."""
    from safetensors.torch import load_file

    place = tmp_path_factory.mktemp("gradients")
    small_toy(place / "toy")
    copying_problems(place / "problems.jsonl")
    two = ("accelerate", "launch", "--config_file", FOLDER / "cpu.yaml", "--no_python", sys.executable)
    for how, out, micros in (((sys.executable,), "one", (WHOLE, 4, 3, 1)), (two, "two", (6, 3, 2))):
        command = [*how, PROGRAM, place, place / f"{out}.safetensors", *micros]
        environment = {
            **os.environ, "OMP_NUM_THREADS": "1", "PATH": f"{BIN}:{os.environ['PATH']}",
            "PYTHONPATH": f"{ROOT}:{ROOT / 'tests'}",
        }  # fmt: skip
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=280, env=environment)
        assert done.returncode == 0, done.stderr[-2000:]
    return {
        json.loads((place / f"{out}.json").read_text()): load_file(place / f"{out}.safetensors")
        for out in ("one", "two")
    }


def test_the_configuration_for_a_cpu_starts_two_processes(found: dict[int, dict[str, Any]]) -> None:
    assert set(found) == {1, 2}


@pytest.mark.parametrize("update", [0, 1], ids=["on policy", "off policy"])
@pytest.mark.parametrize("name", OBJECTIVES)
def test_processes_and_micro_batches_leave_the_gradient_as_it_is(
    found: dict[int, dict[str, Any]], name: str, update: int
) -> None:
    import torch

    wanted = found[1][f"{name}/{WHOLE}/{update}"]
    # gspo clips every completion of the second update: its range is 4e-4
    assert (wanted.norm() > 0.05) == ((name, update) != ("gspo", 1))
    others = [(1, 4), (1, 3), (1, 1), (2, 6), (2, 3), (2, 2)]
    for num_processes, micro in others:
        value = found[num_processes][f"{name}/{micro}/{update}"]
        torch.testing.assert_close(value, wanted, rtol=1e-4, atol=1e-6)
