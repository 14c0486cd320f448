"""What a look at the columns could mend is said after an import, with the option that mends it."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from curate.ingest.hints import hints
from curate.ingest.plan import IngestConfig, plan
from curate.ingest.sources import Source
from curate.ingest.stage import stage
from curate.runner.run import Outcome, run_stage
from curate.summary import next_command, summary

GOOD = [{"question": f"What is {n} + 1?", "answer": str(n + 1)} for n in range(150)]


def imported(folder: Path, rows: Sequence[Mapping[str, Any] | str], **source: Any) -> Outcome:
    text = "".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows)
    (folder / "pool.jsonl").write_text(text)
    planned = plan(Source(path=folder / "pool.jsonl", **source), IngestConfig())
    return run_stage(stage(IngestConfig(), [planned]), None, folder / "out")


def said(folder: Path, rows: Sequence[Mapping[str, Any] | str], **source: Any) -> str:
    return "\n".join(hints(folder / "out", imported(folder, rows, **source).manifest))


def test_nothing_is_said_of_a_clean_pool_or_of_one_lost_row_in_150(tmp_path: Path) -> None:
    assert said(tmp_path, [*GOOD, '{"question": "torn']) == ""


@pytest.mark.parametrize(
    ("rows", "loss", "fix"),
    [
        (
            [{"stem_of_it": f"Is it {n}?", "answer": "1"} for n in range(9)],
            "pool: 9 of 159 rows dropped, no_prompt: nothing in question; these rows have stem_of_it, answer: ",
            "--map 'prompt=question or stem_of_it'",
        ),
        (
            [{"question": "", "problem_id": n, "answer": "1"} for n in range(9)],
            "pool: 9 of 159 rows dropped, no_prompt: nothing in question, and no other column that could ",
            "hold a problem: these rows have problem_id, answer",
        ),
        (
            [{"question": "The same?", "answer": "1", "part": n} for n in range(9)],
            "pool: 8 of 159 rows merged, same text in question; if they are different problems, join what tells ",
            "them apart: --map 'prompt=question+COLUMN' (columns not read: part)",
        ),
        (
            [{"question": f"The {n // 2}?", "answer": str(n), "part": n} for n in range(9)],
            "pool: 4 of 159 rows dropped, conflicting_answers: one text has several answers; if the problem is in ",
            "more columns, join them: --map 'prompt=question+COLUMN' (columns not read: part)",
        ),
        (
            [{"question": f"The {n}?", "key_of_mine": "1"} for n in range(9)],
            "pool: 9 of 159 kept rows have no answer and no tests: ",
            "--map ground_truth=COLUMN (columns not read: key_of_mine)",
        ),
        (
            ['{"question": "torn'] * 5,
            "pool: 5 of 155 rows dropped, broken_json ",
            "(first: pool.jsonl:151: Invalid control character",
        ),
        (
            [{"question": 5}] * 5,
            "pool: 5 of 155 rows dropped, wrong_type: ",
            "name a column of texts or conversations with --map prompt=COLUMN",
        ),
        (
            [{"question": f"{n} has number0 of number1", "answer": "2", "figs": "1"} for n in "abc"],
            "pool: 3 of 153 rows dropped, placeholder: ",
            "name the column with the figures: --map numbers=COLUMN",
        ),
    ],
)
def test_rows_lost_for_one_reason_are_said_with_the_fix(
    rows: list[Mapping[str, Any] | str], loss: str, fix: str, tmp_path: Path
) -> None:
    assert loss + fix in said(tmp_path, [*GOOD, *rows])


def test_the_fix_that_is_said_mends_it(tmp_path: Path) -> None:
    rows = [*GOOD, *({"stem_of_it": f"Is it {n}?", "answer": "1"} for n in range(9))]
    outcome = imported(tmp_path, rows, map={"prompt": "question or stem_of_it"})
    assert (outcome.manifest.num_kept, hints(tmp_path / "out", outcome.manifest)) == (len(rows), [])


def test_the_summary_adds_up_and_ends_with_the_next_command(tmp_path: Path) -> None:
    outcome = imported(tmp_path, [*GOOD, *GOOD[:20], *[{"question": None}] * 5])
    lines = summary(outcome, tmp_path / "out").splitlines()
    assert lines[:3] == ["ingest", "  175 read = 150 kept + 20 merged + 5 dropped", "  5 dropped: no_prompt"]
    assert list(next_command(outcome, tmp_path / "out")) == [
        f"next: gradus curate dedup {tmp_path}/out --out {tmp_path}/dedup"
    ]
