"""`card trace`: the history of a problem, equal from a run and from its dataset, safe to print."""

import io
import json
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console
from support.small_run import HOSTILE, Threshold, problems, write_pool, write_run

from curate.artifacts.artifact import open_artifact
from curate.errors import UserError
from curate.records import problem_key
from curate.runner.run import run_stage
from curate.runner.stage import Stage, bound, decide
from curriculum import Curriculum, CurriculumConfig, Visit
from data_cards.build import build
from data_cards.config import CardConfig
from data_cards.dataset.tables import open_tables
from data_cards.dataset.trace import trace
from data_cards.dataset.training import Moment, Training, moments, read_training
from data_cards.show.side_by_side import compare
from data_cards.show.trace import WIDTH, show, visible


def printed(folder: Path, key: str, **trainings: Training) -> str:
    console = Console(file=io.StringIO(), width=WIDTH, highlight=False, emoji=False)
    show(trace(open_tables(folder), key), trainings, console)
    text: str = console.file.getvalue()  # type: ignore[attr-defined]  # a StringIO
    return text


def test_a_dropped_problem_stops_where_it_was_dropped(tmp_path: Path) -> None:
    found = trace(open_tables(write_run(tmp_path / "run")), "made_up#1")
    assert [(step.stage, step.verdict) for step in found.steps] == [
        ("ingest", "kept"),
        ("decontaminate", "dropped"),
        ("difficulty", "not reached"),
    ]
    assert json.loads(found.steps[1].detail or "")["item"] == "7"
    assert found.steps[1].evidence == {"contaminated_by": "bench/7"}
    assert not found.samples


def test_the_trace_of_a_dataset_equals_that_of_its_run(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run")
    build(run, tmp_path / "dataset", CardConfig())
    for key in (*open_artifact(run / "ingest").read("kept")["key"], problem_key("")):
        assert trace(open_tables(run), key) == trace(open_tables(tmp_path / "dataset"), key)


def test_a_sampled_problem_shows_its_samples_in_order(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", limit=4)
    row = open_artifact(run / "difficulty").read("kept").row(0, named=True)
    found = trace(open_tables(run), row["key"])
    assert found.fate == "kept"
    assert [sample["index"] for sample in found.samples] == [0, 1, 2, 3]
    assert sum(sample["verdict"] == "correct" for sample in found.samples) == row["num_correct"]


def test_a_key_prefix_that_is_unique_will_do_and_another_names_the_choices(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run")
    keys = open_artifact(run / "difficulty").read("kept")["key"].to_list()
    assert trace(open_tables(run), keys[0][:20]).row["key"] == keys[0]
    shared = next(digit for digit in "0123456789abcdef" if sum(key.startswith(digit) for key in keys) > 1)
    with pytest.raises(UserError, match="choose from") as error:
        trace(open_tables(run), shared)
    named = str(error.value).split("choose from ")[1].split(", ")
    assert len(named) > 1
    assert all(key.startswith(shared) and len(key) == 24 for key in named)
    for unknown in ("zzz", "", "made_up#999", "#"):
        with pytest.raises(UserError, match="no such problem"):
            trace(open_tables(run), unknown)


def test_a_place_finds_the_problem_that_was_merged_from_it(tmp_path: Path) -> None:
    rows = problems(["What is 1 + 1?", "What is 2 + 2?"])
    merged = pl.when(pl.col("source_row") == 1).then(pl.lit(["other pool#5"]))
    write_pool(tmp_path / "ingest", rows.with_columns(also_in=merged))
    found = trace(open_tables(tmp_path / "ingest"), "other pool#5")
    assert found.row["prompt"] == "What is 2 + 2?"
    assert "other pool#5" in printed(tmp_path / "ingest", "made_up#1")


def deduplicated(run: Path) -> Path:
    """A run whose second stage drops a problem as the near-duplicate of another one, naming its key."""
    write_pool(run / "ingest", problems(["Find 3 + 4 today.", "Find 3 - 4 today.", "Something else"]))
    first, second = problem_key("Find 3 + 4 today."), problem_key("Find 3 - 4 today.")

    def drop_second(rows: pl.DataFrame, config: Threshold) -> pl.DataFrame:
        is_second = pl.when(pl.col("key") == second).then(pl.lit("duplicate_of"))
        return decide(rows, is_second, pl.lit(f"{first} 0.93"))

    stage = Stage("dedup", 1, "corpus", Threshold(), bound(drop_second, Threshold()))
    run_stage(stage, open_artifact(run / "ingest"), run / "dedup")
    (run / "pipeline.json").write_text(json.dumps({"stages": ["ingest", "dedup"]}))
    return run


def test_duplicates_are_found_from_both_ends(tmp_path: Path) -> None:
    tables = open_tables(deduplicated(tmp_path / "run"))
    kept, merged = trace(tables, "made_up#0"), trace(tables, "made_up#1")
    assert [row["key"] for row in kept.duplicates] == [merged.row["key"]]
    assert merged.match is not None
    assert kept.row["key"] in merged.match.name
    text = printed(tmp_path / "run", "made_up#1")
    assert "Find 3 ⟦-⟧ 4 today." in text
    assert "Find 3 ⟦+⟧ 4 today." in text


@given(st.text("ab 12+-数学\n", max_size=40), st.text("ab 12+-数学\n", max_size=40))
def test_side_by_side_loses_no_character_and_marks_only_what_differs(left: str, right: str) -> None:
    mine, theirs = compare(left, right)
    assert "".join(piece.text for piece in mine) == left
    assert "".join(piece.text for piece in theirs) == right
    same = ["".join(p.text for p in side if not p.is_different and not p.text.isspace()) for side in (mine, theirs)]
    assert "".join(same[0].split()) == "".join(same[1].split())
    assert any(piece.is_different for piece in (*mine, *theirs)) or left.split() == right.split()


def test_no_line_is_wider_than_the_terminal_and_no_control_code_gets_through(tmp_path: Path) -> None:
    nasty = [
        "\x1b[2J\x1b]0;owned\x07 wipe " + "w" * 300,
        "数学" * 150,
        "[bold]markup[/] [/nothing] :smile:",
        "\x9b31m red",
    ]
    run = write_run(tmp_path / "run", nasty)
    for row in range(len(nasty)):
        text = printed(run, f"made_up#{row}")
        assert not {mark for mark in text if ord(mark) < 32 or 0x7F <= ord(mark) <= 0x9F} - {"\n"}
        assert all(cell_len(line) <= WIDTH for line in text.splitlines())
    assert nasty[2] in printed(run, "made_up#2")


@given(st.text())
def test_visible_text_holds_no_control_character_and_keeps_the_rest(text: str) -> None:
    shown = visible(text)
    assert not {mark for mark in shown if ord(mark) < 32 or 0x7F <= ord(mark) <= 0x9F} - {"\n"}
    if text.isprintable():
        assert shown == text


def training_run(folder: Path, key: str) -> Path:
    groups = [(["other", key], [0, 2], [4, 2]), ([key, "other"], [4, 1], [0, 3])]
    draws = [
        {"step": step, "draw": step, "keys": keys, "num_correct": correct, "num_wrong": wrong, "num_undecided": [0, 0]}
        for step, (keys, correct, wrong) in enumerate(groups, start=1)
    ]
    folder.mkdir()
    (folder / "draws.jsonl").write_text("".join(json.dumps(draw) + "\n" for draw in draws) + '{"step": 3, "torn')
    for step, events in ((2, []), (10, [("retired", 2), ("reopened", 9)])):
        state = folder / f"checkpoint-{step}"
        state.mkdir()
        (state / "curriculum.json").write_text("{}")
        lines = [{"event": event, "draw": at, "step": at, "key": key, "detail": "4/4"} for event, at in events]
        lines.append({"event": "retired", "draw": 1, "step": 1, "key": "other", "detail": ""})
        (state / "curriculum-events.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return folder


def test_training_shows_draws_and_the_newest_checkpoints_events_in_order(tmp_path: Path) -> None:
    run = training_run(tmp_path / "grpo", "f" * 24)
    assert [(moment.step, moment.event) for moment in moments(run, "f" * 24)] == [
        (1, "drawn"),
        (2, "drawn"),
        (2, "retired"),
        (9, "reopened"),
    ]
    assert moments(run, "f" * 24)[0].detail == "2 correct, 2 wrong, 0 undecided"
    assert not moments(run, "e" * 24)


def test_training_is_printed_beside_the_stages_and_its_absence_too(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run")
    first = Training([Moment(3, "drawn", "1 correct, 3 wrong")], "active")
    text = printed(run, "made_up#5", first=first, second=Training([], ""))
    assert "training first (drawn 1 time; now active)" in text
    assert "step 3" in text
    assert "training second (never drawn)" in text


def test_the_events_of_a_real_curriculum_are_read(tmp_path: Path) -> None:
    rows = problems(["What is 1 + 1?", "What is 2 + 2?"])
    curriculum = Curriculum.create(rows, CurriculumConfig(), {"dataset": "d"})
    step = 0
    while not any(event["event"] == "retired" for event in curriculum.history.events):
        step += 1
        curriculum.draw(1)
        curriculum.observe([Visit(0, 8, 0, 0)], step=step)
    curriculum.draw(1)
    curriculum.observe([Visit(0, 3, 5, 0)], step=step + 9)
    curriculum.save(tmp_path / f"checkpoint-{step + 9}")
    (tmp_path / "draws.jsonl").write_text("")
    found = read_training(tmp_path, rows["key"][0])
    assert [(moment.step, moment.event) for moment in found.moments] == [(step, "retired"), (step + 9, "reopened")]
    assert found.standing == f"active, {8 * step + 3} correct and 5 wrong in {step + 1} visits"
    other = read_training(tmp_path, rows["key"][1])
    assert (other.moments, other.standing) == ([], "active, 0 correct and 0 wrong in 0 visits")


def test_a_folder_that_is_no_training_run_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"holds no draws\.jsonl"):
        moments(tmp_path, "f" * 24)
    (tmp_path / "draws.jsonl").write_text("nonsense\n{}\n")
    with pytest.raises(UserError, match="line 1 is not JSON"):
        moments(tmp_path, "f" * 24)


def test_hostile_text_is_printed_unchanged(tmp_path: Path) -> None:
    assert HOSTILE in printed(write_run(tmp_path / "run"), "made_up#2")
