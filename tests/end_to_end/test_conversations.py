"""A problem that is a conversation passes from ingest through every stage to training with all its turns."""

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from support.model_pool import script

from curate.artifacts.artifact import Artifact, open_artifact
from curate.decontaminate.stage import DecontaminateConfig
from curate.decontaminate.stage import stage as decontaminate
from curate.dedup.stage import DedupConfig
from curate.dedup.stage import stage as dedup
from curate.difficulty.stage import DifficultyConfig
from curate.difficulty.stage import stage as difficulty
from curate.engines import PromptConfig
from curate.ingest.plan import IngestConfig, plan
from curate.ingest.sources import Source
from curate.ingest.stage import stage as ingest
from curate.records import with_all_columns
from curate.review.queue import Entry
from curate.review.server import shown
from curate.runner.run import run_stage
from train.data.prompts import to_rows
from train.data.selection import right_answers
from train.tuning.sft import SftConfig, to_examples


def turns(value: int) -> list[dict[str, str]]:
    """A dialogue that ends in the same question as every other one."""
    return [
        {"role": "system", "content": "In this exercise a#b means 2a+b."},
        {"role": "user", "content": f"Compute {value}#4 for the first entry of the ledger."},
        {"role": "assistant", "content": f"It is {2 * value + 4}."},
        {"role": "user", "content": "Double it and give the result."},
    ]


def row(value: int) -> dict[str, Any]:
    reply = {"role": "assistant", "content": f"\\boxed{{{4 * value + 8}}}"}
    return {"messages": [*turns(value), reply]}


def imported(folder: Path, name: str, rows: list[dict[str, Any]]) -> Artifact:
    path = folder / f"{name}.jsonl"
    path.write_text("".join(json.dumps(each) + "\n" for each in rows))
    run_stage(ingest(IngestConfig(), [plan(Source(path=path), IngestConfig())]), None, folder / name)
    return open_artifact(folder / name)


@pytest.fixture
def pool(tmp_path: Path) -> Artifact:
    return imported(tmp_path, "pool", [row(3), row(5), row(11)])


def test_dialogues_that_end_alike_are_neither_merged_nor_duplicates(pool: Artifact, tmp_path: Path) -> None:
    assert (pool.manifest.num_kept, pool.manifest.facts["num_merged"]) == (3, 0)
    run_stage(dedup(DedupConfig()), pool, tmp_path / "dedup")
    kept = open_artifact(tmp_path / "dedup").read()
    assert kept["messages"].to_list() == pool.read()["messages"].to_list()


def test_a_benchmark_item_that_is_an_earlier_turn_is_a_leak(pool: Artifact, tmp_path: Path) -> None:
    asked = "A train leaves Ulm at nine with 48 coaches and loses 7 of them in Augsburg; how many arrive in Munich?"
    leaked = [{"role": "user", "content": asked}, {"role": "assistant", "content": "41"}, *turns(3)[-1:]]
    (tmp_path / "items.jsonl").write_text(json.dumps({"question": asked, "answer": "41"}) + "\n")
    both = imported(tmp_path, "leaky", [{"messages": leaked, "answer": "82"}, row(3)])
    config = DecontaminateConfig(against=(str(tmp_path / "items.jsonl"),))
    run_stage(decontaminate(config), both, tmp_path / "clean")
    dropped = open_artifact(tmp_path / "clean").read("dropped")
    assert dropped["prompt"].str.contains("Augsburg").to_list() == [True]


def test_the_model_and_the_trainers_are_sent_all_turns(pool: Artifact, tmp_path: Path) -> None:
    rows = pool.read().select("prompt", "ground_truth").rows()
    answers = {prompt: [f"\\boxed{{{truth}}}", "\\boxed{0}"] for prompt, truth in rows}
    config = DifficultyConfig(script=script(tmp_path / "script.json", answers), k=2, early_stop=False, keep="1..1")
    run_stage(difficulty(config), pool, tmp_path / "difficulty")
    measured = open_artifact(tmp_path / "difficulty")
    assert measured.read()["num_correct"].to_list() == [1, 1, 1]
    (first, *_) = to_rows(measured.read(), PromptConfig(template="{prompt} Box it."))
    assert first["prompt"] == [*turns(3)[:-1], {"role": "user", "content": "Double it and give the result. Box it."}]
    assert "Compute 3#4" in first["question"]
    frame = right_answers(tmp_path / "difficulty", 1).frame
    examples = {json.dumps(each["prompt"]) for each in to_examples(frame, SftConfig(), tmp_path)}
    assert examples == {json.dumps(turns(value)) for value in (3, 5, 11)}
    raw = to_examples(frame.head(1), SftConfig(prompt=PromptConfig(prompt_format="raw")), tmp_path)[0]["prompt"]
    assert raw.startswith("In this exercise a#b means 2a+b.\n\nUser: Compute")
    page = shown(Entry("key", "audit", "kept", "pool", measured.read().row(0, named=True)), {"pool": pool})
    assert "Compute 3#4" in page["prompt"]


def test_an_artifact_of_an_earlier_version_is_read_without_the_column(pool: Artifact) -> None:
    earlier = pool.read().drop("messages")
    assert with_all_columns(earlier)["messages"].to_list() == [None] * 3
    assert with_all_columns(earlier).schema["messages"] == pl.String()
    (first, *_) = to_rows(earlier, PromptConfig())
    assert first["prompt"] == [{"role": "user", "content": earlier["prompt"][0]}]


def test_a_kept_artifact_that_is_imported_again_keeps_its_conversations(pool: Artifact, tmp_path: Path) -> None:
    source = Source(path=pool.folder)
    run_stage(ingest(IngestConfig(), [plan(source, IngestConfig())]), None, tmp_path / "again")
    columns = ["key", "prompt", "messages", "ground_truth"]
    assert open_artifact(tmp_path / "again").read().select(columns).equals(pool.read().select(columns))
