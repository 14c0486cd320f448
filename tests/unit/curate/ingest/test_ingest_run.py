"""The whole import: twins merged, conflicts dropped, bad rows kept with their line, and the same bytes after a kill."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from support.interruption import cut_everywhere

import curate.ingest.stage
from curate.artifacts.artifact import Artifact, open_artifact
from curate.errors import Stopped, UserError
from curate.ingest.hub import pinned
from curate.ingest.plan import IngestConfig, plan
from curate.ingest.preview import preview
from curate.ingest.sources import Source
from curate.ingest.stage import stage
from curate.runner.run import run_stage


def jsonl(path: Path, rows: Sequence[Any]) -> Path:
    path.write_text("".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows))
    return path


def imported(out: Path, *sources: Source | Path, force: bool = False) -> Artifact:
    config = IngestConfig()
    plans = [plan(source if isinstance(source, Source) else Source(path=source), config) for source in sources]
    run_stage(stage(config, plans), None, out, force=force)
    return open_artifact(out)


def test_twins_merge_into_the_best_row_which_lists_their_places(tmp_path: Path) -> None:
    one = jsonl(
        tmp_path / "one.jsonl",
        [
            {"question": "What is  2+3?", "answer": None},
            {"question": "Other?", "answer": "1"},
            {"question": "What is 2+3?", "answer": "5"},
        ],
    )
    other = jsonl(tmp_path / "other.jsonl", [{"problem": "What is 2+3?\u200b", "solution": r"It is \boxed{5.0}."}])
    pool = imported(tmp_path / "out", one, other)
    rows = pool.read().select("prompt", "ground_truth", "source", "source_row", "also_in").rows()
    assert rows == [
        ("Other?", "1", "one", 1, None),
        ("What is 2+3?\u200b", "5.0", "other", 0, ["one#2", "one#0"]),
    ]
    assert pool.manifest.facts["num_rows"] == 4
    assert pool.manifest.facts["num_merged"] == 2


@pytest.mark.parametrize(
    ("one", "other", "is_conflict"),
    [
        ("1/2", "0.5", False),
        (r"\frac{1}{2}", r"\dfrac12", False),
        ("5", "6", True),
        (r"x+1", r"1+x", False),
        ("(1,2)", "(2,1)", True),
        ("A", "B", True),
    ],
)
def test_answers_conflict_as_values_and_not_as_text(one: str, other: str, is_conflict: bool, tmp_path: Path) -> None:
    source = jsonl(tmp_path / "a.jsonl", [{"question": "Q?", "answer": one}, {"question": "Q?", "answer": other}])
    pool = imported(tmp_path / "out", source)
    assert pool.manifest.reasons == ({"conflicting_answers": 1} if is_conflict else {})
    if is_conflict:
        dropped = pool.read("dropped")
        assert dropped["drop_detail"].to_list() == [f"a#0: {one}; a#1: {other}"]
        assert dropped["also_in"].to_list() == [["a#1"]]


def test_the_detail_of_a_conflict_among_many_rows_is_short(tmp_path: Path) -> None:
    answers = ["5", "6", "8" * 1000, *("6" for _ in range(40))]
    source = jsonl(tmp_path / "a.jsonl", [{"question": "Q?", "answer": answer} for answer in answers])
    pool = imported(tmp_path / "out", source)
    assert pool.manifest.reasons == {"conflicting_answers": 1}
    (detail,) = pool.read("dropped")["drop_detail"]
    assert detail.startswith("a#0: 5; a#1: 6; a#2: 888")
    assert detail.endswith("; and 23 more")
    assert len(detail) < 600
    assert len(pool.read("dropped")["also_in"][0]) == len(answers) - 1


def test_different_options_make_different_problems(tmp_path: Path) -> None:
    rows = [{"question": "Which?", "choices": ["x", last], "answer": 0} for last in ("y", "z", "y")]
    pool = imported(tmp_path / "out", jsonl(tmp_path / "a.jsonl", rows))
    assert pool.read()["also_in"].to_list() == [["a#2"], None]


def test_bad_rows_are_dropped_with_file_and_line_and_the_run_continues(tmp_path: Path) -> None:
    rows = [
        {"question": "Good?", "answer": "1"},
        '{"question": "torn',
        {"question": None, "answer": "1"},
        {"question": 17, "answer": "1"},
        {"question": "nul \0", "answer": "1"},
        {"question": "x" * 1_000_001, "answer": "1"},
        '{"question": "half \\ud800", "answer": "1"}',
        {"question": "Bad answer?", "answer": "\0"},
        {"question": "Also good?", "answer": "2"},
    ]
    pool = imported(tmp_path / "out", jsonl(tmp_path / "a.jsonl", rows))
    assert pool.read()["prompt"].to_list() == ["Good?", "Also good?"]
    dropped = pool.read("dropped").select("drop_reason", "drop_detail", "source_row").rows()
    places = [(reason, detail.split(":")[0], int(detail.split(":")[1]), row) for reason, detail, row in dropped]
    assert places == [
        ("broken_json", "a.jsonl", 2, 1),
        ("no_prompt", "a.jsonl", 3, 2),
        ("wrong_type", "a.jsonl", 4, 3),
        ("nul_bytes", "a.jsonl", 5, 4),
        ("too_large", "a.jsonl", 6, 5),
        ("invalid_utf8", "a.jsonl", 7, 6),
        ("nul_bytes", "a.jsonl", 8, 7),
    ]


def test_two_broken_rows_with_equal_content_are_two_rows(tmp_path: Path) -> None:
    pool = imported(tmp_path / "out", jsonl(tmp_path / "a.jsonl", [{"question": "Q?"}, "{", "{"]))
    assert pool.read("dropped")["key"].n_unique() == 2


def test_the_manifest_records_every_source(tmp_path: Path) -> None:
    path = jsonl(tmp_path / "a.jsonl", [{"question": "Q?", "answer": "1"}])
    source = Source(path=path, name="mine", licence="MIT", revision="v2", weight=0.5)
    pool = imported(tmp_path / "out", source)
    (fact,) = pool.manifest.facts["sources"]
    assert fact == {
        "name": "mine",
        "hub": None,
        "num_rows": 1,
        "num_merged": 0,
        "weight": 0.5,
        "licence": "MIT",
        "revision": "v2",
        "map": {"prompt": ["question"], "ground_truth": ["answer"]},
    }
    assert str(tmp_path) not in (tmp_path / "out" / "manifest.json").read_text()


def test_the_preview_shows_the_map_and_three_rows(tmp_path: Path) -> None:
    rows = [{"question": f"Question {n}?", "answer": str(n)} for n in range(9)]
    text = preview(plan(Source(path=jsonl(tmp_path / "a.jsonl", rows)), IngestConfig()))
    assert "prompt       <- question" in text
    assert "ground_truth <- answer" in text
    assert [f"Question {n}?" in text for n in range(4)] == [True, True, True, False]


def test_a_kept_artifact_can_be_imported_again_under_the_same_keys(tmp_path: Path) -> None:
    rows = [{"question": "Q?", "choices": ["x", "y"], "answer": 1}, {"question": "R?", "answer": "2"}]
    first = imported(tmp_path / "first", jsonl(tmp_path / "a.jsonl", rows)).read()
    second = imported(tmp_path / "second", tmp_path / "first").read()
    columns = ["key", "prompt", "ground_truth", "kind", "choices"]
    assert second.select(columns).equals(first.select(columns))


def test_a_hub_dataset_is_read_through_datasets(tmp_path: Path) -> None:
    folder = tmp_path / "owner" / "name"
    folder.mkdir(parents=True)
    jsonl(folder / "train.jsonl", [{"question": "Q?", "answer": "1"}, {"question": "R?", "answer": "2"}])
    # `datasets` takes a local folder wherever it takes a Hub id
    pool = imported(tmp_path / "out", pinned(Source(hub=str(folder), name="hub")))
    assert pool.read()["prompt"].to_list() == ["Q?", "R?"]
    with pytest.raises(UserError, match="check the id, subset and split"):
        imported(tmp_path / "none", Source(hub=str(folder), split="validation"))


def test_two_sources_with_the_same_name_are_refused(tmp_path: Path) -> None:
    path = jsonl(tmp_path / "a.jsonl", [{"question": "Q?"}])
    with pytest.raises(UserError, match="a: two sources have this name; give each its own"):
        imported(tmp_path / "out", path, path)


def test_a_source_without_a_readable_row_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"a: holds no readable row \(a.jsonl:1 is broken_json: Expecting"):
        imported(tmp_path / "out", jsonl(tmp_path / "a.jsonl", ["{", "nothing"]))


def test_an_import_killed_anywhere_and_resumed_leaves_the_same_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(curate.ingest.stage, "CHUNK_ROWS", 3)
    rows = [{"question": f"Q{number % 7}?", "answer": str(number % 7 // 6 * number)} for number in range(14)]
    sources = [jsonl(tmp_path / "a.jsonl", [*rows, "{"]), jsonl(tmp_path / "b.jsonl", rows[:4])]
    imported(tmp_path / "undisturbed", *sources)
    wanted = contents(tmp_path / "undisturbed")

    def work(number: int) -> None:
        imported(tmp_path / str(number), *sources)

    cuts = 0
    for cut in cut_everywhere(work):
        imported(tmp_path / str(cut), *sources)
        assert contents(tmp_path / str(cut)) == wanted
        cuts += 1
    assert cuts > 3 * 7  # of each of seven chunks the raw, the kept and the dropped rows


def contents(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_changed_source_is_refused_unless_forced(tmp_path: Path) -> None:
    path = jsonl(tmp_path / "a.jsonl", [{"question": "Q?"}])
    imported(tmp_path / "out", path)
    jsonl(path, [{"question": "R?"}])
    with pytest.raises(UserError, match="--force"):
        imported(tmp_path / "out", path)
    assert imported(tmp_path / "out", path, force=True).read()["prompt"].to_list() == ["R?"]


def test_kept_rows_do_not_depend_on_chunks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [{"question": f"Q{number % 11}?", "answer": "1"} for number in range(40)]
    path = jsonl(tmp_path / "a.jsonl", rows)
    whole = imported(tmp_path / "whole", path).read()
    monkeypatch.setattr(curate.ingest.stage, "CHUNK_ROWS", 7)
    assert imported(tmp_path / "chunks", path).read().equals(whole)
    assert pl.Series(whole["also_in"]).list.len().sum() == 40 - 11


DOUBLE = "Write a function that doubles a number."


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("code", "test", "is_conflict"),
    [
        ("def double(n):\n    return n + n", "assert double(-1) == -2", False),
        ("def twice(n):\n    return n * 2", "assert twice(4) == 8", True),
        ("def double(n):\n    return str(n) * 2", "assert double(4) == '44'", True),
    ],
)
def test_tests_conflict_if_each_others_solutions_fail_them(
    code: str, test: str, is_conflict: bool, tmp_path: Path
) -> None:
    rows = [
        {"text": DOUBLE, "code": "def double(n):\n    return 2 * n", "test_list": ["assert double(4) == 8"]},
        {"text": DOUBLE, "code": code, "test_list": [test]},
    ]
    pool = imported(tmp_path / "out", jsonl(tmp_path / "pool.jsonl", rows))
    assert pool.manifest.num_kept == (0 if is_conflict else 1)
    if is_conflict:
        dropped = pool.read("dropped")
        assert dropped["drop_reason"].to_list() == ["conflicting_answers"]
        assert all(part in dropped["drop_detail"][0] for part in ("pool#0", "double(4) == 8", "pool#1", test))


def test_the_output_of_save_to_disk_is_read_by_split(tmp_path: Path) -> None:
    from datasets import Dataset, DatasetDict

    rows = Dataset.from_list([{"question": f"What is {n} + 1?", "answer": str(n + 1)} for n in range(4)])
    rows.save_to_disk(tmp_path / "alone")
    DatasetDict({"train": rows.select([0, 1]), "test": rows.select([2])}).save_to_disk(tmp_path / "both")
    assert imported(tmp_path / "one", tmp_path / "alone").read()["ground_truth"].to_list() == ["1", "2", "3", "4"]
    assert imported(tmp_path / "two", tmp_path / "both").read()["ground_truth"].to_list() == ["1", "2"]
    tests = Source(path=tmp_path / "both", split="test")
    assert imported(tmp_path / "three", tests).read()["ground_truth"].to_list() == ["3"]
    with pytest.raises(UserError, match=r"has no split 'dev'; name one of test, train"):
        imported(tmp_path / "four", Source(path=tmp_path / "both", split="dev"))


def test_force_removes_an_interrupted_import_of_another_source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = (jsonl(tmp_path / f"{name}.jsonl", [{"question": f"{name}?", "answer": "1"}]) for name in "ab")

    def stop(_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("curate.ingest.stage.find_merges", stop)
        with pytest.raises(Stopped):
            imported(tmp_path / "out", one)
    with pytest.raises(UserError, match="another configuration or input"):
        imported(tmp_path / "out", other)
    assert imported(tmp_path / "out", other, force=True).read()["prompt"].to_list() == ["b?"]
