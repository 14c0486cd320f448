"""Exports hold what each trainer documents, and lose no problem in silence."""

import json
import subprocess
import sys
from pathlib import Path
from typing import get_args, get_type_hints

import polars as pl
import pytest
from support.model_pool import pool, problem

from curate.engines.prompts import PromptConfig
from curate.errors import UserError
from data_cards.export import FORMATS, Target, export
from gradus.door import _export

TESTS = json.dumps({"style": "stdio", "tests": [{"input": "1\n", "output": "2\n"}]})
TALK = [{"role": "user", "content": "Think of 7."}, {"role": "assistant", "content": "Done."}]
ROWS = [
    problem("What is 3 + 4?", "7", pass_rate=0.25),
    problem("Print the successor of the input.", None, kind="code", tests=TESTS),
    problem("No answer is known.", None),
    problem("Double it.", "14", messages=json.dumps([*TALK, {"role": "user", "content": "Double it."}])),
]


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    return pool(tmp_path / "dataset", ROWS).folder


def exported(dataset: Path, target: Target, **prompts: str) -> list[dict[str, object]]:
    out = dataset.with_name(f"train{FORMATS[target].suffix}")
    done = export(dataset, target, out, PromptConfig(**prompts))
    rows = pl.read_ndjson(out) if out.suffix == ".jsonl" else pl.read_parquet(out)
    assert done.num_rows + sum(done.left_out.values()) == len(ROWS)
    assert rows.height == done.num_rows
    return rows.to_dicts()


def test_trl_gets_chats_and_the_columns_of_the_reward(dataset: Path) -> None:
    sums, code, talk = exported(dataset, "trl", template="{prompt} Box it.")
    assert sums["prompt"] == [{"role": "user", "content": "What is 3 + 4? Box it."}]
    assert (sums["ground_truth"], sums["kind"], sums["question"]) == ("7", "math", "What is 3 + 4?")
    assert (code["kind"], code["tests"]) == ("code", TESTS)
    assert talk["prompt"] == [*TALK, {"role": "user", "content": "Double it. Box it."}]


def test_verl_gets_its_five_fields(dataset: Path) -> None:
    rows = exported(dataset, "verl", system="Be brief.")
    assert all(set(row) == {"data_source", "prompt", "ability", "reward_model", "extra_info"} for row in rows)
    assert [row["reward_model"] for row in rows] == [
        {"style": "rule", "ground_truth": truth} for truth in ("7", "", "14")
    ]
    assert rows[0]["prompt"][0] == {"role": "system", "content": "Be brief."}  # type: ignore[index]
    assert rows[1]["extra_info"]["tests"] == TESTS  # type: ignore[index]


@pytest.mark.parametrize(
    ("target", "columns"),
    [
        ("open-instruct", {"messages", "ground_truth", "dataset", "key"}),
        ("openrlhf", {"prompt", "label", "datasource"}),
    ],
)
def test_a_format_without_a_place_for_tests_leaves_code_out(dataset: Path, target: Target, columns: set[str]) -> None:
    rows = exported(dataset, target)
    assert len(rows) == 2
    assert all(set(row) == columns for row in rows)
    assert [row.get("ground_truth", row.get("label")) for row in rows] == ["7", "14"]


def test_prime_rl_gets_info_as_json(dataset: Path) -> None:
    rows = exported(dataset, "prime-rl")
    assert [set(row) for row in rows] == [{"prompt", "answer", "info"}] * 3
    assert json.loads(str(rows[1]["info"]))["tests"] == TESTS


def test_the_file_must_have_the_targets_format_and_at_least_one_row(dataset: Path, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"verl reads parquet; name the file train\.parquet"):
        export(dataset, "verl", tmp_path / "train.jsonl", PromptConfig())
    code = pool(tmp_path / "code", [ROWS[1]]).folder
    with pytest.raises(UserError, match="no problem fits openrlhf"):
        export(code, "openrlhf", tmp_path / "train.jsonl", PromptConfig())
    assert not (tmp_path / "train.jsonl").exists()


def test_the_command_offers_every_target_and_counts_what_it_leaves_out(dataset: Path, tmp_path: Path) -> None:
    assert get_args(get_type_hints(_export)["target"]) == get_args(Target) == tuple(FORMATS)
    words = ["export", dataset, "--to", "openrlhf", "--out", tmp_path / "train.jsonl"]
    done = subprocess.run([sys.executable, "-m", "gradus", *map(str, words)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "2 problems for openrlhf (left out 1 kind code; 1 without an answer)" in done.stdout
    assert "No instruction says how to answer" in done.stdout
