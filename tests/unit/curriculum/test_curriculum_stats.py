"""Statistics of problems: priors from measured samples, discounting, undecided verdicts, lengths, levels."""

import json

import numpy as np
import polars as pl
import pytest

from curate.errors import UserError
from curriculum import Curriculum, CurriculumConfig, Visit
from curriculum.forecast.prior import new_stats
from curriculum.statistics.stats import Stats, update
from curriculum.statistics.visits import as_batches


def stats_of(config: CurriculumConfig | None = None, **columns: list[object]) -> Stats:
    num = len(next(iter(columns.values())))
    return new_stats(pl.DataFrame({"key": [str(i) for i in range(num)], **columns}), config or CurriculumConfig())


def visit(stats: Stats, *visits: Visit, config: CurriculumConfig | None = None) -> None:
    for batch in as_batches(list(visits)):
        update(stats, batch, 1, config or CurriculumConfig())


def test_measured_samples_are_the_prior() -> None:
    stats = stats_of(num_correct=[2, 0], num_samples=[8, 4])
    assert stats.mean_rate().tolist() == [3 / 10, 1 / 6]


def test_a_problem_without_samples_is_unknown_not_hopeless() -> None:
    stats = stats_of(num_correct=[None, 0, None], num_samples=[None, 8, 8])
    assert stats.mean_rate().tolist() == [0.5, 0.1, 0.5]
    assert stats_of(prompt=["a"]).mean_rate().tolist() == [0.5]
    assert stats.difficulty[0] == 0.5 < stats.difficulty[1]


def test_prior_weight_caps_the_evidence_and_keeps_the_rate() -> None:
    stats = stats_of(CurriculumConfig(prior_weight=4), num_correct=[30], num_samples=[60])
    assert (stats.successes[0], stats.failures[0]) == (2, 2)


def test_an_outcome_weighs_half_after_its_half_life() -> None:
    config = CurriculumConfig(half_life_visits=3)
    stats = stats_of(prompt=["a"])
    visit(stats, Visit(0, 8, 0, 0), config=config)
    for _ in range(3):
        visit(stats, Visit(0, 0, 8, 0), config=config)
    assert stats.successes[0] == pytest.approx(4)


def test_undecided_verdicts_move_no_rate_and_no_dry_count() -> None:
    stats = stats_of(num_correct=[3], num_samples=[8])
    before = stats.mean_rate().tolist()
    visit(stats, Visit(0, 0, 0, 8, None, None, "timeout"))
    assert stats.mean_rate().tolist() == before
    assert (stats.num_undecided[0], stats.num_dry[0], stats.num_visits[0]) == (8, 0, 1)


def test_lengths_are_means_over_completions_and_unknown_until_seen() -> None:
    config = CurriculumConfig(half_life_visits=1e12)
    stats = stats_of(prompt=["a"])
    assert np.isnan(stats.tokens_correct[0])
    visit(stats, Visit(0, 2, 6, 0, 100.0, 10.0), Visit(0, 6, 2, 0, 20.0, None), config=config)
    assert stats.tokens_correct[0] == pytest.approx((2 * 100 + 6 * 20) / 8)
    assert stats.tokens_wrong[0] == pytest.approx(10)


def test_a_problem_visited_twice_in_a_batch_counts_twice() -> None:
    stats = stats_of(prompt=["a", "b"])
    visit(stats, Visit(0, 4, 4, 0), Visit(1, 1, 7, 0), Visit(0, 2, 6, 0))
    assert stats.num_visits.tolist() == [2, 1]
    assert stats.num_correct.tolist() == [6, 1]


@pytest.mark.parametrize("where", ["column", "extra"])
def test_levels_come_from_a_column_or_from_extra(where: str) -> None:
    levels = ["Level 5", "Level 1", None, "3"]
    columns = {"tier": levels} if where == "column" else {"extra": [json.dumps({"tier": level}) for level in levels]}
    assert stats_of(CurriculumConfig(level="tier"), **columns).difficulty.tolist() == [5, 1, 3, 3]


def test_a_level_that_no_problem_has_is_refused_by_name() -> None:
    with pytest.raises(UserError, match="'grade'"):
        stats_of(CurriculumConfig(level="grade"), prompt=["a"])


def test_more_correct_than_samples_is_refused_by_key() -> None:
    with pytest.raises(UserError, match="problem 1"):
        stats_of(num_correct=[1, 9], num_samples=[8, 8])


@pytest.mark.parametrize("bad", [Visit(2, 1, 1, 0), Visit(-1, 1, 1, 0), Visit(0, -1, 1, 0)])
def test_an_impossible_visit_raises_and_changes_nothing(bad: Visit) -> None:
    curriculum = Curriculum.create(pl.DataFrame({"key": ["a", "b"]}), CurriculumConfig(), {})
    with pytest.raises(ValueError, match="row outside"):
        curriculum.observe([Visit(0, 4, 4, 0), bad], step=1)
    assert curriculum.stats.num_visits.tolist() == [0, 0]


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (pl.DataFrame({"prompt": ["a"]}), "no column key"),
        (pl.DataFrame({"key": ["a", "b", "a"]}), "key a is not unique"),
        (pl.DataFrame({"key": []}, schema={"key": pl.String}), "no problem"),
    ],
)
def test_a_dataset_that_cannot_be_tracked_is_refused_in_one_line(frame: pl.DataFrame, message: str) -> None:
    with pytest.raises(UserError, match=message):
        Curriculum.create(frame, CurriculumConfig(), {})
