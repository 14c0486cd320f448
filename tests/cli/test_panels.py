"""Help in panels: every option once, under the heading of what it sets, as wide as the terminal."""

import os
import re
import subprocess
import sys

import pytest
from typer.main import get_command
from typer.testing import CliRunner

import gradus
from train.commands import app as train

HEADING = re.compile(r"^(\w[\w ]*):$", re.MULTILINE)


def help_of(*command: str) -> str:
    result = CliRunner().invoke(gradus.app, [*command, "--help"])
    assert result.exit_code == 0, result.output
    return result.output


def panels(text: str) -> dict[str, str]:
    _, *parts = HEADING.split(text)
    return dict(zip(parts[::2], parts[1::2], strict=True))


def test_options_stand_under_the_heading_of_what_they_set() -> None:
    found = panels(help_of("train", "grpo"))
    assert {"Model", "Options"} & set(found) == set()  # grpo's model is an input, and nothing is left over
    for heading, option in {
        "Input and output": "--out",
        "Optimizer": "--learning-rate",
        "Objective": "--kl-coef",
        "Generation": "--group-size",
        "Sampling": "--temperature",
        "Curriculum": "--adopt-dataset",
        "Compute": "--micro-batch-size",
        "Verifier": "--judge",
    }.items():
        assert f"  {option} " in found[heading], heading
    assert "  --gpu-memory-utilization " in panels(help_of("curate", "difficulty"))["Model"]


def test_no_option_is_lost_or_listed_twice() -> None:
    text = help_of("train", "grpo")
    command = get_command(train).commands["grpo"]  # type: ignore[attr-defined]  # of a room it is a group
    for param in command.params:
        if not param.hidden:
            assert len(re.findall(rf"^  {re.escape(param.opts[-1])}\b(?![.-])", text, re.MULTILINE)) == 1, param.opts


@pytest.mark.parametrize("columns", [80, 160])
def test_help_is_as_wide_as_the_terminal(columns: int) -> None:
    words = [sys.executable, "-m", "gradus", "curate", "difficulty", "--help"]  # a runner in this process is 80 wide
    done = subprocess.run(
        words, capture_output=True, text=True, check=True, env={**os.environ, "COLUMNS": f"{columns}"}
    )
    lines = done.stdout.splitlines()
    assert columns - 12 < max(map(len, lines)) <= columns


def test_a_command_without_settings_has_one_list() -> None:
    assert list(panels(help_of("curate", "funnel"))) == ["Arguments", "Options"]
