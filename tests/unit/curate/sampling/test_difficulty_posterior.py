"""Posterior of a pass rate and the precise rule that stops on it."""

import random

import pytest

from curate.difficulty.decision_rule import PreciseRule
from curate.sampling.posterior import below, binomial_tail, inside, interval


def integral(num_correct: int, num_wrong: int, upto: float) -> float:
    """The distribution function of Beta(1 + s, 1 + f), by the midpoint rule."""
    steps = 20_000
    points = [(i + 0.5) / steps for i in range(steps)]
    density = [p**num_correct * (1 - p) ** num_wrong for p in points]
    return sum(d for p, d in zip(points, density, strict=True) if p <= upto) / sum(density)


@pytest.mark.parametrize(("num_correct", "num_wrong", "rate"), [(0, 0, 0.3), (8, 0, 0.9), (3, 5, 0.5), (20, 44, 0.25)])
def test_the_posterior_is_the_integral_of_its_density(num_correct: int, num_wrong: int, rate: float) -> None:
    assert below(rate, num_correct, num_wrong) == pytest.approx(integral(num_correct, num_wrong, rate), abs=1e-4)


@pytest.mark.parametrize(("num_correct", "num_wrong"), [(0, 0), (0, 8), (8, 0), (3, 5), (64, 0)])
def test_the_interval_leaves_equal_tails(num_correct: int, num_wrong: int) -> None:
    low, high = interval(num_correct, num_wrong)
    assert below(low, num_correct, num_wrong) == pytest.approx(0.05, abs=1e-9)
    assert 1 - below(high, num_correct, num_wrong) == pytest.approx(0.05, abs=1e-9)


def test_a_tail_beyond_all_trials_is_empty_and_the_whole_is_one() -> None:
    assert binomial_tail(8, 0.5, 9) == 0
    assert binomial_tail(8, 0.5, 0) == 1
    assert binomial_tail(8, 0.5, 8) == pytest.approx(1 / 256)


def test_the_error_rate_of_precise_decisions_is_within_its_bound() -> None:
    rule = PreciseRule(0.1, 0.9, target_error=0.05, chunk=4, max_samples=64, max_undecided=4)
    chance = random.Random(5)
    num_wrong, bound = 0, 0.0
    for _ in range(1_000):
        rate = chance.random()
        verdicts: list[str] = []
        while (num_owed := rule.owed(verdicts)) > 0:
            verdicts += ["correct" if chance.random() < rate else "wrong" for _ in range(num_owed)]
        num_wrong += (rule.decision(verdicts) == "keep") != (0.1 <= rate <= 0.9)
        bound += rule.error(verdicts.count("correct"), verdicts.count("wrong"))
    # three standard deviations of a sum of 1,000 such errors
    assert num_wrong <= bound + 3 * bound**0.5


def test_the_prior_alone_decides_nothing() -> None:
    rule = PreciseRule(0.0, 0.95, target_error=0.2, chunk=4, max_samples=16, max_undecided=2)
    assert rule.owed([]) == 4
    assert rule.decision([]) is None
    assert rule.decision(["undecided"] * 3) == "unverifiable"


def test_precise_sampling_stops_early_where_the_side_is_clear_and_at_the_cap_where_it_is_not() -> None:
    rule = PreciseRule(0.1, 0.9, target_error=0.05, chunk=4, max_samples=16, max_undecided=2)
    assert rule.owed([]) == 4
    assert rule.owed(["correct", "wrong"] * 2) == 0
    assert rule.decision(["correct", "wrong"] * 2) == "keep"
    assert rule.owed(["wrong"] * 15 + ["correct"]) == 0
    assert rule.decision(["wrong"] * 40) == "too_hard"
    assert rule.decision(["correct"] * 40) == "too_easy"
    assert rule.decision(["undecided"] * 3) == "unverifiable"
    assert inside(0.1, 0.9, 0, 40) < 0.05
