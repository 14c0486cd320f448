"""Which differences between two texts with one answer leave them one problem."""

import polars as pl
import pytest

from curate.text.differences import are_telling, state_the_same, statements
from curate.text.surroundings import bare

CARDS = "Two cards are dealt at random from a deck of 52. What is the chance that the first is {} and the second is {}?"


def telling(answer: str) -> bool:
    return are_telling(pl.Series([answer]))[0]


def same(one: str, other: str, answer: str, *, within: bool = False) -> bool:
    return state_the_same(*statements(bare(pl.Series([one, other])).to_list()), telling=telling(answer), within=within)


@pytest.mark.parametrize(
    ("one", "other", "answer"),
    [
        ("What is the largest integer $x$ with $5-4x>17$?", "What is the greatest integer $x$ with $5-4x>17$?", "-4"),
        ("Find the smallest value of $a+b$.", "Find the smallest possible value of $$S = a+b.$$", "8"),
        (
            "A ball rolls 1 m to the east, then 2 m to the north, and starts over. Where is it after 162 moves?",
            (
                "A ball rolls 1 m to the east, then 2 m to the north, and starts over: it rolls 1 m to the east, then "
                "2 m to the north. Where is it after 162 moves?"
            ),
            "22",
        ),
        (
            "Place 6 black rooks and $k$ white rooks so that each attacks only the other colour. Find the largest $k$.",
            (
                "Place 6 black rooks and $k$ white rooks so that each attacks only the other colour. Find the largest "
                "$k$. (Rooks attack each other if they stand in one row or column with no rook between.)"
            ),
            "14",
        ),
        (
            "Write each $\\sqrt{d}$ as $a\\sqrt{b}$. Find the sum of all $a+b$.",
            (
                "Write each $\\sqrt{d}$ as $a\\sqrt{b}$. (For example, $\\sqrt{20}$ becomes $2\\sqrt{5}$.) Find the "
                "sum of all $a+b$."
            ),
            "3480",
        ),
        (
            "The commitee sat 3 times in 2020. How often in 2021?",
            "The committee sat 3 times in 2020. How often in 2021?",
            "5",
        ),
        (
            "Let $\\{{m+n\\pi}\\over p}$ be it. Find $m+n+p$.",
            "Let $\\{\\frac{m+n\\pi}{p}$ be it. Find $m + n + p.$",
            "505",
        ),
    ],
)
def test_these_differences_change_no_answer(one: str, other: str, answer: str) -> None:
    assert same(one, other, answer)
    assert same(other, one, answer)


@pytest.mark.parametrize(
    ("one", "other", "answer"),
    [
        ("Find the sum of the prime factors of 735.", "Find the sum of the prime factors of 315.", "15"),
        ("Find $t = 1/AC^2 + 1/BC^2$.", "Find $t = 1/AC + 1/BC$.", "4"),
        (CARDS.format("a $\\diamondsuit$", "an ace"), CARDS.format("a King", "a $\\heartsuit$"), r"\frac{1}{52}"),
        ("Is $f(f(x))$ even, odd, or neither?", "Is $f(f(f(x)))$ even, odd, or neither?", "odd"),
        ("Evaluate $\\int \\sin x$ at 0.", "Evaluate $\\int x$ at 0.", "0"),
        ("Tom has 3 and Ann has 4. How many in all?", "Tom has 4 and Ann has 3. How many in all?", "7"),
        ("How many are odd?", "How many are even?", "5"),
        ("Show the weather in Rome. How many calls?", "Show the weather in Oslo. How many calls?", "1"),
        ("The function $f$ must be injective.", "The function $g$ must be injective.", "True"),
        ("How many letters has RADII?", "How many letters has PROOF?", "5"),
        ("Find the area of the circle with radius 4.", "Find the circumference of the circle with radius 4.", "5"),
        ("What is $f(1)$ if $f(xy) = f(x)f(y)$?", "What is $f(0)$ if $f(x+y) = f(x)f(y)$?", "0,1"),
    ],
)
def test_these_differences_make_another_problem(one: str, other: str, answer: str) -> None:
    assert not same(one, other, answer)
    assert not same(other, one, answer)


def test_a_longer_text_may_hold_a_problem() -> None:
    item = "What is the largest integer $x$ with $5-4x>17$?"
    text = f"First add 3 and 4. {item.replace('largest', 'greatest')} Then subtract 9."
    assert same(item, text, "-4", within=True)
    assert not same(item, text, "-4")


@pytest.mark.parametrize(
    ("answer", "is_so"), [("3", False), ("yes", False), ("127", True), (r"\sqrt{x} + 1", True), (None, False)]
)
def test_an_answer_that_few_problems_have_is_telling(answer: str | None, is_so: bool) -> None:
    assert are_telling(pl.Series([answer], dtype=pl.String)) == [is_so]
