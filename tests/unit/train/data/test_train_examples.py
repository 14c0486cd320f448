"""Examples for fine-tuning, read as ingest reads problems: any format and column, with unchanged texts."""

import gzip
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from support.pools import pool_of

from curate.artifacts.artifact import open_artifact
from curate.artifacts.folder import OutFolder
from curate.artifacts.manifest import sha256_of
from curate.errors import UserError
from curate.runner.stage import decide
from train.data.examples import read_examples
from train.data.problems import read_problems
from train.data.rows import NoColumnError

PAIRS = [
    {"prompt": " Q 1?\n", "completion": " <think>a\u200b</think>\n\\boxed{1} ", "level": 1},
    {"prompt": None, "completion": "lost", "level": None},
    {"prompt": "def f():\n", "completion": "    return 1\n", "level": 3},
]
TEXTS = [(row["prompt"], row["completion"]) for row in PAIRS]


def jsonl(path: Path, rows: Sequence[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_prompts_and_completions_are_unchanged_in_every_format(tmp_path: Path) -> None:
    lines = jsonl(tmp_path / "pairs.jsonl", PAIRS)
    (tmp_path / "pairs.json").write_text(json.dumps(PAIRS))
    (tmp_path / "pairs.jsonl.gz").write_bytes(gzip.compress(lines.read_bytes()))
    pl.DataFrame(PAIRS).write_parquet(tmp_path / "pairs.parquet")
    for name in ("pairs.jsonl", "pairs.json", "pairs.jsonl.gz", "pairs.parquet"):
        rows = read_examples(tmp_path / name, "completion")
        assert rows.frame.columns == ["prompt", "completion"]
        assert rows.frame.rows() == TEXTS
        assert rows.digest == sha256_of(tmp_path / name)


def test_conversations_are_read_whole(tmp_path: Path) -> None:
    turns = [{"role": "user", "content": "Q?"}, {"role": "assistant", "content": " A "}]
    rows = [{"messages": turns, "prompt": "unread", "completion": "unread"}, {"messages": turns[:1]}]
    read = read_examples(jsonl(tmp_path / "chat.jsonl", rows), "completion").frame
    assert read.to_dicts() == [{"messages": turns}, {"messages": turns[:1]}]


def test_other_columns_are_detected_as_by_ingest_and_printed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = jsonl(tmp_path / "set.jsonl", [{"instruction": "Do.", "input": "", "output": " Done. "}])
    assert read_examples(path, "completion").frame.rows() == [("Do.", " Done. ")]
    assert capsys.readouterr().out == "set: prompt <- instruction + input, completion <- output\n"


def test_a_map_names_columns_and_changes_the_digest(tmp_path: Path) -> None:
    path = jsonl(tmp_path / "set.jsonl", [{"prompt": "no", "completion": "no", "q": {"text": "Q?"}, "a": "A"}])
    rows = read_examples(path, "completion", ["prompt=q.text", "solution=a"])
    assert rows.frame.rows() == [("Q?", "A")]
    assert rows.digest != read_examples(path, "completion").digest
    assert rows.digest == f"{sha256_of(path)} prompt=q.text solution=a"
    with pytest.raises(UserError, match=r"map\.prompt is 'r', which is no column"):
        read_examples(path, "completion", ["prompt=r"])


@pytest.mark.parametrize(
    ("rows", "column", "line"),
    [
        ([], "completion", "has no rows; give a source with at least one"),
        ([{"prompt": "Q?", "a": 1}], "completion", "has no column 'completion'; it has prompt, a"),
        ([{"prompt": "Q?", "solution": "A"}], "answer", "has no column 'answer'; it has prompt, solution"),
        ([{"prompt": 7, "completion": "A"}], "completion", "a prompt or completion is int, not text: 7"),
        ([{"prompt": "Q?", "completion": ["A"]}], "completion", "a prompt or completion is list, not text"),
        ([{"prompt": "Q?", "completion": "\ud800"}], "completion", "its rows do not form a table"),
        ([{"foo": "Q?"}], "completion", "no column looks like the problem"),
    ],
)
def test_unusable_rows_are_named(rows: list[dict[str, Any]], column: str, line: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=line):
        read_examples(jsonl(tmp_path / "set.jsonl", rows), column)


def test_a_bad_row_is_an_error_and_not_dropped(tmp_path: Path) -> None:
    path = jsonl(tmp_path / "set.jsonl", PAIRS)
    path.write_text(path.read_text() + "{\n")
    with pytest.raises(UserError, match=r"set\.jsonl:4 is broken_json .*fix or remove the row"):
        read_examples(path, "completion")


def test_an_artifact_gives_its_kept_rows_and_an_unfinished_one_is_refused(tmp_path: Path) -> None:
    identity = {"stage": "made", "version": 1, "config": {}, "inputs": {}}
    rows = pool_of([{"prompt": "Q?", "solution": " A ", "ground_truth": "A"}, {"prompt": "R?", "ground_truth": "B"}])
    with OutFolder(tmp_path / "out", identity) as out:
        reason = pl.when(pl.col("prompt") == "R?").then(pl.lit("bad"))
        out.write_batch(0, decide(rows, reason, pl.lit("")))
        for read in (lambda path: read_examples(path, "solution"), read_problems):
            with pytest.raises(UserError, match=r"holds no manifest\.json, so it is not finished"):
                read(tmp_path / "out")
        out.finish()
    found = read_examples(tmp_path / "out", "solution")
    assert found.frame.select("prompt", "solution").rows() == [("Q?", " A ")]
    assert found.digest == open_artifact(tmp_path / "out").manifest.digest
    with pytest.raises(NoColumnError, match="has no column 'completion'; it has key, prompt"):
        read_examples(tmp_path / "out", "completion")
    with pytest.raises(UserError, match="is an artifact, whose columns are known; leave --map out"):
        read_examples(tmp_path / "out", "solution", ["prompt=prompt"])
