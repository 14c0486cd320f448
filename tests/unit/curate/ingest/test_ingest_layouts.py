"""Unlike files of a folder, columns that are first filled late, and rows of two sets in one file lose nothing."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from support.interruption import cut_everywhere

import curate.ingest.stage
from curate.artifacts.artifact import Artifact, open_artifact
from curate.ingest.hints import hints
from curate.ingest.plan import IngestConfig, plan, read_problems
from curate.ingest.preview import preview
from curate.ingest.sources import Source
from curate.ingest.stage import stage
from curate.runner.run import run_stage

Rows = Sequence[Mapping[str, Any]]


def jsonl(path: Path, rows: Rows) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def imported(out: Path, *sources: Source) -> Artifact:
    plans = [plan(source, IngestConfig()) for source in sources]
    run_stage(stage(IngestConfig(), plans), None, out)
    return open_artifact(out)


def pairs(artifact: Artifact) -> list[tuple[str, str]]:
    return artifact.read().select("prompt", "ground_truth").rows()


def late(column: str, num_rows: int = 600, first: int = 250, **early: Any) -> list[dict[str, Any]]:
    plain = [{"question": f"What is {n}?", **early} for n in range(num_rows)]
    return [row if n < first else {**row, column: str(n)} for n, row in enumerate(plain)]


def test_an_answer_column_that_begins_late_is_read(tmp_path: Path) -> None:
    pool = imported(tmp_path / "out", Source(path=jsonl(tmp_path / "a.jsonl", late("answer"))))
    assert pool.read()["ground_truth"].to_list() == [None] * 250 + [str(n) for n in range(250, 600)]
    (fact,) = pool.manifest.facts["sources"]
    assert fact["map"] == {"prompt": ["question"], "ground_truth": ["answer"]}
    assert fact["map_changed_at_row"] == 250
    assert "row 251 has columns that the first rows lack" in "\n".join(hints(pool.folder, pool.manifest))


def test_a_column_that_parquet_leaves_null_until_late_is_read(tmp_path: Path) -> None:
    rows = [{"question": f"{n}?", "answer": None if n < 300 else str(n)} for n in range(400)]
    pl.DataFrame(rows, infer_schema_length=None).write_parquet(tmp_path / "a.parquet")
    pool = imported(tmp_path / "out", Source(path=tmp_path / "a.parquet"))
    assert pool.read()["ground_truth"].null_count() == 300


def test_a_field_inside_a_table_that_begins_late_is_read(tmp_path: Path) -> None:
    rows = [{"question": f"{n}?", "reward_model": {"style": "rule"}} for n in range(400)]
    rows = [row if n < 300 else {**row, "reward_model": {"ground_truth": "7"}} for n, row in enumerate(rows)]
    pool = imported(tmp_path / "out", Source(path=jsonl(tmp_path / "a.jsonl", rows)))
    assert pool.read()["ground_truth"].drop_nulls().to_list() == ["7"] * 100


def test_options_that_begin_late_are_read_though_all_rows_have_answers(tmp_path: Path) -> None:
    rows = [{"question": f"{n}?", "answer": "1"} for n in range(300)]
    rows.append({"question": "Which?", "answer": "x", "choices": ["w", "x"]})  # type: ignore[dict-item]  # JSON
    last = imported(tmp_path / "out", Source(path=jsonl(tmp_path / "a.jsonl", rows))).read().row(-1, named=True)
    assert (last["choices"], last["ground_truth"]) == (["w", "x"], "B")


def test_an_instruction_column_that_begins_late_is_not_taken_for_the_problem(tmp_path: Path) -> None:
    rows = [{"question": f"{n}?", "answer": str(n)} for n in range(330)]
    rows = [row if n < 300 else {"prompt": "You are an expert.", **row} for n, row in enumerate(rows)]
    pool = imported(tmp_path / "out", Source(path=jsonl(tmp_path / "a.jsonl", rows)))
    assert pool.read()["prompt"].to_list() == [f"{n}?" for n in range(330)]


def test_columns_of_no_field_do_not_change_the_plan(tmp_path: Path) -> None:
    rows = [{"question": f"{n}?", "answer": "1", f"key{n}": n} for n in range(900)]
    pool = imported(tmp_path / "out", Source(path=jsonl(tmp_path / "a.jsonl", rows)))
    assert pool.manifest.num_kept == 900
    assert "map_changed_at_row" not in pool.manifest.facts["sources"][0]


def test_other_readers_see_late_columns_too(tmp_path: Path) -> None:
    found = plan(Source(path=jsonl(tmp_path / "a.jsonl", late("answer"))), IngestConfig())
    truths = [problem["ground_truth"] for _, problem in read_problems(found, IngestConfig())]
    assert truths[249:251] == [None, "250"]


def test_an_import_whose_plan_changes_leaves_the_same_bytes_wherever_it_is_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(curate.ingest.stage, "CHUNK_ROWS", 120)
    monkeypatch.setattr("curate.ingest.plan.NUM_GUESSED_FROM", 20)
    sources = [
        Source(path=jsonl(tmp_path / "a.jsonl", late("answer", 360, 250))),
        Source(path=jsonl(tmp_path / "b.jsonl", late("solution", 100, 50, answer="1"))),
    ]
    wanted = contents(imported(tmp_path / "undisturbed", *sources).folder)
    cuts = 0
    for cut in cut_everywhere(lambda number: imported(tmp_path / str(number), *sources)):
        assert contents(imported(tmp_path / str(cut), *sources).folder) == wanted
        cuts += 1
    assert cuts > 8


def contents(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_files_of_a_folder_with_other_columns_have_maps_of_their_own(tmp_path: Path) -> None:
    pool = tmp_path / "pool"
    pool.mkdir()
    boilerplate = {"prompt": "You are an expert."}
    jsonl(pool / "a.jsonl", [{"question": f"Is it {n}?", "answer": str(n)} for n in range(3)])
    jsonl(pool / "b.jsonl", [{**boilerplate, "problem_text": f"Find {n}!", "final_answer": str(n)} for n in range(3)])
    jsonl(pool / "c.jsonl", [{"question": "Which?", "A": "w", "B": "x", "C": "y", "D": "z", "label": "C"}])
    jsonl(pool / "notes.jsonl", [{"author": "me"}])
    found = imported(tmp_path / "out", Source(path=pool))
    assert pairs(found) == [
        *((f"Is it {n}?", str(n)) for n in range(3)),
        *((f"Find {n}!", str(n)) for n in range(3)),
        ("Which?", "C"),
    ]
    assert found.manifest.reasons == {"no_prompt": 1}
    assert "no column looks like the problem" in preview(plan(Source(path=pool), IngestConfig()))


def test_shards_with_other_optional_columns_are_one_layout(tmp_path: Path) -> None:
    jsonl(tmp_path / "1.jsonl", [{"question": "a?", "answer": "1", "note": None}])
    jsonl(tmp_path / "2.jsonl", [{"question": "b?", "answer": "2", "solution": "because"}])
    assert len(plan(Source(path=tmp_path), IngestConfig()).layouts) == 1


def test_rows_of_two_sets_in_one_file_are_all_read(tmp_path: Path) -> None:
    rows = [
        {"problem": "P?", "answer": "1"},
        {"question": "Q?", "target": "2"},
        {"instruction": "I?", "output": r"\boxed{3}"},
    ]
    pool = imported(tmp_path / "out", Source(path=jsonl(tmp_path / "a.jsonl", rows * 1)))
    assert pairs(pool) == [("P?", "1"), ("Q?", "2"), ("I?", "3")]


def test_a_stated_map_holds_where_its_columns_are_and_the_others_are_guessed(tmp_path: Path) -> None:
    jsonl(tmp_path / "1.jsonl", [{"question": "no", "mine": "a?", "answer": "1"}])
    jsonl(tmp_path / "2.jsonl", [{"question": "b?", "answer": "2"}])
    pool = imported(tmp_path.parent / f"{tmp_path.name}-out", Source(path=tmp_path, map={"prompt": "mine"}))
    assert pairs(pool) == [("a?", "1"), ("b?", "2")]


def test_a_limit_reads_the_first_rows_of_each_source(tmp_path: Path) -> None:
    sources = [Source(path=jsonl(tmp_path / f"{name}.jsonl", late("answer", 9, 0))) for name in "ab"]
    config = IngestConfig(limit=2)
    run_stage(stage(config, [plan(source, config) for source in sources]), None, tmp_path / "out")
    assert open_artifact(tmp_path / "out").manifest.facts["num_rows"] == 4
