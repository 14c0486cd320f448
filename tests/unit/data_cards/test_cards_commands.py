"""Commands of the card room: help, docs, and one line for a user's mistake."""

import json
import re
from pathlib import Path

import pytest
from support.places import ROOT
from support.small_run import break_text, write_run
from typer.testing import CliRunner, Result

from curate.errors import UserError
from data_cards.commands import app

COMMANDS = ("build", "push", "push-model", "pull", "trace", "report", "diff", "bump")
DOCS = ROOT / "docs" / "cards.md"


def call(*arguments: object) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def test_no_command_is_missing_here() -> None:
    assert sorted(COMMANDS) == sorted(command.name or command.callback.__name__ for command in app.registered_commands)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_an_example_and_is_in_the_docs(command: str) -> None:
    helped = " ".join(call(command, "--help").stdout.split())
    assert f"Example: gradus card {command} " in helped
    assert f"gradus card {command} " in DOCS.read_text(encoding="utf-8")


def test_every_option_in_an_example_exists() -> None:
    for command in COMMANDS:
        helped = call(command, "--help").stdout
        example, options = helped.split("Example:")[1].split("\n\n", maxsplit=1)
        for option in re.findall(r"--[a-z-]+", example):
            assert f"  {option} " in options


def test_the_room_works_from_a_run_to_a_bump(tmp_path: Path) -> None:
    run, dataset = write_run(tmp_path / "run"), tmp_path / "dataset"
    built = call("build", run, "--out", dataset, "--name", "Mine", "--tags", "a", "--tags", "b")
    assert built.exit_code == 0
    assert "1 contaminated" in built.stdout
    assert "(reused" in call("build", run, "--out", dataset, "--name", "Mine", "--tags", "a", "--tags", "b").stdout
    assert "contaminated" in call("trace", "made_up#1", dataset).stdout
    assert call("report", dataset, "--out", tmp_path / "page.html").exit_code == 0
    assert "<title>dataset</title>" in (tmp_path / "page.html").read_text()
    assert call("diff", run, dataset).stdout == "the card's text differs\n"
    assert json.loads(call("diff", run, dataset, "--json").stdout)["text"] is True
    assert call("bump", run, dataset, "--current", "v1.0.9").stdout.splitlines()[0] == "patch: v1.0.9 -> v1.0.10"


@pytest.mark.parametrize(
    "arguments",
    [
        ("build", "RUN/nothing", "--out", "OUT"),
        ("build", "RUN", "--out", "RUN"),
        ("build", "RUN", "--out", "OUT", "--max-text-bytes", "0"),
        ("build", "RUN", "--out", "OUT", "--repo", "mine"),
        ("report", "RUN", "--out", "RUN/pipeline.json/page.html"),
        ("trace", "zzzz", "RUN"),
        ("trace", "made_up#3", "RUN", "--train", "RUN"),
        ("trace", "made_up#3", "RUN", "--against", "nowhere.jsonl"),
        ("report", "RUN/nothing", "--out", "OUT/page.html"),
        ("diff", "RUN", "nowhere"),
        ("bump", "RUN", "RUN", "--current", "first"),
        ("push", "RUN", "--repo", "me/set"),
        ("push", "RUN/ingest", "--repo", "me"),
        ("pull", "--repo", "a/b/c", "--out", "OUT"),
    ],
)
def test_a_mistake_is_one_line_and_leaves_nothing(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    run = write_run(tmp_path / "run")
    before = sorted(tmp_path.rglob("*"))
    given = [part.replace("RUN", str(run)).replace("OUT", str(tmp_path / "out")) for part in arguments]
    error = call(*given).exception
    assert isinstance(error, UserError)
    assert "\n" not in str(error)
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize(
    "arguments",
    [
        ("build", "RUN", "--out", "OUT"),
        ("trace", "made_up#4", "RUN"),
        ("report", "RUN", "--out", "OUT"),
        ("diff", "RUN", "RUN"),
        ("bump", "RUN", "RUN"),
    ],
)
def test_text_that_is_no_utf8_is_one_line_and_leaves_nothing(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    run = write_run(tmp_path / "run")
    break_text(run / "difficulty")
    error = call(*(part.replace("RUN", str(run)).replace("OUT", str(tmp_path / "out")) for part in arguments)).exception
    assert isinstance(error, UserError)
    assert "UTF-8" in str(error)
    assert "\n" not in str(error)
    assert [path.name for path in tmp_path.iterdir()] == ["run"]
