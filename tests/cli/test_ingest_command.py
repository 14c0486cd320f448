"""`gradus curate ingest` as a command: standard input, a dry run, the sum of its rows, and what comes next."""

import json
import subprocess
import sys
from pathlib import Path

ROWS = "".join(json.dumps({"question": f"What is {n} + 1?", "answer": str(n + 1)}) + "\n" for n in range(4))
TORN = '{"question": "torn\n'


def ingest(*words: str | Path, text: str = "") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", "import gradus; gradus.main()", "curate", "ingest", *map(str, words)]
    return subprocess.run(command, input=text, capture_output=True, text=True, timeout=120)


def test_standard_input_is_read_and_the_rows_add_up(tmp_path: Path) -> None:
    done = ingest("-", "--out", tmp_path / "out", text=ROWS + TORN * 2)
    assert done.returncode == 0, done.stderr
    assert "6 read = 4 kept + 0 merged + 2 dropped" in done.stdout
    done = ingest("-", "--out", tmp_path / "twins", text=ROWS * 2)
    assert "8 read = 4 kept + 4 merged + 0 dropped" in done.stdout
    assert done.stdout.splitlines()[-1] == f"next: gradus curate dedup {tmp_path}/twins --out {tmp_path}/dedup"


def test_a_dry_run_shows_the_mapping_and_writes_nothing(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text(ROWS + '{"question": null}\n')
    for words in ((), ("--out", tmp_path / "out")):
        done = ingest(tmp_path / "a.jsonl", "--dry-run", *words)
        assert "prompt       <- question" in done.stdout
        assert "a: first 5 rows = 4 problems + 1 dropped (no_prompt 1)" in done.stdout
        assert not (tmp_path / "out").exists()


def test_a_limit_and_alternatives_are_options(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"problem": "P?", "answer": "1"}\n{"question": "Q?", "answer": "2"}\n' + ROWS)
    done = ingest(
        tmp_path / "a.jsonl", "--map", "prompt=problem or question", "--limit", "2", "--out", tmp_path / "out"
    )
    assert "prompt       <- problem or question" in done.stdout
    assert "2 read = 2 kept + 0 merged + 0 dropped" in done.stdout


def test_a_missing_out_and_an_empty_input_are_one_line(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text(ROWS)
    done = ingest(tmp_path / "a.jsonl")
    assert done.returncode == 2
    assert done.stderr.startswith(
        "gradus: missing option '--out': name the folder to write, or look first with --dry-run"
    )
    assert ingest("-", "--out", tmp_path / "out").stderr == (
        "gradus: -: standard input is empty; pipe rows into the command\n"
    )
