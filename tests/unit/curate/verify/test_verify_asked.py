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


OFFERED = [
    "What is 2+3? (A) 6 (B) 5 (C) 4",
    "What is 2+3?\nA. 6\nB. 5\nC. 4",
    r"What is 2+3? $\textbf{(A)}\ 6 \qquad \textbf{(B)}\ 5 \qquad \textbf{(C)}\ 4$",
]


@pytest.mark.parametrize("question", OFFERED)
def test_the_content_of_an_offered_option_stands_for_its_letter(question: str) -> None:
    assert verify(r"\boxed{5}", "B", question=question).verdict == "correct"
    assert verify(r"\boxed{6}", "B", question=question).verdict == "wrong"
    assert verify(r"\boxed{B}", "5", question=question).verdict == "correct"
    assert verify(r"\boxed{C}", "5", question=question).verdict == "wrong"
    assert verify(r"\boxed{5}", "B").verdict == "wrong"


def test_a_prefix_is_no_answer_where_the_question_names_the_base() -> None:
    assert verify(r"\boxed{255}", "0xFF", question="Write the number in hexadecimal.").verdict == "wrong"
    assert verify(r"\boxed{255}", "0xFF", question="What does the program print?").verdict == "correct"
