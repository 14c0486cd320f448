"""Products of units: powers and quotients in any notation, and letters that are no units."""

from __future__ import annotations

import pytest

from curate.verify import verify

SAME = [
    ("42", r"42 \mathrm{~J} \mathrm{~K}^{-1} \mathrm{~mol}^{-1}"),
    (r"58 \mathrm{g} \mathrm{mol}^{-1}", "58 g/mol"),
    (r"7.1 \mathrm{J} \mathrm{K}^{-1}", "7.1 J K^-1"),
    (r"9 \mathrm{kg} \mathrm{~m}^2 \mathrm{~s}^{-2}", r"9 \mathrm{J}"),
    (r"8.3 \mathrm{J/(mol\,K)}", "8.3 J mol^-1 K^-1"),
    ("5 m s^-1", "18 km/h"),
    ("3 m s^{-1}", r"\frac{3m}{s}"),
    ("v^2_0", "v_0^2"),
]
OTHER = [
    ("67 J K^{-1}", "67 J K"),
    (r"67 \mathrm{J} \mathrm{K}^{-1}", r"67 \mathrm{J K}"),
    ("5 m s^-1", "5 m s^-2"),
    (r"5 \mathrm{mW\,s^{-1}}", r"5 \mathrm{MW\,s^{-1}}"),
    (r"8.3 \mathrm{J/(mol\,K)}", "8.3 J mol^-1"),
    ("2", "2s^{-1}"),
    ("3", "3x^{-1}"),
    ("v^2_0", "v_2^0"),
]


@pytest.mark.parametrize(("truth", "answer"), SAME)
def test_units_in_two_notations_are_one_quantity(truth: str, answer: str) -> None:
    assert verify(f"\\boxed{{{answer}}}", truth).verdict == "correct"


@pytest.mark.parametrize(("truth", "answer"), OTHER)
def test_another_power_or_scale_is_another_quantity(truth: str, answer: str) -> None:
    assert verify(f"\\boxed{{{answer}}}", truth).verdict == "wrong"
