"""The commands of the train room: what follows a training is said, and can be run."""

import shlex
from pathlib import Path

import pytest
import typer

from train.commands import COMMANDS, NEXT, app, say_next


@pytest.mark.parametrize("name", NEXT)
def test_the_command_that_follows_is_said_once_there_is_a_model(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert name in COMMANDS
    out = tmp_path / "run"
    say_next(name, out)
    assert not capsys.readouterr().out
    (out / "model").mkdir(parents=True)
    say_next(name, out)
    head, *words = shlex.split(capsys.readouterr().out)
    assert head == "next:"
    assert words[:2] == ["gradus", "train"]
    assert str(out / "model") in words
    command = typer.main.get_command(app).commands[words[2]]  # type: ignore[attr-defined]  # of a room it is a group
    known = {option for param in command.params for option in param.opts}
    assert {word for word in words if word.startswith("--")} <= known
