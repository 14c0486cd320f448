"""Which columns are the problem and its answer: by their names, and by what their first rows hold."""

from typing import Any

import pytest

from curate.errors import UserError
from curate.ingest.builder import Builder
from curate.ingest.layouts import layout
from curate.ingest.mapping import guess, unread_constants


def problem(record: dict[str, Any], **stated: str) -> dict[str, Any]:
    return Builder(guess([record], stated, "pool"), "pool", 1_000).problem(record, 0)


def seen(record: dict[str, Any], **stated: str) -> dict[str, Any]:
    """The fields that a record's columns fill, without those of every problem."""
    fields = ("prompt", "ground_truth", "choices", "solution")
    return {name: value for name, value in problem(record, **stated).items() if name in fields and value is not None}


def prompts(*records: dict[str, Any], **stated: str) -> list[str]:
    builder = layout((), guess(records, stated, "pool"), records).builder("pool", 1_000)
    return [builder.problem(record, row)["prompt"] for row, record in enumerate(records)]


INSTRUCTION = "You are an expert. Put the answer in \\boxed{}."


@pytest.mark.parametrize(
    "column", ["problem_description", "question_text", "problemText", "Problem Statement", "new_question", "query", "q"]
)
def test_a_column_that_repeats_one_text_is_not_the_problem(column: str) -> None:
    rows = [{"prompt": INSTRUCTION, column: f"Sum the first {n} odd numbers.", "answer": str(n * n)} for n in (3, 5, 8)]
    assert prompts(*rows) == [row[column] for row in rows]
    assert unread_constants(guess(rows, {}, "pool"), rows) == ["prompt"]


def test_a_few_instructions_in_turn_are_not_the_problem() -> None:
    rows = [{"instruction": f"Solve it, way {n % 3}.", "question": f"Sum to {n}!", "answer": "1"} for n in range(100)]
    assert prompts(*rows) == [row["question"] for row in rows]


def test_problems_that_many_rows_share_are_problems() -> None:
    rows = [{"problem": f"Sum to {n // 8}!", "text": f"sample {n}", "answer": "1"} for n in range(200)]
    assert prompts(*rows) == [row["problem"] for row in rows]


def test_a_name_or_number_is_not_the_problem_if_a_text_is_there() -> None:
    rows = [
        {"task": f"algebra_{n}", "problem_id": n, "problem_text": f"Sum the first {n}.", "answer": "1"} for n in (1, 2)
    ]
    assert prompts(*rows) == ["Sum the first 1.", "Sum the first 2."]


@pytest.mark.parametrize("name", ["problem_id", "question_type", "num_questions", "problem_source", "question_level"])
def test_a_column_about_the_problem_is_not_the_problem(name: str) -> None:
    with pytest.raises(UserError, match="no column looks like the problem"):
        guess([{name: "some text of it", "answer": "1"}], {}, "pool")


@pytest.mark.parametrize("name", ["exact_answer", "Answer Text", "final_ans", "correctAnswers", "ground_truth_value"])
def test_a_name_made_of_words_for_an_answer_is_the_answer(name: str) -> None:
    assert seen({"question": "Q?", name: "7"})["ground_truth"] == "7"


@pytest.mark.parametrize("name", ["model_answer", "answer_type", "student_answer", "num_answers", "wrong_answers"])
def test_an_answer_of_another_kind_is_not_the_answer(name: str) -> None:
    assert "ground_truth" not in seen({"question": "Q?", name: "7"})


def test_an_answer_column_with_one_value_comes_after_one_that_varies() -> None:
    rows = [{"question": f"Q{n}?", "target": "math", "final_result": str(n)} for n in range(30)]
    builder = layout((), guess(rows, {}, "pool"), rows).builder("pool", 1_000)
    assert [builder.problem(row, 0)["ground_truth"] for row in rows] == [str(n) for n in range(30)]


@pytest.mark.parametrize(
    ("context", "question", "prompt"),
    [
        ("Tom has 5 figs.", "Tom has 5  figs. How many are left?", "Tom has 5  figs. How many are left?"),
        ("Tom has 5 figs. How many?", "How many?", "Tom has 5 figs. How many?"),
        ("How many?", "How many?", "How many?"),
        ("x = 2", "Find y for x = 25.", "x = 2\n\nFind y for x = 25."),
        ("Tom has 5 figs.", "How many are left?", "Tom has 5 figs.\n\nHow many are left?"),
    ],
)
def test_a_column_that_another_contains_is_not_repeated(context: str, question: str, prompt: str) -> None:
    assert prompts({"Body": context, "Question": question, "Answer": 3.0}) == [prompt]
