"""The probability that a blind guess is right, and whether a model's successes beat guessing."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from curate.sampling.posterior import binomial_tail

BINARY: Final = frozenset({"yes", "no", "true", "false", "是", "否", "对", "错", "正确", "错误"})
LETTER: Final = re.compile(r"\(?[A-Ja-j]\)?")
NUMBER: Final = re.compile(r"-?\d{1,3}")
LETTER_OPTIONS: Final = 4


def chance(ground_truth: str | None, choices: Sequence[str] | None) -> float:
    """Share of right answers of a blind guesser, who knows the form of the answer and nothing else.

    1/2 for yes or no; 1 over the number of choices for a lettered answer (over four if they are not listed); 1/10^d for
    an integer of d <= 3 digits (half of that with a minus sign); else 0, since such an answer is not guessed.
    """
    answer = (ground_truth or "").strip().strip("$. ").lower()
    if answer in BINARY:
        return 1 / 2
    if choices or LETTER.fullmatch(answer):
        return 1 / max(len(choices or ()) or LETTER_OPTIONS, 2)
    if NUMBER.fullmatch(answer):
        num_digits = len(answer.lstrip("-"))
        return 10.0**-num_digits / (2 if answer.startswith("-") else 1)
    return 0.0


def luck_p_value(num_attempts: int, chance_rate: float, num_correct: int) -> float:
    """P(a blind guesser has at least `num_correct` of `num_attempts` right); small if luck is unlikely."""
    return binomial_tail(num_attempts, chance_rate, num_correct)


def fewest_beyond_chance(num_attempts: int, chance_rate: float, alpha: float) -> int:
    """Fewest successes of `num_attempts` that luck reaches with probability below `alpha`.

    `num_attempts + 1`, which no problem reaches, if even all of them could be luck.
    """
    counts = range(1, num_attempts + 1)
    return next((c for c in counts if luck_p_value(num_attempts, chance_rate, c) < alpha), num_attempts + 1)
