"""Option names of other tools lead to ours, every one of which exists."""

import re
import subprocess
import sys

import pytest
import typer
from support.places import ROOT

import gradus
from gradus.names import DECIDED, NAMES, hint


def options() -> dict[str, set[str]]:
    """The options of every command, by room and name."""
    import importlib

    found = {}
    for room in gradus.ROOMS.values():
        app = importlib.import_module(f"{room.package}.commands").app
        for name, command in typer.main.get_command(app).commands.items():  # type: ignore[attr-defined]
            found[f"{room.package} {name}"] = {opt for param in command.params for opt in param.opts}
    return found


def test_every_target_is_an_option_of_some_command() -> None:
    known = set().union(*options().values())
    assert {target for targets in NAMES.values() for target in targets} <= known
    named = {option for text in DECIDED.values() for option in re.findall(r"--[a-z][a-z.-]+", text)}
    assert named <= options()["train grpo"]


def test_a_name_stands_once_and_is_no_option_of_grpo_itself() -> None:
    names = [name for group in (*NAMES, *DECIDED) for name in group]
    assert len(names) == len(set(names))
    grpo = options()["train grpo"]
    assert not [name for name in names if f"--{name.replace('_', '-')}" in grpo - {"--beta"}]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["train", "grpo", "--num_generations", "8"], "--num_generations is --group-size here"),
        (["train", "grpo", "--beta=0.1"], "--beta is --kl-coef here"),
        (["train", "grpo", "--num-train-epochs", "3"], "a run has no epochs"),
        (["curate", "difficulty", "--max_new_tokens", "8"], "--max_new_tokens is --max-tokens here"),
    ],
)
def test_the_error_line_names_the_option_here_and_exits_as_misused(words: list[str], said: str) -> None:
    done = subprocess.run([sys.executable, "-m", "gradus", *words], capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 2
    assert said in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_command_without_the_setting_gives_no_hint() -> None:
    assert hint("--beta", options()["curate dedup"]) is None
    assert hint("--num_train_epochs", options()["curate dedup"]) is None
    assert hint("--nonsense", options()["train grpo"]) is None
