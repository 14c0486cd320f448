"""Evaluation from the command line: mapped columns, Hub datasets, budgets, and thinking on against thinking off."""

import json
import os
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
from huggingface_hub import HfApi
from support.hub_server import running_hub
from support.hub_state import TOKEN
from support.places import ROOT
from support.training.toy_runs import copier_folder, write_jsonl

from curate.errors import UserError
from curate.records import problem_key
from gradus import app

pytestmark = [pytest.mark.heavy, pytest.mark.timeout(400)]
STOP = "</think>\\boxed{"


@pytest.fixture(scope="module")
def copier(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with `sft/model`, which thinks of a figure and says it, and `problems.jsonl`."""
    return copier_folder(tmp_path_factory.mktemp("evaluated"))


def evaluate(copier: Path, out: Path, *options: str) -> None:
    command = ["train", "evaluate", "--model", str(copier / "sft" / "model"), "--engine", "transformers"]
    data = ["--data", str(copier / "problems.jsonl"), "--out", str(out), "--n", "4", "--max-tokens", "16"]
    app([*command, *data, *options], standalone_mode=False)


def test_a_budget_cuts_the_reasoning_that_is_longer_and_leaves_the_rest_unchanged(
    copier: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from transformers import AutoTokenizer

    out = tmp_path / "run"
    budgets = ["--budgets", "2", "--budgets", "0", "--stop-thinking", STOP, "--answer-tokens", "6"]
    evaluate(copier, out, *budgets)
    plain = pl.read_parquet(out / "samples.parquet")
    cut = pl.read_parquet(out / "budgets.parquet").join(plain, on=["key", "index"], suffix="_plain")
    assert plain.height == 40
    assert cut.height == 80
    tokenizer = AutoTokenizer.from_pretrained(copier / "sft" / "model")
    for row in cut.iter_rows(named=True):
        thought = tokenizer.encode(row["text_plain"].partition("<think>")[2].partition("</think>")[0])
        if "<think>" not in row["text_plain"] or len(thought) <= row["budget"]:
            assert row["text"] == row["text_plain"]
            assert row["verdict"] == row["verdict_plain"]
        else:
            assert row["text"].startswith(f"<think>{tokenizer.decode(thought[: row['budget']])}{STOP}")
            assert row["num_tokens"] <= row["budget"] + 6
    rows = json.loads((out / "results.json").read_text())["budgets"]["problems"]
    assert [row["budget"] for row in rows] == [0, 2, None]
    assert rows[0]["stopped_rate"] > rows[1]["stopped_rate"] >= rows[2]["stopped_rate"] == 0
    share = cut.filter(pl.col("budget") == 0).select((pl.col("verdict") == "correct").mean()).item()
    assert rows[0]["average"]["value"] == pytest.approx(share)
    assert (out / "plots" / "budgets.png").stat().st_size > 10_000
    assert "budget 0: " in capsys.readouterr().out
    evaluate(copier, out, *budgets)
    assert "no budget: " in capsys.readouterr().out


def test_thinking_on_and_off_are_two_evaluations_that_can_be_compared(
    copier: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for mode in ("on", "off"):
        evaluate(copier, tmp_path / mode, "--thinking", mode)
    texts = {mode: pl.read_parquet(tmp_path / mode / "samples.parquet") for mode in ("on", "off")}
    thinks = {mode: frame["text"].str.contains("<think>.+</think>").mean() for mode, frame in texts.items()}
    assert thinks["on"] > 0.8
    assert thinks["off"] < 0.2
    lengths = {mode: frame["num_tokens"].mean() for mode, frame in texts.items()}
    assert lengths["off"] < lengths["on"]
    capsys.readouterr()
    app(["train", "compare", str(tmp_path / "on"), str(tmp_path / "off")], standalone_mode=False)
    assert "problems: " in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--budgets", "2", "--stop-thinking", "enough"), "write </think> where the reasoning ends"),
        (("--budgets", "-1"), "--budgets"),
        (("--map", "prompt=text"), "map.prompt is 'text', which is no column"),
        (("--map", "prompt"), "write FIELD=COLUMN"),
        (("--name", "a", "--name", "b"), "--name is given 2 times for 1 sources"),
        (("--budgets", "2", "--engine", "server", "--base-url", "http://127.0.0.1:9/v1"), "counts tokens"),
    ],
)
def test_a_mistake_in_an_evaluation_is_one_line(
    copier: Path, tmp_path: Path, options: tuple[str, ...], message: str
) -> None:
    with pytest.raises(UserError, match=message):
        evaluate(copier, tmp_path / "run", *options)


def test_columns_are_mapped_as_ingest_maps_them_and_another_map_is_another_evaluation(
    copier: Path, tmp_path: Path
) -> None:
    rows = [{"a": f"Say {n}.", "b": f"Say {n}!", "sum": str(n)} for n in range(3)]
    data = write_jsonl(tmp_path / "odd.jsonl", rows)
    model = ["--model", str(copier / "sft" / "model"), "--engine", "transformers", "--n", "1", "--max-tokens", "8"]
    command = ["train", "evaluate", *model, "--data", str(data), "--out", str(tmp_path / "run")]

    def columns(prompt: str) -> list[str]:
        return ["--map", f"prompt={prompt}", "--map", "odd:ground_truth=sum"]

    app([*command, *columns("a")], standalone_mode=False)
    keys = {problem_key(row["a"], "math", None) for row in rows}
    assert set(pl.read_parquet(tmp_path / "run" / "samples.parquet")["key"]) == keys
    with pytest.raises(UserError, match="map"):
        app([*command, *columns("b")], standalone_mode=False)


def test_a_hub_dataset_is_evaluated_at_the_requested_commit(copier: Path, tmp_path: Path) -> None:
    card = "---\nconfigs:\n- config_name: default\n  data_files:\n  - split: test\n    path: data.jsonl\n---\n"
    with running_hub() as hub:
        HfApi(endpoint=hub.url, token=TOKEN).create_repo("someone/sums", repo_type="dataset")
        commits = [
            hub.commit("someone/sums", "rows", {"README.md": card.encode(), "data.jsonl": _rows(n)}) for n in (2, 3)
        ]
        done = {
            name: subprocess.run(
                [sys.executable, "-c", "import gradus; gradus.main()", "train", "evaluate", "--model",
                 copier / "sft" / "model", "--engine", "transformers", "--n", "1", "--max-tokens", "8",
                 "--data", "someone/sums", "--split", split, "--revision", revision, "--out", tmp_path / name],
                capture_output=True, text=True, cwd=ROOT, timeout=200,
                env={**os.environ, "HF_ENDPOINT": hub.url, "HF_TOKEN": TOKEN, "HF_HOME": str(tmp_path / "home")},
            )
            for name, split, revision in (("old", "test", commits[0]), ("none", "train", "main"))
        }  # fmt: skip
    assert done["old"].returncode == 0, done["old"].stderr
    results = json.loads((tmp_path / "old" / "results.json").read_text())
    assert results["data_digest"] == {"someone/sums": f"someone/sums@{commits[0]}/None/test"}
    assert results["benchmarks"]["someone/sums"]["num_problems"] == 2
    assert done["none"].returncode == 1
    assert "check the id, subset and split" in done["none"].stderr.splitlines()[-1]


def _rows(num: int) -> bytes:
    return "".join(json.dumps({"question": f"Say {n}.", "answer": str(n)}) + "\n" for n in range(num)).encode()


def test_an_evaluation_says_why_completions_were_not_correct_and_what_to_change(
    copier: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # the last --max-tokens counts
    evaluate(copier, tmp_path / "short", "--max-tokens", "4")
    said = capsys.readouterr().out
    figures = json.loads((tmp_path / "short" / "results.json").read_text())["benchmarks"]["problems"]
    num = sum(figures["reasons"]["wrong"].values())
    assert figures["reasons"]["wrong"]["truncated"] > 0.5 * figures["num_completions"]
    assert f"wrong {num / figures['num_completions']:.0%}: truncated " in said
    assert "of completions are cut off at --max-tokens" in said
    evaluate(copier, tmp_path / "whole")
    assert "cut off at --max-tokens" not in capsys.readouterr().out
    # results of a version before the reasons are still readable
    path = tmp_path / "short" / "results.json"
    results = json.loads(path.read_text())
    del results["benchmarks"]["problems"]["reasons"]
    path.write_text(json.dumps(results))
    evaluate(copier, tmp_path / "short", "--max-tokens", "4")
    assert "truncated " not in capsys.readouterr().out
