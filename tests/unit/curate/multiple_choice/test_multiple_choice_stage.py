"""The stage: what it drops, what it rewrites as an open question, and what it must not rewrite."""

import json

import polars as pl
import pytest

from curate.multiple_choice.guessable import guessable
from curate.multiple_choice.rewrite import open_question
from curate.multiple_choice.stage import MultipleChoiceConfig, run
from curate.records import PROBLEM, problem_key, schema


def frame(*rows: dict) -> pl.DataFrame:
    filled = [
        dict.fromkeys(PROBLEM) | {"key": problem_key(row["prompt"]), "kind": "math", "extra": '{"level": 3}'} | row
        for row in rows
    ]
    return pl.DataFrame(filled, schema=schema(PROBLEM))


ROWS = frame(
    {"prompt": "What is 7 times 8?\n(A) 54\n(B) 56\n(C) 58", "ground_truth": "B"},
    {"prompt": "What is 7 times 8?", "ground_truth": "56"},
    {"prompt": "Is 91 prime?", "ground_truth": "No"},
    {"prompt": "What is the sum of 3 and 4?", "ground_truth": "C", "choices": ["5", "6", "7"]},
    {"prompt": "Return the option. (A) 1 (B) 2 (C) 3", "ground_truth": None, "kind": "code", "tests": "[]"},
)


def test_drop_mode_gives_the_reason_and_the_evidence() -> None:
    decided = run(ROWS, MultipleChoiceConfig())
    assert decided["drop_reason"].to_list() == ["multiple_choice", None, "true_false", "multiple_choice", None]
    assert json.loads(decided["drop_detail"][0]) == {"shape": "upper_paren", "matched": "A B C"}
    assert decided.drop("drop_reason", "drop_detail").equals(ROWS)


def test_rewrite_mode_keeps_the_key_and_the_original() -> None:
    decided = run(ROWS, MultipleChoiceConfig(mode="rewrite"))
    assert decided["key"].equals(ROWS["key"])
    assert decided["drop_reason"].to_list() == [None, None, "true_false", None, None]
    assert decided.select("prompt", "ground_truth", "choices").row(0) == ("What is 7 times 8?", "56", None)
    assert decided.select("prompt", "ground_truth", "choices").row(3) == ("What is the sum of 3 and 4?", "7", None)
    extra = json.loads(decided["extra"][0])
    assert extra == {
        "level": 3,
        "multiple_choice": {"prompt": ROWS["prompt"][0], "ground_truth": "B", "choices": None},
    }
    assert decided["extra"][1] == ROWS["extra"][1]


def rewritten(prompt: str, truth: str, choices: list[str] | None = None) -> tuple[str, str] | None:
    how = guessable(prompt, truth, choices)
    assert how is not None
    new = open_question(prompt, truth, choices, how)
    return (new.prompt, new.ground_truth) if new else None


@pytest.mark.parametrize(
    ("prompt", "truth", "question", "answer"),
    [
        (
            r"If $x+3=7$ then $x=$ $\textbf{(A)}\ 1 \qquad \textbf{(B)}\ 2 \qquad \textbf{(C)}\ \frac{8}{2}$",
            "C",
            "If $x+3=7$ then $x=$ ____.",
            r"$\frac{8}{2}$",
        ),
        ("The area of the square is:\nA. 9\nB. 16\nC. 25", "16", "The area of the square is ____.", "16"),
        ("若x=3，则x^2=（  ）\nA、6\nB、9\nC、12", "B", "若x=3，则x^2=____", "9"),
        ("What is one half of 7? (A) 3 (B) 7/2 (C) 4", r"\frac{7}{2}", "What is one half of 7?", "7/2"),
        ("How long is the side? A) 3 cm B) 4 cm C) 5 cm", "a", "How long is the side?", "3 cm"),
    ],
)
def test_a_complete_stem_becomes_an_open_question(prompt: str, truth: str, question: str, answer: str) -> None:
    assert rewritten(prompt, truth) == (question, answer)


@pytest.mark.parametrize(
    ("prompt", "truth"),
    [
        ("Which of the following is prime?\nA. 9\nB. 11\nC. 15", "B"),  # other right answers exist
        ("The value of pi is closest to\n(A) 3.1 (B) 3.2 (C) 3.3", "A"),
        ("What is the limit? (A) 0 (B) 1 (C) none of these", "C"),  # no value
        ("What is the limit? (A) 0 (B) 1 (C) both A and B", "C"),
        ("Why does it converge? (A) It is bounded. (B) It is monotone. (C) It is constant.", "A"),
        ("What is 2+3? (A) 4 (B) 5 (C) 6 (D) 7", "X"),  # the right option is unknown
        ("Select all that apply: what divides 12? (A) 2 (B) 3 (C) 5", "AB"),  # several
        ("选出最小的偶数。A.3 B.4 C.5 D.6", "B"),
    ],
)
def test_a_problem_that_needs_its_options_is_not_rewritten(prompt: str, truth: str) -> None:
    assert rewritten(prompt, truth) is None
