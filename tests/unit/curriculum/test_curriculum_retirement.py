"""Retirement: the e-process bounds false retirement for any rates below p0, and still retires mastered problems."""

from itertools import repeat

import numpy as np
import pytest

from curriculum.simulate.rules import RULES, RulesConfig, Trial, try_rule

CONFIG = RulesConfig(num_problems=4000)


def at(rule: str, rate: float, **more: object) -> Trial:
    return try_rule(rule, repeat(rate), CONFIG.model_copy(update=more))


def test_at_p0_the_e_process_retires_falsely_in_at_most_alpha_of_200_visits() -> None:
    assert at("e_process", 0.8).retired_rate <= 0.05


@pytest.mark.parametrize("group_size", [1, 4, 16])
@pytest.mark.parametrize("p0", [0.5, 0.9])
def test_the_bound_holds_for_other_groups_and_p0(group_size: int, p0: float) -> None:
    trial = at("e_process", p0, group_size=group_size, p0=p0)
    assert trial.retired_rate <= 0.05
    # a rate far below alpha would mean a test without power
    assert trial.retired_rate > 0.005


def test_the_bound_holds_however_the_rate_moves_below_p0() -> None:
    rng = np.random.default_rng(5)
    wandering = (np.minimum(0.8, rng.beta(8, 2, CONFIG.num_problems)) for _ in range(CONFIG.num_visits))
    saw_tooth = (0.8 if visit % 20 else 0.1 for visit in range(CONFIG.num_visits))
    assert try_rule("e_process", wandering, CONFIG).retired_rate <= 0.05
    assert try_rule("e_process", saw_tooth, CONFIG).retired_rate <= 0.05


def test_the_other_rules_break_the_bound_that_the_e_process_holds() -> None:
    assert at("threshold", 0.8).retired_rate > 0.99
    assert at("posterior", 0.8).retired_rate > 0.2


def test_one_perfect_group_fires_the_threshold_in_84_percent_of_ten_visits() -> None:
    # 1 - (1 - 0.8^8)^10, the closed form
    assert at("threshold", 0.8, num_visits=10).retired_rate == pytest.approx(0.841, abs=0.02)


def test_a_mastered_problem_is_retired_within_six_visits() -> None:
    median = at("e_process", 0.99).median_visits
    assert median is not None
    assert median <= 6


def test_a_problem_learned_late_is_found_soon_after() -> None:
    rates = (0.3 if visit <= 100 else 0.97 for visit in range(1, CONFIG.num_visits + 1))
    median = try_rule("e_process", rates, CONFIG).median_visits
    assert median is not None
    assert 100 < median <= 120


@pytest.mark.parametrize("rule", RULES)
def test_one_lucky_completion_retires_only_under_the_threshold_rule(rule: str) -> None:
    assert at(rule, 1.0, group_size=1, num_visits=1, threshold=1.0, alpha=0.001).retired_rate == (rule == "threshold")


def test_a_group_of_thousands_causes_no_overflow() -> None:
    assert at("e_process", 1.0, group_size=100_000, num_visits=3, num_problems=5).retired_rate == 1
    assert at("e_process", 0.5, group_size=100_000, num_visits=3, num_problems=5).retired_rate == 0
