"""The band's arithmetic: curtailed sampling decides as all K samples would, and draws no more than it must."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curate.difficulty.band import Band, decide_in_order, expected_samples, fewest_owed, settled
from curate.difficulty.decision_rule import BandRule
from curate.sampling.tallies import Tally, tally

ALL_BANDS = [Band(low, high, k) for k in (1, 2, 5, 8) for low in range(k + 1) for high in range(low, k + 1)]


def draw(rule: BandRule, outcomes: tuple[str, ...]) -> list[str]:
    """The outcomes that sampling would draw, in order of their index."""
    drawn: list[str] = []
    while (num_owed := rule.owed(drawn)) > 0:
        drawn = list(outcomes[: len(drawn) + num_owed])
    return drawn


@pytest.mark.parametrize("band", ALL_BANDS, ids=str)
def test_curtailed_sampling_decides_as_all_k_samples_for_every_sequence(band: Band) -> None:
    rule = BandRule(band, max_undecided=0, is_curtailed=True)
    for outcomes in product(("correct", "wrong"), repeat=band.k):
        num_correct = outcomes.count("correct")
        full = "keep" if band.low <= num_correct <= band.high else "too_easy" if num_correct > band.high else "too_hard"
        drawn = draw(rule, outcomes)
        assert rule.decision(drawn) == full
        assert rule.decision(outcomes) == full


@pytest.mark.parametrize("band", [band for band in ALL_BANDS if band.k <= 5], ids=str)
@pytest.mark.parametrize("most", [0, 1])
def test_no_sample_is_drawn_once_the_decision_is_final(band: Band, most: int) -> None:
    rule = BandRule(band, most, is_curtailed=True)
    for outcomes in product(("correct", "wrong", "undecided"), repeat=band.k + most):
        drawn = draw(rule, outcomes)
        assert settled(tally(drawn), band, most) is not None
        assert not drawn or decide_in_order(drawn[:-1], band, most) is None


@given(
    st.sampled_from([band for band in ALL_BANDS if band.k == 5]),
    st.integers(0, 3),
    st.lists(st.sampled_from(["correct", "wrong", "undecided"]), min_size=9, max_size=9),
)
def test_unjudged_samples_are_replaced_and_change_no_decision(band: Band, most: int, outcomes: list[str]) -> None:
    drawn = draw(BandRule(band, most, is_curtailed=True), tuple(outcomes))
    full = draw(BandRule(band, most, is_curtailed=False), tuple(outcomes))
    decision = decide_in_order(drawn, band, most)
    assert decision == decide_in_order(full, band, most)
    assert decision is not None
    if decision != "unverifiable":
        judged = [outcome for outcome in outcomes if outcome != "undecided"][: band.k]
        assert tally(judged).correct + tally(judged).wrong < band.k or decision == decide_in_order(judged, band, 0)


@pytest.mark.parametrize("band", [band for band in ALL_BANDS if band.k <= 5], ids=str)
@pytest.mark.parametrize("most", [0, 1])
def test_full_k_for_kept_draws_all_k_of_kept_problems_alone_and_decides_alike(band: Band, most: int) -> None:
    filled = BandRule(band, most, is_curtailed=True, fills_kept=True)
    curtailed = BandRule(band, most, is_curtailed=True)
    for outcomes in product(("correct", "wrong", "undecided"), repeat=band.k + most):
        drawn = draw(filled, outcomes)
        few = draw(curtailed, outcomes)
        decision = filled.decision(drawn)
        assert decision == curtailed.decision(few)
        if decision != "keep":
            assert drawn == few
        elif (seen := tally(drawn)).undecided <= most:
            assert seen.correct + seen.wrong == band.k


def test_expected_samples_is_the_mean_over_all_sequences() -> None:
    for band in ALL_BANDS:
        rule = BandRule(band, 0, is_curtailed=True)
        mean = sum(len(draw(rule, outcomes)) for outcomes in product(("correct", "wrong"), repeat=band.k)) / 2**band.k
        # Beta(t, t) with a large t is a coin with p = 1/2
        assert expected_samples(band, 1e9, 1e9) == pytest.approx(mean, rel=1e-6)


@pytest.mark.parametrize(("band", "mean"), [(Band(1, 7, 8), 4.44), (Band(0, 0, 8), 2.72)], ids=str)
def test_uniform_pass_rates_cost_the_published_number_of_samples(band: Band, mean: float) -> None:
    assert expected_samples(band, 1, 1) == pytest.approx(mean, abs=0.005)


def test_samples_that_every_outcome_needs_are_owed_together() -> None:
    assert fewest_owed(Tally(), Band(1, 7, 8), 4) == 2
    assert fewest_owed(Tally(), Band(4, 4, 8), 4) == 5
    assert fewest_owed(Tally(correct=1), Band(1, 7, 8), 4) == 1
    assert fewest_owed(Tally(undecided=3), Band(4, 4, 8), 4) == 2


@pytest.mark.parametrize(
    ("low", "high", "k", "band"), [(0.1, 0.9, 8, (1, 7)), (0.3, 0.3, 10, (3, 3)), (0, 1, 4, (0, 4))]
)
def test_a_band_of_rates_contains_the_counts_with_a_rate_in_it(
    low: float, high: float, k: int, band: tuple[int, int]
) -> None:
    found = Band.of_rates(low, high, k)
    assert (found.low, found.high) == band


@pytest.mark.parametrize("text", ["7..1", "1..9", "a", "1..", "-1..2", ""])
def test_an_invalid_band_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"write|band"):
        Band.parse(text, 8)
