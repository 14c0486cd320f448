"""What is taken off around a problem, and what stays because it is the problem."""

import polars as pl
import pytest

from curate.text.chinese import simplified
from curate.text.spelling import normalised
from curate.text.surroundings import bare
from curate.text.synonyms import SYNONYMS

PROBLEM = "In the country of Numbria a plot of land has sides 13, 14 and 15. Find its area in square units."


def spelt(*texts: str) -> list[str]:
    return normalised(bare(pl.Series(texts))).to_list()


@pytest.mark.parametrize(
    "text",
    [
        (
            "Solve the following math problem step by step. The last line of your response should be of the form "
            f"Answer: $Answer (without quotes).\n\n{PROBLEM}\n\nRemember to put your answer on its own line after "
            f'"Answer:".'
        ),
        f"Question: {PROBLEM}\nAnswer:",
        f"{PROBLEM}\nLet's think step by step and output the final answer within \\boxed{{}}.",
        f"{PROBLEM} Please reason step by step, and put your final answer within \\boxed{{}}.",
        f"<|user|>\n{PROBLEM}\n<|assistant|>\n",
        f"Please solve this competition math problem: {PROBLEM}",
        f"3. [5] {PROBLEM}",
        f"**Problem 14.** (AIME 2003) {PROBLEM}",
        f"[b]p3.[/b] {PROBLEM}",
        f"Example 2: {PROBLEM}",
        f"(10 points) {PROBLEM}",
        f"7) {PROBLEM}",
        f"{PROBLEM} (AMC 10A, 2015)",
        f"{PROBLEM} [4 points]",
        f"{PROBLEM} Answer: $84$",
        f"{PROBLEM}answers: 84",
        f"{PROBLEM}\n\n[i]Proposed by A. Nother, Utopia[/i]",
        f"{PROBLEM}\n\n[i]",
        PROBLEM.replace("has", "**has**").replace("13", "*13*"),
    ],
)
def test_surroundings_are_no_part_of_a_problem(text: str) -> None:
    first, second = spelt(PROBLEM, text)
    assert first == second


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (
            "Consider games:\n[list]\n[*] $(1)$ one is won;\n[*] two are lost.\n[/list]",
            "Consider games: one is won; two are lost.",
        ),
        ("It holds that:\n(1) the sum is odd;\n(2) all differ.", "It holds that:\n- the sum is odd;\n- all differ."),
        ("These hold. (i) It is odd. (ii) It is big.", "These hold.\n(i) It is odd.\n(ii) It is big."),
        (r"\begin{enumerate}\item[(a)] Add. \item[(b)] Stop. \end{enumerate}", "(a) Add.\n(b) Stop."),
    ],
)
def test_the_marks_of_a_list_are_layout(one: str, other: str) -> None:
    first, second = spelt(one, other)
    assert first == second


@pytest.mark.parametrize(
    "text",
    [
        "2 + 3 = ?",
        "12.5 kg of flour cost 3 euros. How much is one kilogram?",
        "Solve the following equation: $x^2 = 4$.",
        "Give the final answer as $x + 2$ for $x = 3$.",
        "(1) + (2) + (3) is what?",
        "Compute $2^3$ ** 4 ** 5.",
        "Let a[i] be 3 and a[j] be 4. Find a[i] + a[j].",
        "Round your answer to the nearest 10.",
        "Which answer is right: 3 or 4?",
        "Answer: ",
        "",
    ],
)
def test_what_a_problem_says_stays(text: str) -> None:
    assert bare(pl.Series([text])).to_list() == [text]


def test_nulls_stay_and_a_text_of_surroundings_alone_stays() -> None:
    texts = [None, "Question 3.", "Think step by step and put the final answer in \\boxed{}."]
    assert bare(pl.Series(texts, dtype=pl.String)).to_list() == texts


def test_characters_are_pairs_of_the_two_scripts() -> None:
    # Big5 has no simplified character, GB 2312 next to no traditional one
    assert simplified(pl.Series(["問題與答案", "这道题"])).to_list() == ["问题与答案", "这道题"]


def test_no_synonym_stands_for_another() -> None:
    assert not set(SYNONYMS) & set(SYNONYMS.values())
