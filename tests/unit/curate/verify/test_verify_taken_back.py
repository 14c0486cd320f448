"""Text that takes an answer back, hides it, contradicts it or runs on; and marks of reasoning."""

from __future__ import annotations

import pytest

from curate.verify import check_truth, verify
from curate.verify.code.program import find_program
from curate.verify.thinking import MARKS, has_reasoning, is_one_block, reasoning, split

WRONG = {
    "taken_back": [
        "\\boxed{42}\nWait, that is wrong.",
        "\\boxed{42} is wrong.",
        "\\boxed{42}. That's not correct.",
        "\\boxed{42}. Hmm, actually I think that's incorrect.",
        "\\boxed{42}. But I made a mistake.",
        "\\boxed{42}\n\nThe answer above is incorrect.",
        "\\boxed{42}. Scratch that.",
        "\\boxed{42}\nNo, wait.",
        "It is not \\boxed{42}.",
        "The answer is 42. Wait, that is wrong.",
        "#### 42\nSorry, this is wrong.",
        "<answer>42</answer> Oops, that is a mistake.",
        "\\boxed{42}。不对，答案错了。",
        "\\boxed{42}. The final answer is $\\boxed{42}$. This answer is not correct.",
    ],
    "multiple_answers": [
        "\\boxed{42}\nSo the final answer is 41.",
        "\\boxed{42}\n\n**Answer: 41**",
        "\\boxed{42}\n<answer>41</answer>",
        "#### 41\n#### 42",
        "<answer>41</answer> <answer>42</answer>",
    ],
    "no_answer": [
        "<!-- \\boxed{42} --> I could not find it.",
        "<!-- \\boxed{42}",
        "% \\boxed{42}\nI could not find it.",
        "\\begin{comment}\\boxed{42}\\end{comment} I do not know.",
        "~~\\boxed{42}~~",
        "$\\phantom{\\boxed{42}}$",
    ],
    "different": ["The answer is 41. % \\boxed{42}", "\\boxed{41} <!-- \\boxed{42} -->"],
    "hedged": ["\\boxed{42\\pm 0}", "\\boxed{42\\pm(1-1)}"],
}
RIGHT = [
    "\\boxed{42}. Wait, let me check: 6*7=42. That is right.",
    "\\boxed{42}. Note that 41 would be wrong.",
    "\\boxed{42}\nA common mistake is to answer 41.",
    "\\boxed{42}. I hope it is correct.",
    "\\boxed{42}, so our answer is correct.",
    "\\boxed{42}. The answer is in simplest form.",
    "50 % of 84 is \\boxed{42}.",
    "$84 \\cdot 50\\% = \\boxed{42}$",
    "I first said \\boxed{42} and checked it.\nThe final answer is \\boxed{42}.",
    "~~\\boxed{41}~~ It is \\boxed{42}.",
    "<FINAL_ANSWER>41</FINAL_ANSWER> no wait <FINAL_ANSWER>42</FINAL_ANSWER>",
    "<Final Answer>42</Final Answer>",
    "It costs $20 and $22. The final answer is $42, because $20 plus $22 is $42.",
    "6*7=42\n#### 42\n\nQuestion: Tom has 5 apples.\nAnswer: 5-2=3\n#### 3",
    "So it is \\boxed{42}.\n\nProblem: What is 1+1?\nSolution: \\boxed{2}",
    "Question 1: \\boxed{42}\n\nQuestion 2: again \\boxed{42}",
    "Final Answer: The largest $n$ is 42.",
    "Final Answer: The maximum number of points on the graph of $f(x)$ is 42.",
    "Final answer: There are 42 such integers.",
    "The answer is that Tom has 42 apples left.",
    "\\boxed{\\text{The largest } n \\text{ is } 42}",
]


@pytest.mark.parametrize(("reason", "completion"), [(r, c) for r, cs in WRONG.items() for c in cs])
def test_an_answer_that_is_denied_hidden_or_contradicted_is_wrong(reason: str, completion: str) -> None:
    verdict = verify(completion, "42")
    assert (verdict.verdict, verdict.reason) == ("wrong", reason)


@pytest.mark.parametrize("completion", RIGHT)
def test_a_comment_on_an_answer_leaves_it_correct(completion: str) -> None:
    assert verify(completion, "42").verdict == "correct"


@pytest.mark.parametrize(
    "claim",
    ["it is not 42", "n is 42 or 43", "it is more than 42", "the first is 42 and the last 40", "42 if n = 1"],
)
def test_a_sentence_that_does_not_state_the_value_is_no_answer(claim: str) -> None:
    assert verify(f"Final answer: {claim}.", "42").verdict == "wrong"


def test_a_denial_of_the_statement_is_not_a_denial_of_the_answer_no() -> None:
    assert verify("The answer is No. That is not correct for n = 2.", "No").verdict == "correct"


def test_a_final_letter_counts_beside_a_box_with_its_content() -> None:
    completion = "The relation is \\boxed{a \\ll b}.\n\n**Answer: D**"
    assert verify(completion, "D").verdict == "correct"
    assert verify(completion, "C").verdict == "wrong"
    assert verify("\\boxed{B}\n\n**Answer: D**", "D").verdict == "wrong"


@pytest.mark.parametrize(
    ("truth", "answer", "verdict"),
    [
        ("(a) 5 (b) 6", "5, 6", "correct"),
        ("(a) 5 (b) 6", "a) 5, b) 6", "correct"),
        ("(a) 5 (b) 6", "(b) 6 (a) 5", "correct"),
        ("(a) 5 (b) 6", "6, 5", "wrong"),
        ("(a) 5 (b) 6", "(a) 6 (b) 5", "wrong"),
        ("(i) 5; (ii) x^2", "(i) 5 (ii) x^2", "correct"),
        ("1. 5\n2. 6", "5, 6", "correct"),
        ("5, 6", "(a) 5 (b) 6", "correct"),
        ("Mean: 5; Variance: 2", "variance=2, mean=5", "correct"),
        ("Mean: 5; Variance: 2", "mean=2, variance=5", "wrong"),
        ("height 5 cm, width 6 cm", "5 cm and 6 cm", "correct"),
        ("height 5 cm, width 6 cm", "width 6 cm, height 5 cm", "correct"),
        ("height 5 cm, width 6 cm", "height 6 cm, width 5 cm", "wrong"),
        ("AB=9, CD=4", "AC=9, CD=4", "wrong"),
    ],
)
def test_answers_in_parts_are_compared_part_by_part(truth: str, answer: str, verdict: str) -> None:
    assert verify(f"\\boxed{{{answer}}}", truth).verdict == verdict


@pytest.mark.parametrize(("opening", "closing"), MARKS)
def test_every_mark_of_reasoning_hides_answers_and_programs(opening: str, closing: str) -> None:
    program = "```python\ndef f(x):\n    return x\n```"
    assert verify(f"{opening}\\boxed{{42}}{closing} I am not sure.", "42").reason == "think_only"
    assert verify(f"{opening}\\boxed{{42}}", "42").reason == "truncated"
    assert verify(f"{opening}\\boxed{{41}}{closing}\\boxed{{42}}", "42").verdict == "correct"
    assert find_program(f"{opening}\n{program}\n{closing}\nDone.", ["f"]).reason == "think_only"
    assert find_program(f"{opening}\n{program}\n", ["f"]).reason == "think_only"
    assert find_program(f"{opening}\nhm\n{closing}\n{program}", ["f"]).source == "def f(x):\n    return x\n"
    assert split(f"{opening.upper()}a{closing.upper()}b") == ("b", f"{opening.upper()}a", False)
    assert is_one_block(f"{opening}a{closing}b")
    assert not is_one_block(f"{opening}a{closing}")
    assert reasoning(f"{opening}a{closing}b") == "a"
    assert has_reasoning(f"{opening}a{closing}b")
    assert not has_reasoning(f"{opening}\n{closing}b")


def test_a_mark_inside_a_program_is_text() -> None:
    program = '```python\ndef f(x):\n    return "<think>" + x\n```'
    assert find_program(program, ["f"]).source is not None


@pytest.mark.parametrize(
    ("truth", "answer"),
    [
        ("#### 70000", "70000"),
        ("It cost 80,000+50,000=$<<80000+50000=130000>>130,000\nSo the profit is 70,000\n#### 70000", "70,000"),
        ("\\(\\boxed{1}\\) and \\(\\boxed{-2}\\).", "-2, 1"),
        ("(a) 5 (b) 6", "5, 6"),
        ("height 5 cm, width 6 cm", "5 cm, 6 cm"),
    ],
)
def test_a_truth_that_is_written_as_a_response_is_read(truth: str, answer: str) -> None:
    assert check_truth(truth) is None
    assert verify(f"\\boxed{{{answer}}}", truth).verdict == "correct"
    assert verify("\\boxed{7}", truth).verdict == "wrong"
