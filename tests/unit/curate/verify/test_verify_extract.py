"""The places where an answer is sought, and the reasons for having none."""

from __future__ import annotations

import json

import pytest
from support.places import CASES

from curate.verify import Item, Policy, verify, verify_many

FOUND = [
    "Adding everything up, the final answer is 42.",
    "The answer is $42$.",
    "Answer: 42",
    "**Answer:** 42",
    "... work ...\n#### 42",
    "Final Answer: The final answer is $42$. I hope it is correct.",
    "the answer is therefore 42",
    "<answer>42</answer>",
    "<think>x</think><answer> 42 </answer>",
    "答案是42",
    "答案为：42。",
    "故答案为：42",
    "A: 42",
    "42",
    "$$42$$",
    "\\[42\\]",
    "The final answer is \\(42\\).",
    "The answer is **42**.",
    "Hence the answer is 42 because 6*7=42.",
    "## Final Answer\nThe final answer is: $\\boxed{42}$",
    "**Final Answer**\n\n\\boxed{42}",
    "The final answer is:\n\n42",
    "The total is **42**.\n\n---\n\nFinal Answer: **42**",
    "\\fbox{42}",
    "$\\boxed{\\boxed{42}}$",
    "\\boxed 42",
    "\\boxed{42}.\n\nThis has nothing to do with 43.",
    "I first thought 41, but the answer is 42.",
    "The answer is found by adding. The answer is 42.",
    "<think>\\boxed{41}</think>\\boxed{42}",
    "no opening mark \\boxed{41}</think> \\boxed{42}",
    "<think>x</think><think>y</think>\\boxed{42}",
    "\\boxed{42}. So the answer is \\boxed{42.0}",
    "4 + \\boxed{\\phantom{4}} = 46, so it is \\boxed{42}",
    "The number in \\boxed{} is \\boxed{42}",
]
NOT_FOUND = {
    "no_answer": [
        "",
        "   ",
        "\\boxed{}",
        "I think 42 could come up here, but I did not finish.",
        "There are 42 apples and 13 pears in the problem.",
        "42 is an interesting number; I have no answer.",
        "The answer is",
        "####",
        "<think>a</think>I am not sure.",
        "\\boxed{42}\\boxed{}",
        "maybe 42",
    ],
    "think_only": ["<think>\\boxed{42}</think>", "<think>\\boxed{42}</think>I could not finish the problem."],
    "truncated": [
        "\\boxed{42",
        "The total is $\\boxed{4",
        "<think>the answer is 42",
        "<think>\\boxed{42}",
        "\\boxed{41} \\boxed{4",
        "a</think><think>\\boxed{42}",
    ],
    "multiple_answers": [
        "\\boxed{41} \\boxed{42}",
        "\\boxed{42}. Wait, \\boxed{41}",
        "\\boxed{41}. Actually \\boxed{42}",
        "\\boxed{41, 42}",
        "\\boxed{41=42}",
        "\\boxed{x=42, y=41}",
        "The answer is 41. The answer is 42.",
        "\\boxed{41}\nThe answer is 42.",
        "\\boxed{42}\nThe final answer is 41.",
        "\\boxed{42}\n#### 41",
        "#### 6\n#### 42",
    ],
    "hedged": ["\\boxed{42 \\text{ or } 41}", "The answer is 42 or 41.", "\\boxed{41 or 42 or 43}"],
    "different": ["#### 41", "The answer is 41.", "\\boxed{?}"],
}


@pytest.mark.parametrize("completion", FOUND)
def test_an_explicit_final_answer_is_found(completion: str) -> None:
    assert verify(completion, "42").verdict == "correct"


@pytest.mark.parametrize(("reason", "completion"), [(r, c) for r, cs in NOT_FOUND.items() for c in cs])
def test_a_completion_without_a_final_answer_is_wrong_with_its_reason(reason: str, completion: str) -> None:
    verdict = verify(completion, "42")
    assert (verdict.verdict, verdict.reason) == ("wrong", reason)


def test_boxes_that_name_the_parts_of_a_list_are_one_answer() -> None:
    assert verify("x=\\boxed{1} or x=\\boxed{2}", "1,2").verdict == "correct"
    assert verify("\\boxed{1} and \\boxed{3}", "1,2").verdict == "wrong"
    assert verify("\\boxed{1}, \\boxed{2}, \\boxed{3}", "1,2").verdict == "wrong"


def test_policies_switch_off_claims_bare_answers_and_agreement() -> None:
    assert verify("The answer is 42.", "42", policy=Policy(claims=False)).reason == "no_answer"
    assert verify("42", "42", policy=Policy(bare=False)).reason == "no_answer"
    assert verify("\\boxed{41} then \\boxed{42}", "42", policy=Policy(boxes="last")).verdict == "correct"


def test_the_extracted_answer_is_reported_as_written() -> None:
    assert verify("so \\boxed{ \\dfrac{1}{2} }", "0.5").extracted == " \\dfrac{1}{2} "
    assert verify("nothing", "0.5").extracted is None


def test_extraction_of_a_very_long_completion_is_quick() -> None:
    for filler in (
        "The sum is taken term by term. ",
        "\\boxed{",
        "the answer is ",
        "{",
        "$",
        "<think>",
        "答案",
        "#### ",
    ):
        verdict = verify(filler * 20_000 + "\n\\boxed{42}", "42")
        assert verdict.ms < 2_000, filler


def test_whole_responses_of_many_forms_get_their_verdict() -> None:
    lines = (CASES / "response_cases.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    verdicts = verify_many([Item(row["completion"], row["ground_truth"]) for row in rows])
    missed = [
        (row, v)
        for row, v in zip(rows, verdicts, strict=True)
        if (v.verdict == "correct") != (row["expected"] == "correct")
    ]
    assert not missed


def test_a_box_inside_any_kind_of_thinking_is_no_answer() -> None:
    for opening, closing in (("<thinking>", "</thinking>"), ("[THINK]", "[/THINK]"), ("◁think▷", "◁/think▷")):
        assert verify(f"{opening}\\boxed{{42}}{closing} I am not sure.", "42").reason == "think_only"
        assert verify(f"{opening}\\boxed{{42}}", "42").reason == "truncated"
