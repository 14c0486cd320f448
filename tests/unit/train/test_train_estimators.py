"""Estimates from graded completions: unbiased, with wide intervals for few problems."""

from collections.abc import Callable
from itertools import combinations
from math import isclose
from statistics import fmean
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from train.estimators import average, majority, paired_difference, pass_at_k
from train.evaluate.scores import powers_of_two

Rates = Callable[[Any, int], Any]
counts = st.integers(1, 8).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n), st.integers(1, n)))


@given(counts)
def test_pass_at_k_is_the_share_of_all_draws_of_k_that_hold_a_success(case: tuple[int, int, int]) -> None:
    num, correct, k = case
    draws = list(combinations([True] * correct + [False] * (num - correct), k))
    assert isclose(pass_at_k(num, correct, k), sum(map(any, draws)) / len(draws))


def test_pass_at_more_than_was_drawn_is_refused() -> None:
    with pytest.raises(ValueError, match="needs 8 judged completions, not 4"):
        pass_at_k(4, 1, 8)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
def test_an_average_lies_inside_its_interval_and_the_interval_inside_0_to_1(rates: list[float]) -> None:
    estimate = average(rates)
    assert 0 <= estimate.low <= estimate.value + 1e-12
    assert estimate.value - 1e-12 <= estimate.high <= 1


def test_ten_problems_all_solved_do_not_prove_certainty() -> None:
    assert average([1.0] * 10).low < 0.8


def test_an_interval_counts_problems_not_completions() -> None:
    all_or_nothing = average([0.0, 1.0] * 10)
    half_each = average([0.5] * 20)
    assert all_or_nothing.high - all_or_nothing.low > 0.35
    assert half_each.high - half_each.low < all_or_nothing.high - all_or_nothing.low


def beta(a: float, b: float) -> Rates:
    return lambda generator, num: generator.beta(a, b, num)


# an interval from the rates' variance alone covers 88% of the first and 75% of the last
KINDS: dict[str, tuple[Rates, float, int]] = {
    "nearly all unsolved": (beta(0.1, 2), 0.1 / 2.1, 64),
    "nearly all solved": (beta(2, 0.1), 2 / 2.1, 64),
    "solved or not": (beta(0.1, 0.1), 0.5, 1),
    "alike": (beta(20, 20), 0.5, 4),
    "one in twenty solved": (lambda generator, num: np.where(generator.random(num) < 0.05, 0.9, 0.02), 0.064, 64),
}


@pytest.mark.parametrize("kind", KINDS)
def test_the_interval_of_30_problems_holds_the_mean_in_95_of_100_samples(kind: str) -> None:
    draw, mean, n = KINDS[kind]
    generator, num_samples = np.random.default_rng(1), 150
    found = [average(generator.binomial(n, draw(generator, 30)) / n) for _ in range(num_samples)]
    # less than two standard deviations of the share below; `benchmarks/average_coverage.py` measures it
    assert fmean(one.low <= mean <= one.high for one in found) > 0.92


def test_with_one_completion_a_problem_the_interval_is_clopper_and_pearsons() -> None:
    from scipy.stats import beta as quantiles

    for num, correct in ((30, 3), (30, 0), (100, 60), (8, 8)):
        found = average([1.0] * correct + [0.0] * (num - correct))
        low = quantiles.ppf(0.025, correct, num - correct + 1) if correct else 0
        high = quantiles.ppf(0.975, correct + 1, num - correct) if correct < num else 1
        assert (found.low, found.high) == pytest.approx((low, high), abs=0.01)


def test_the_interval_is_repeatable() -> None:
    assert average([0.2, 0.7, 0.1]) == average([0.2, 0.7, 0.1])


def test_a_tie_for_the_majority_counts_in_part_and_silence_not_at_all() -> None:
    assert majority(["right", "right", "3"], "right") == 1
    assert majority(["right", "3", None, None], "right") == 0.5
    assert majority(["3", "3", "right"], "right") == 0
    assert majority([None, None], "right") == 0


def test_a_paired_difference_sees_what_two_intervals_would_hide() -> None:
    before = [i / 40 for i in range(40)]
    better = paired_difference(before, [rate + 0.02 for rate in before])
    assert isclose(better.value, 0.02)
    assert better.low > 0
    assert average(before).high - average(before).low > 0.02


@given(st.integers(1, 70))
def test_powers_of_two_end_with_the_given_number(most: int) -> None:
    powers = powers_of_two(most)
    assert powers[0] == 1
    assert powers[-1] == most
    assert powers == sorted(set(powers))


@pytest.mark.parametrize("rate", [0.0, 1.0])
def test_an_interval_holds_its_value_where_nothing_or_everything_is_right(rate: float) -> None:
    for num in (1, 2, 7, 64, 599):
        found = average([rate] * num)
        assert 0.0 <= found.low <= found.value <= found.high <= 1.0
