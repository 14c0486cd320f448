"""What the question asks for decides how lists are compared."""

from __future__ import annotations

import pytest

from curate.verify import verify
from curate.verify.compare.asked import asked

ORDERED = [
    "List the numbers from least to greatest.",
    "Sort 1, 3, 2 in decreasing order.",
    "Put the numbers in ascending order.",
    "Find a, b and c in that order.",
    "Arrange the fractions.",
    "Find the mean and the median, respectively.",
    "把这些数从大到小排列。",
]
UNORDERED = [
    "Find all roots, in any order.",
    "In order to solve the equation, find its roots.",
    "List the roots; the order does not matter.",
    "Find all ordered pairs.",
    "Find all roots.",
    "What is the order of the group?",
]


@pytest.mark.parametrize("question", ORDERED)
def test_an_order_that_was_asked_for_counts(question: str) -> None:
    assert verify(r"\boxed{3, 2, 1}", "3,2,1", question=question).verdict == "correct"
    assert verify(r"\boxed{1, 2, 3}", "3,2,1", question=question).verdict == "wrong"
    assert verify(r"\boxed{\{1, 2, 3\}}", "3,2,1", question=question).verdict == "wrong"
    assert verify(r"\boxed{1 2 3}", "3,2,1", question=question).verdict == "wrong"


@pytest.mark.parametrize("question", UNORDERED)
def test_other_lists_have_no_order(question: str) -> None:
    assert not asked(question).in_order
    assert verify(r"\boxed{1, 2, 3}", "3,2,1", question=question).verdict == "correct"


def test_both_signs_of_one_expression_have_no_order() -> None:
    answer, truth = r"\boxed{1\pm\sqrt2}", r"1-\sqrt2, 1+\sqrt2"
    assert verify(answer, truth, question="Give the roots in increasing order.").verdict == "correct"
