"""`gradus curate verify` as a user runs it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from curate.commands import app
from curate.errors import UserError

ROWS = [
    {"prediction": "0.75", "ground_truth": "3/4", "expected": "correct", "kind": "fraction", "id": 7},
    {"prediction": "0.7", "ground_truth": "3/4", "expected": False, "kind": "fraction"},
    {"completion": "so \\boxed{5}", "ground_truth": "6", "expected": True, "kind": "label"},
    {"completion": "so \\boxed{5}", "ground_truth": 5},
]


def _write(path: Path, *lines: str) -> Path:
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def test_rows_come_back_in_order_with_their_verdicts(tmp_path: Path) -> None:
    pairs = _write(tmp_path / "pairs.jsonl", *map(json.dumps, ROWS))
    done = CliRunner().invoke(app, ["verify", str(pairs), "--out", str(tmp_path / "out.jsonl")])
    assert done.exit_code == 0, done.output
    written = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert [row["verdict"] for row in written] == ["correct", "wrong", "wrong", "correct"]
    assert [row["extracted"] for row in written] == ["0.75", "0.7", "5", "5"]
    assert written[0]["id"] == 7
    table = {line.split()[0]: line.split()[1:] for line in done.output.splitlines() if line[:1].isalpha()}
    assert table["fraction"] == ["2", "100.00%", "0", "0", "0"]
    assert table["label"] == ["1", "0.00%", "0", "1", "0"]
    assert table["all"] == ["3", "66.67%", "0", "1", "0"]
    assert not list(tmp_path.glob("*.partial"))


def test_policy_options_change_verdicts(tmp_path: Path) -> None:
    pairs = _write(tmp_path / "pairs.jsonl", json.dumps({"prediction": "5%", "ground_truth": "5"}))
    for option, verdict in (("same_figure", "correct"), ("strict", "wrong")):
        CliRunner().invoke(app, ["verify", str(pairs), "--out", str(tmp_path / "out.jsonl"), "--percent", option])
        assert json.loads((tmp_path / "out.jsonl").read_text())["verdict"] == verdict


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{not json", "pairs.jsonl:1: not JSON"),
        ('{"ground_truth": "5"}', "pairs.jsonl:1: has neither completion nor prediction"),
        ('{"prediction": "5"}', "pairs.jsonl:1: has no ground_truth"),
        ("[1]", "pairs.jsonl:1: has neither"),
    ],
)
def test_a_bad_row_is_one_line_that_names_it_and_leaves_no_file(tmp_path: Path, line: str, message: str) -> None:
    pairs = _write(tmp_path / "pairs.jsonl", line)
    done = CliRunner().invoke(app, ["verify", str(pairs), "--out", str(tmp_path / "out.jsonl")])
    assert isinstance(done.exception, UserError)
    assert message in str(done.exception)
    assert [path.name for path in tmp_path.iterdir()] == ["pairs.jsonl"]


def test_help_has_an_example() -> None:
    assert "Example: gradus curate verify" in CliRunner().invoke(app, ["verify", "--help"]).output
