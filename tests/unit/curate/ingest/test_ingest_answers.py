"""Answers and options in the forms that sources use."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curate.ingest.answers import answer_in, text_of
from curate.ingest.choices import choices_of, letter_of


@pytest.mark.parametrize(
    ("text", "answer", "is_marked"),
    [
        ("Half of 10 is 5.\n#### 5", "5", True),
        ("He has <<2*540=1080>>1080\n####  1,080 \n", "1,080", True),
        (r"so \boxed{3} and hence $\boxed{\frac{1}{\sqrt{2}}}$.", r"\frac{1}{\sqrt{2}}", True),
        (r"thus \boxed{\{1,2\}}", r"\{1,2\}", True),
        (r"\fbox{7}", "7", True),
        (r"\boxed 9", "9", True),
        (r"the box \boxed{ is not closed", r"the box \boxed{ is not closed", False),
        ("  42 ", "42", False),
        ("", None, False),
        ("a #### b", "a #### b", False),
        ("Show that the integral evaluates to $1$.", "1", True),
        (r"Prove that the limit is exactly $\frac{\pi}{4}$.", r"\frac{\pi}{4}", True),
        ("Show that $a=2$.", "a=2", True),
        ("The answer is $17$.", "17", True),
        ("There are $2^{n-1}$", "2^{n-1}", True),
        ("Show that the area of $T$ is $12$.", "12", True),
        ("$k$ must equal $9$.", "9", True),
        (r"Show that there are $\frac{n}{2}$ such elements $d$.", r"\frac{n}{2}", True),
        ("Show that the largest number of pairs is eight.", "eight", True),
        ("Show that the pair takes the form of $(a, b) = (2, 3)$.", "(a, b) = (2, 3)", True),
        ("There are $8$ squares: $1$ and $A$.", "There are $8$ squares: $1$ and $A$.", False),
        ("Show that the answer is 25.", "25", True),
        ("Prove that the answer is no.", "no", True),
        (r"The limit equals $$e^{-1}.$$", "e^{-1}", True),
        ("The length is $3$; the width is $4$.", "The length is $3$; the width is $4$.", False),
        ("Show that the group $G$ is $p$-nilpotent.", "Show that the group $G$ is $p$-nilpotent.", False),
        ("6 * 7 = 42. The answer is: 42", "42", True),
        ("So we add.\n**Final answer:** 3/4.", "3/4", True),
        ("两数相加，答案是：42。", "42", True),
        ("The answer is found by adding the two.", "The answer is found by adding the two.", False),
        ("Show that the statement is true.", "Show that the statement is true.", False),
        ("The limit is $3$ or $4$, as one sees.", "The limit is $3$ or $4$, as one sees.", False),
    ],
)
def test_the_answer_is_found_where_a_text_marks_it(text: str, answer: str | None, is_marked: bool) -> None:
    assert answer_in(text) == (answer, is_marked)


@given(st.text(alphabet="ab1 {}\\#\n$", max_size=30))
def test_any_text_has_an_answer_or_none(text: str) -> None:
    answer, is_marked = answer_in(text)
    assert answer is None or answer in text
    assert not (is_marked and not answer)


@pytest.mark.parametrize(
    ("value", "text"),
    [(27.0, "27"), (0.5, "0.5"), (7, "7"), (" 3 ", "3"), ("", None), (None, None), (["2"], "2"), (["1", "2"], "1, 2")],
)
def test_a_cell_becomes_text(value: Any, text: str | None) -> None:
    assert text_of(value) == text


@pytest.mark.parametrize(
    "value",
    [
        ["1", "2", "3"],
        ["A)1", "B)2", "C)3"],
        ["A. 1", "B. 2", "C. 3"],
        ["(A) 1", "(B) 2", "(C) 3"],
        {"A": "1", "B": "2", "C": "3"},
        {"text": ["1", "2", "3"], "label": ["A", "B", "C"]},
        [{"label": "A", "text": "1"}, {"label": "B", "text": "2"}, {"label": "C", "text": "3"}],
        [[{"aoVal": "A", "content": "1 "}], [{"aoVal": "B", "content": "2 "}], [{"aoVal": "C", "content": "3"}]],
        '["1", "2", "3"]',
        [1, 2.0, 3],
        "['1', '2', '3']",
        "A. 1\nB. 2\nC. 3",
        "a ) 1 , b ) 2 , c ) 3",
        ["a) 1", "b) 2", "c) 3"],
    ],
)
def test_options_are_read_in_every_shape(value: Any) -> None:
    assert choices_of(value) == ["1", "2", "3"]


@pytest.mark.parametrize("value", [None, [], ["only one"], "A or B", 3, {"A": None}, ["", ""], "[broken"])
def test_a_cell_without_options_has_none(value: Any) -> None:
    assert choices_of(value) is None


def test_a_list_of_sentences_that_begin_with_letters_keeps_them() -> None:
    assert choices_of(["A) yes", "B) no", "D) maybe"]) == ["A) yes", "B) no", "D) maybe"]


@pytest.mark.parametrize(
    ("truth", "choices", "start", "letter"),
    [
        (2, ["x", "y", "z"], 0, "C"),
        (2, ["x", "y", "z"], 1, "B"),
        ("2", ["x", "y", "z"], 0, "C"),
        ("2", ["1", "2", "3"], 0, "B"),
        ("B", ["x", "y"], 0, "B"),
        ("(B)", ["x", "y"], 0, "B"),
        ("y", ["x", "y"], 0, "B"),
        ("w", ["x", "y"], 0, "w"),
        (8, [2, 4, 6, 8], 0, "D"),
        (None, ["x", "y"], 0, None),
        ("b", ["x", "y"], 0, "B"),
        ("b", ["b", "a"], 0, "A"),
        (["A", "C"], ["x", "y", "z"], 0, "A, C"),
        ([0, 2], ["x", "y", "z"], 0, "A, C"),
    ],
)
def test_the_correct_option_becomes_its_letter(truth: Any, choices: list[Any], start: int, letter: str | None) -> None:
    assert letter_of(truth, [str(choice) for choice in choices], start) == letter
