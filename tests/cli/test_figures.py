"""`--json` leaves one JSON document on stdout, `--quiet` warnings alone; both exist wherever figures are printed."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import pytest
from support.places import ROOT

# prints to both streams, and by a child process, as libraries do
NOISY: Final = """
import subprocess, sys, typer
from curate.figures import with_figures
app = typer.Typer()
@app.command()
@with_figures
def noisy(num: int = 1):
    print("a line")
    typer.echo("warning: something is odd")
    subprocess.run([sys.executable, "-c", "print('from a child')"])
    print("to stderr", file=sys.stderr)
    return {"num": num, "name": "µ"}
app()
"""


def gradus(*words: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "gradus", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=110)


def noisy(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", NOISY, *words], capture_output=True, text=True, cwd=ROOT, timeout=60)


def test_stdout_holds_the_document_alone_whatever_else_prints() -> None:
    done = noisy("--json", "--num", "3")
    assert json.loads(done.stdout) == {"num": 3, "name": "µ"}
    for line in ("a line", "warning: something is odd", "from a child", "to stderr"):
        assert line in done.stderr


def test_quiet_keeps_warnings_and_errors() -> None:
    done = noisy("--quiet")
    assert done.stdout == ""
    assert "a line" not in done.stderr
    assert "warning: something is odd" in done.stderr
    assert json.loads(noisy("--quiet", "--json").stdout)["num"] == 1


def test_without_them_lines_go_to_stdout() -> None:
    done = noisy()
    assert done.stdout.startswith("a line\nwarning: something is odd\n")
    assert "{" not in done.stdout


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("figures")
    rows = [{"question": f"What is {n} plus {n + 1}?", "answer": str(2 * n + 1)} for n in (1, 2, 3, 3)]
    (folder / "pool.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder


def document(*words: str | Path) -> Any:  # Any: JSON
    done = gradus(*words, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_stages_funnel_and_cards_print_figures_that_agree(folder: Path) -> None:
    seen = document("curate", "ingest", folder / "pool.jsonl", "--dry-run")
    assert list(seen["sources"]) == ["pool"]
    read = document("curate", "ingest", folder / "pool.jsonl", "--out", folder / "run/ingest")
    assert (read["num_kept"], read["facts"]["num_rows"], read["facts"]["num_merged"]) == (3, 4, 1)
    assert read["next"].startswith("next: gradus curate dedup")
    again = document("curate", "ingest", folder / "pool.jsonl", "--out", folder / "run/ingest")
    assert again == {**read, "is_reused": True}
    kept = document("curate", "dedup", folder / "run/ingest", "--out", folder / "run/dedup")
    assert kept["num_in"] == kept["num_kept"] + kept["num_dropped"] == 3
    steps = document("curate", "funnel", folder / "run")
    assert [(step["stage"], step["num_kept"]) for step in steps] == [("ingest", 3), ("dedup", kept["num_kept"])]
    card = document("card", "build", folder / "run", "--out", folder / "dataset")
    assert card["num_kept"] == kept["num_kept"]
    assert document("card", "diff", folder / "run/ingest", folder / "dataset")


def test_verify_prints_its_counts(folder: Path) -> None:
    pairs = [{"prediction": answer, "ground_truth": "4", "expected": answer == "4"} for answer in ("4", "5")]
    (folder / "pairs.jsonl").write_text("".join(json.dumps(pair) + "\n" for pair in pairs))
    found = document("curate", "verify", folder / "pairs.jsonl", "--out", folder / "verdicts.jsonl")
    assert found["verdicts"] == {"correct": 1, "wrong": 1}
    assert found["kinds"]["math"]["right"] == 2


def test_an_error_is_one_line_on_stderr_and_nothing_on_stdout(folder: Path) -> None:
    done = gradus("curate", "dedup", folder / "nowhere", "--out", folder / "x", "--json")
    assert done.returncode == 1
    assert (done.stdout, done.stderr.count("\n")) == ("", 1)
