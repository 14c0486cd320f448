"""What follows a training is said once there is a model, can be run, and asks as the run did."""

import shlex
from pathlib import Path

import pytest
import typer
import yaml

from curate.engines.prompts import TEMPLATES
from train.commands import COMMANDS, app
from train.runs.following import NEXT, following


def finished(out: Path, **config: object) -> Path:
    (out / "model").mkdir(parents=True)
    (out / "config.yaml").write_text(yaml.safe_dump({"config": config}))
    return out


@pytest.mark.parametrize("name", NEXT)
def test_the_command_that_follows_can_be_run(name: str, tmp_path: Path) -> None:
    assert name in COMMANDS
    assert following(name, tmp_path / "run") is None
    out = finished(tmp_path / "run", sampling={"max_tokens": 48})
    line = following(name, out)
    assert line is not None
    head, *words = shlex.split(line)
    assert head == "next:"
    assert words[:2] == ["gradus", "train"]
    assert str(out / "model") in words
    command = typer.main.get_command(app).commands[words[2]]  # type: ignore[attr-defined]  # of a room it is a group
    known = {option for param in command.params for option in param.opts}
    assert {word for word in words if word.startswith("--")} <= known


@pytest.mark.parametrize(
    ("config", "options"),
    [
        ({"sampling": {"max_tokens": 48}, "prompt": {"template": "{prompt}"}}, "--max-tokens 48"),
        ({"max_tokens": 9, "prompt": {"template": TEMPLATES["boxed"]}}, "--template boxed --max-tokens 9"),
        ({"prompt": {"template": "Q: {prompt}", "thinking": "off"}}, "--template 'Q: {prompt}' --thinking off"),
        ({"prompt": {"template": "Q:\n{prompt}"}}, "--template @FILE"),
    ],
)
def test_the_evaluation_asks_as_the_run_did(config: dict[str, object], options: str, tmp_path: Path) -> None:
    line = following("grpo", finished(tmp_path / "run", **config))
    assert line is not None
    assert line.partition("/evaluate ")[2] == options
