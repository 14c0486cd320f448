"""Laws of the stages that sample a model: batches, order and concurrency leave no trace."""

from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.model_pool import problem, script

from curate.artifacts.samples import SampleList
from curate.difficulty.no_think import NoThinkConfig
from curate.difficulty.no_think import stage as no_think
from curate.difficulty.stage import DifficultyConfig
from curate.difficulty.stage import stage as difficulty
from curate.records import PROBLEM, schema
from curate.runner.stage import Stage, Workspace

NUM_PROBLEMS = 24
ROWS = pl.DataFrame(
    [problem(f"{number} + {7 - number} = ?", "7", source_row=number) for number in range(NUM_PROBLEMS)],
    schema=schema(PROBLEM),
)


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    coins = {
        prompt: {"pass_rate": number / (NUM_PROBLEMS - 1), "right": "\\boxed{7}", "wrong": "\\boxed{8}"}
        for number, prompt in enumerate(ROWS["prompt"])
    }
    return script(tmp_path_factory.mktemp("script") / "script.json", coins)


def stages(answers: Path, max_in_flight: int) -> list[Stage]:
    return [
        difficulty(DifficultyConfig(script=answers, max_in_flight=max_in_flight)),
        no_think(NoThinkConfig(script=answers, max_in_flight=max_in_flight, attempts=4)),
    ]


def run(stage: Stage, *batches: pl.DataFrame) -> tuple[pl.DataFrame, set[tuple[str, int, str]]]:
    """The rows of all batches and what was said, by whatever order it came in."""
    log = SampleList()
    with stage.open(Workspace(log)) as decide:
        rows = pl.concat([decide(batch) for batch in batches])
    return rows, {(sample.key, sample.index, sample.text) for sample in log.drawn}


@settings(deadline=None, max_examples=8)
@given(cut=st.integers(0, NUM_PROBLEMS), max_in_flight=st.integers(1, 40))
def test_two_batches_decide_as_one_whatever_is_in_flight(answers: Path, cut: int, max_in_flight: int) -> None:
    for alone, together in zip(stages(answers, 256), stages(answers, max_in_flight), strict=True):
        whole, said = run(alone, ROWS)
        halves, said_in_halves = run(together, ROWS[:cut], ROWS[cut:])
        assert halves.equals(whole)
        assert said_in_halves == said


@settings(deadline=None, max_examples=8)
@given(order=st.permutations(range(NUM_PROBLEMS)))
def test_the_order_of_the_rows_changes_no_decision(answers: Path, order: list[int]) -> None:
    for stage in stages(answers, 8):
        whole, said = run(stage, ROWS)
        shuffled, said_shuffled = run(stage, ROWS[order])
        assert shuffled.equals(whole[order])
        assert said_shuffled == said


def test_every_problem_goes_in_once_and_comes_out_once_with_the_announced_columns(answers: Path) -> None:
    for stage in stages(answers, 8):
        rows, _ = run(stage, ROWS)
        assert rows["key"].equals(ROWS["key"])
        assert set(rows.columns) == {*ROWS.columns, *stage.adds, "drop_reason", "drop_detail"}
        assert {name: rows.schema[name] for name in stage.adds} == dict(stage.adds)
