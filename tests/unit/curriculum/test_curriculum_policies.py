"""Policies: each draws distinct candidates in its stated proportions."""

import numpy as np
import polars as pl
import pytest

from curriculum import CurriculumConfig
from curriculum.draw.policies import POLICIES, hardest
from curriculum.forecast.forecast import Forecast
from curriculum.forecast.forecaster import Forecaster
from curriculum.forecast.groups import ONE_GROUP
from curriculum.forecast.prior import new_stats
from curriculum.statistics.stats import Stats

SURE = 1_000_000


def known(rates: list[float]) -> Stats:
    """Problems whose rate is so certain that a Thompson draw equals it."""
    samples = [SURE] * len(rates)
    frame = pl.DataFrame(
        {
            "key": [str(i) for i in range(len(rates))],
            "num_correct": [round(r * SURE) for r in rates],
            "num_samples": samples,
        }
    )
    return new_stats(frame, CurriculumConfig(prior_weight=SURE))


def forecast(stats: Stats) -> Forecast:
    return Forecaster.fit([ONE_GROUP], stats).forecast(stats, 0)


def first_draws(policy: str, stats: Stats, times: int = 8_000) -> np.ndarray:
    rng = np.random.default_rng(7)
    rows, config, now = np.arange(len(stats)), CurriculumConfig(), forecast(stats)
    drawn = [POLICIES[policy](now, rows, 1, rng, config)[0] for _ in range(times)]
    return np.bincount(drawn, minlength=len(stats)) / times


@pytest.mark.parametrize(
    ("policy", "weight"),
    [("uniform", lambda _: 1), ("prioritized", lambda p: 1 - p), ("learnability", lambda p: p * (1 - p))],
)
def test_a_problem_is_drawn_in_proportion_to_its_weight(policy: str, weight: object) -> None:
    rates = 1 / (1 + np.exp(-np.array([-4, -2.25, -0.75, 0, 1.5, 3])))
    weights = np.array([weight(p) for p in rates], float)
    assert first_draws(policy, known(rates.tolist())) == pytest.approx(weights / weights.sum(), abs=0.018)


def test_the_lazy_draw_of_several_agrees_with_drawing_them_one_by_one() -> None:
    # weighted sampling without replacement: the chance that the pair {i, j} is drawn, by its definition
    rates = 1 / (1 + np.exp(-np.array([0, -0.75, -2.25, -3, 2.25, 4.5])))
    w = rates * (1 - rates) / (rates * (1 - rates)).sum()
    pair = np.outer(w, w) / (1 - w)[:, None]
    chance = (pair + pair.T).sum(axis=1) - 2 * np.diag(pair)
    now, rng, rows = forecast(known(rates.tolist())), np.random.default_rng(2), np.arange(6)
    drawn = [POLICIES["learnability"](now, rows, 2, rng, CurriculumConfig()) for _ in range(8_000)]
    assert np.bincount(np.concatenate(drawn), minlength=6) / 8_000 == pytest.approx(chance, abs=0.018)


def test_learnability_finds_the_few_solvable_problems_among_hopeless_ones() -> None:
    stats = known([1e-6] * 500 + [0.5] * 3)
    rows = POLICIES["learnability"](forecast(stats), np.arange(503), 3, np.random.default_rng(0), CurriculumConfig())
    assert sorted(rows) == [500, 501, 502]


def test_target_draws_the_rates_nearest_to_it() -> None:
    stats = known([0.1, 0.68, 0.73, 0.3, 0.99])
    rows = POLICIES["target"](forecast(stats), np.arange(5), 2, np.random.default_rng(0), CurriculumConfig(target=0.7))
    assert sorted(rows) == [1, 2]


def test_thompson_policies_explore_what_is_uncertain() -> None:
    sure, unsure = known([0.9]), new_stats(pl.DataFrame({"key": ["a"]}), CurriculumConfig())
    both = known([0.9, 0.9])
    both.put(np.array([1]), unsure)
    assert sure.mean_rate()[0] == pytest.approx(0.9, abs=1e-3)
    # one known problem at .9 makes another a little more probable there, too
    assert first_draws("target", both, 2000)[1] > 0.4


def test_easy_to_hard_passes_over_the_pool_from_easy_to_hard() -> None:
    stats = known([0.2, 0.9, 0.5, 0.7])
    rng, rows, config = np.random.default_rng(0), np.arange(4), CurriculumConfig()
    order = []
    for _ in range(6):
        row = POLICIES["easy_to_hard"](forecast(stats), rows, 1, rng, config)[0]
        stats.num_visits[row] += 1
        order.append(int(row))
    assert order == [1, 3, 2, 0, 1, 3]


def test_the_hardest_share_counts_over_all_problems_not_only_the_active() -> None:
    stats = known([0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2])
    assert hardest(stats, np.array([0, 1, 2, 5]), 0.5).tolist() == [5]
    assert hardest(stats, np.array([0, 1]), 0.25).tolist() == [0, 1]


@pytest.mark.parametrize("policy", POLICIES)
def test_every_policy_draws_distinct_candidates_only(policy: str) -> None:
    stats = new_stats(pl.DataFrame({"key": [str(i) for i in range(500)]}), CurriculumConfig())
    rows = np.arange(1, 500, 2)
    for seed in range(20):
        drawn = POLICIES[policy](forecast(stats), rows, 100, np.random.default_rng(seed), CurriculumConfig())
        assert len(set(drawn.tolist())) == 100
        assert set(drawn.tolist()) <= set(rows.tolist())
