"""Labelled cases in files: guessable problems, open ones that look guessable, and their open questions."""

import json

import pytest
from support.places import CASES

from curate.multiple_choice.cues import ALONE, BINARY, STANDS_FOR, Cue
from curate.multiple_choice.guessable import guessable
from curate.multiple_choice.option_runs import masked
from curate.multiple_choice.rewrite import open_question


def _cases(name: str) -> list[dict]:
    return [json.loads(line) for line in (CASES / name).read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("reason", ["multiple_choice", "true_false", None])
def test_each_case_is_judged_as_labelled(reason: str | None) -> None:
    cases = [case for case in _cases("choice_cases.jsonl") if case["reason"] == reason]
    assert len(cases) > 40
    wrong = []
    for case in cases:
        how = guessable(case["prompt"], case["answer"], case.get("choices"))
        found = how.reason if how else None
        if found != reason:
            wrong.append(f"{found}: {case['prompt']} | {case['answer']}")
    assert wrong == []


@pytest.mark.parametrize("is_complete", [True, False])
def test_a_stem_is_rewritten_only_where_it_has_one_answer_without_its_options(is_complete: bool) -> None:
    cases = [case for case in _cases("rewrite_cases.jsonl") if (case["question"] is not None) == is_complete]
    assert len(cases) > 20
    wrong = []
    for case in cases:
        prompt, answer, choices = case["prompt"], case["answer"], case.get("choices")
        how = guessable(prompt, answer, choices)
        new = open_question(prompt, answer, choices, how) if how else None
        found = (new.prompt, new.ground_truth) if new else (None, None)
        if how is None or found != (case["question"], case["open_answer"]):
            wrong.append(f"{found}: {prompt} | {answer}")
    assert wrong == []


@pytest.mark.parametrize("cue", [ALONE, BINARY, STANDS_FOR])
def test_the_cheap_test_rejects_no_match_in_the_cases(cue: Cue) -> None:
    texts = [masked(case["prompt"]) for case in _cases("choice_cases.jsonl")]
    matching = [text for text in texts if cue.pattern.search(text)]
    assert matching != []
    assert [text for text in matching if cue.search(text) is None] == []
