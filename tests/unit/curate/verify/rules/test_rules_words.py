"""Sets of words: any order and case, and no word more or fewer."""

import pytest

from curate.verify.rules.word_set import fault, judge, words_of

TRUTH = '["New York", "Rome", "rock and roll"]'


@pytest.mark.parametrize(
    "completion",
    [
        r"\boxed{Rome, New York, rock and roll}",
        r"It is \boxed{\{\text{rome}, \text{NEW YORK}, \text{rock and roll}\}}.",
        r'\boxed{["rock and roll", "Rome", "New York"]}',
        r"\boxed{Rome; New York; rock and roll}",
        "So the answer is Rome, New York, rock and roll",
        r"<think>\boxed{Paris}</think>\boxed{Rome, Rome, New York, rock and roll}",
    ],
)
def test_the_same_words_are_correct(completion: str) -> None:
    assert judge(completion, TRUTH) is True


@pytest.mark.parametrize(
    "completion",
    [
        "", r"\boxed{}", r"\boxed{Rome}", r"\boxed{Rome, New York, rock and roll, Paris}",
        r"\boxed{Rome, New York} or \boxed{Rome, New York, rock and roll}", "Rome is in Italy.",
        r"<think>\boxed{Rome, New York, rock and roll}</think>", r"\boxed{Rome, New, York, rock and roll}",
    ],
)  # fmt: skip
def test_other_words_are_wrong(completion: str) -> None:
    assert judge(completion, TRUTH) is False


def test_and_stands_between_two_words_or_is_part_of_one() -> None:
    assert judge(r"\boxed{red and green}", "red, green") is True
    assert judge(r"\boxed{red, green, and blue}", "red, green, blue") is True
    assert judge(r"\boxed{rock, roll}", "rock and roll") is False


def test_a_ground_truth_without_words_is_told() -> None:
    assert fault("[]") == fault(" , ") == "names no words"
    assert judge(r"\boxed{a}", "[]") is None
    assert words_of("红，绿、蓝") == {"红", "绿", "蓝"}
