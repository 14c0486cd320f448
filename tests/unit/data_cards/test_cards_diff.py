"""`card diff` and `card bump`: every difference once, under its right name."""

import json
import re
import shutil
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.small_run import decontaminate, problems, write_pool, write_run

from curate.artifacts.artifact import open_artifact
from curate.errors import UserError
from curate.records import problem_key
from curate.runner.run import run_stage
from data_cards.build import build
from data_cards.config import CardConfig
from data_cards.dataset.bump import next_version, propose
from data_cards.dataset.diff import Diff, diff
from data_cards.dataset.tables import Tables, open_tables
from data_cards.hub.references import settled, version_of
from data_cards.show.diff import lines

PROMPTS = ["What is 1 + 1?", "What is 2 + 2?", "a leak from the bench"]


def kept_of(folder: Path, rows: pl.DataFrame, limit: int = 8) -> Tables:
    """The tables of a run of two stages over these rows."""
    write_pool(folder / "ingest", rows)
    run_stage(decontaminate(limit), open_artifact(folder / "ingest"), folder / "decontaminate")
    return open_tables(folder / "decontaminate")


def only(found: Diff, *names: str) -> bool:
    """Whether exactly the named parts differ."""
    return {name for name, value in vars(found).items() if value} == set(names)


def test_a_dataset_differs_from_itself_in_nothing(tmp_path: Path) -> None:
    tables = open_tables(write_run(tmp_path / "run"))
    assert diff(tables, tables).is_empty
    assert list(lines(diff(tables, tables))) == ["nothing differs"]
    assert propose(diff(tables, tables)).level == "none"


def test_rows_added_removed_and_moved_are_distinguished(tmp_path: Path) -> None:
    before = kept_of(tmp_path / "a", problems(PROMPTS))
    after = kept_of(tmp_path / "b", problems([PROMPTS[0], PROMPTS[2], "What is 3 + 3?"]))
    found = diff(before, after)
    assert {(move.before, move.after): move.keys for move in found.moves} == {
        ("kept", "absent"): [problem_key(PROMPTS[1])],
        ("absent", "kept"): [problem_key("What is 3 + 3?")],
    }
    assert propose(found).level == "minor"
    assert propose(found).reasons == ["1 row newly kept", "1 row no longer kept"]


def test_a_row_that_a_stage_now_drops_has_moved(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run")
    key = problem_key("a leak from the bench")
    found = diff(open_tables(run / "ingest"), open_tables(run / "decontaminate"))
    assert [(m.before, m.after, m.keys) for m in found.moves] == [
        ("kept", "dropped by decontaminate: contaminated", [key])
    ]
    back = diff(open_tables(run / "decontaminate"), open_tables(run / "ingest"))
    assert [(m.before, m.after) for m in back.moves] == [("dropped by decontaminate: contaminated", "kept")]
    assert "contaminated_by" in found.columns
    assert propose(found).level == "major"
    assert propose(back).reasons == ["column contaminated_by is gone"]


def test_changed_contents_are_named_by_column(tmp_path: Path) -> None:
    rows = problems(PROMPTS)
    before = kept_of(tmp_path / "a", rows)
    other = rows.with_columns(
        ground_truth=pl.when(pl.col("key") == problem_key(PROMPTS[0])).then(pl.lit("3")).otherwise("ground_truth"),
        also_in=pl.when(pl.col("key") == problem_key(PROMPTS[1])).then(pl.lit(["x#1"])).otherwise("also_in"),
        solution=pl.lit("because"),
    )
    found = diff(before, kept_of(tmp_path / "b", other))
    assert only(found, "contents")
    assert found.contents == {
        "ground_truth": [problem_key(PROMPTS[0])],
        "also_in": [problem_key(PROMPTS[1])],
        "solution": [problem_key(PROMPTS[0]), problem_key(PROMPTS[1])],
    }
    assert propose(found).level == "minor"


def test_changed_rates_are_not_changed_problems(tmp_path: Path) -> None:
    before, after = (open_tables(write_run(tmp_path / name, limit=limit)) for name, limit in (("a", 4), ("b", 8)))
    found = diff(before, after)
    rates = before.kept.join(after.kept, on="key", suffix="_after").collect()
    changed = rates.filter(pl.col("pass_rate") != pl.col("pass_rate_after"))
    assert found.rates is not None
    assert found.rates.num_changed == changed.height > 0
    assert found.rates.mean_change == pytest.approx((changed["pass_rate"] - changed["pass_rate_after"]).abs().mean())
    assert not found.contents
    assert found.config["difficulty.limit"] == (4, 8)


def test_settings_alone_are_a_patch_and_so_are_words(tmp_path: Path) -> None:
    rows = problems(PROMPTS)
    settings = diff(kept_of(tmp_path / "a", rows), kept_of(tmp_path / "b", rows, limit=9))
    assert only(settings, "config")
    assert propose(settings).reasons == ["setting decontaminate.limit changed"]
    run = write_run(tmp_path / "run")
    for name in ("First", "Second"):
        build(run, tmp_path / name, CardConfig(name=name))
    words = diff(open_tables(tmp_path / "First"), open_tables(tmp_path / "Second"))
    assert only(words, "text")
    assert [propose(found).level for found in (settings, words)] == ["patch", "patch"]


def test_a_changed_type_is_major(tmp_path: Path) -> None:
    rows = problems(PROMPTS)
    before = kept_of(tmp_path / "a", rows)
    after = kept_of(tmp_path / "b", rows.with_columns(pl.col("source_row").cast(pl.String)))
    assert propose(diff(before, after)).reasons == ["column source_row was Int64, is String"]


def test_json_holds_every_key_and_the_table_counts_them(tmp_path: Path) -> None:
    before = kept_of(tmp_path / "a", problems([f"What is {n} + 1?" for n in range(50)]))
    after = kept_of(tmp_path / "b", problems(["What is 0 + 1?"]))
    found = diff(before, after)
    assert sum(len(move["keys"]) for move in json.loads(json.dumps(found.as_json()))["moves"]) == 49
    assert any(re.match(r" +49  kept -> absent", line) for line in lines(found))


def test_run_and_dataset_are_compared_alike(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run")
    build(run, tmp_path / "dataset", CardConfig())
    assert only(diff(open_tables(run), open_tables(tmp_path / "dataset")), "text")


@given(st.tuples(*[st.integers(0, 99)] * 3))
def test_the_next_version_is_higher_in_the_right_place(numbers: tuple[int, int, int]) -> None:
    current = "v" + ".".join(map(str, numbers))
    major, minor, patch = numbers
    assert next_version(current, "major") == f"v{major + 1}.0.0"
    assert next_version(current, "minor") == f"v{major}.{minor + 1}.0"
    assert next_version(current, "patch") == f"v{major}.{minor}.{patch + 1}"
    assert next_version(current, "none") == current


@pytest.mark.parametrize("current", ["first", "v1", "1.2.x", "", "v1.2.3.4"])
def test_a_version_of_the_wrong_form_is_one_line(current: str) -> None:
    with pytest.raises(UserError, match="is no version"):
        next_version(current, "minor")


def test_references_resolve_to_a_name_and_a_revision() -> None:
    assert settled("me/set@v1.0.0") == ("me/set", "v1.0.0")
    assert settled("v1.0.0", "me/set") == ("me/set", "v1.0.0")
    assert settled("other/set@main", "me/set") == ("other/set", "main")
    assert version_of("me/set@v1.2.0") == "v1.2.0"
    assert not version_of("me/set@main")
    with pytest.raises(UserError, match="no such folder"):
        settled("nowhere")


def test_a_damaged_dataset_is_not_compared(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run")
    shutil.rmtree(run / "difficulty" / "kept")
    with pytest.raises(UserError, match="missing, though"):
        open_tables(run)
