"""Why completions were not correct, in percent of all, and warnings above a fifth."""

import random

import pytest

from curate.sampling.breakdown import cautions, described, no_answer_rate, reasons_of

WRONG = {"truncated": 41, "no_answer": 12, "different": 7}


def judged(counts: dict[tuple[str, str], int]) -> list[tuple[str, str]]:
    pairs = [pair for pair, num in counts.items() for _ in range(num)]
    random.Random(0).shuffle(pairs)
    return pairs


def test_the_breakdown_is_in_percent_of_all_completions_and_begins_with_the_most_frequent_reason() -> None:
    counts = {("wrong", reason): num for reason, num in WRONG.items()}
    reasons = reasons_of(judged({**counts, ("correct", "exact"): 30, ("undecided", "timeout"): 10}))
    assert reasons == {"wrong": WRONG, "undecided": {"timeout": 10}}
    assert list(reasons["wrong"]) == ["truncated", "no_answer", "different"]
    line = described(reasons, 100)
    assert line == "wrong 60%: truncated 41, no_answer 12, different 7  undecided 10%: timeout 10"


@pytest.mark.parametrize("seed", range(50))
def test_the_parts_add_up_to_the_share_of_their_verdict(seed: int) -> None:
    chance = random.Random(seed)
    counts = {f"r{place}": chance.randint(1, 90) for place in range(chance.randint(1, 6))}
    total = sum(counts.values()) + chance.randint(0, 300)
    share, parts = described({"wrong": counts}, total).removeprefix("wrong ").split("%: ")
    shown = [0 if part.endswith("<1") else int(part.split()[1]) for part in parts.split(", ")]
    assert sum(shown) == int(share)


def test_a_rare_reason_is_not_shown_as_none() -> None:
    assert described({"wrong": {"different": 500, "hedged": 1}}, 1000) == "wrong 50%: different 50, hedged <1"


def test_no_answer_counts_answers_inside_the_reasoning_too() -> None:
    assert no_answer_rate({"wrong": {"no_answer": 2, "think_only": 3, "different": 4}}, 10) == 0.5
    assert no_answer_rate({}, 0) == 0.0


def test_a_warning_names_the_setting_to_change() -> None:
    assert cautions(0.2, 0.2) == {}
    found = cautions(0.41, 0.25)
    assert "41% of completions are cut off at --max-tokens" in found["cut_off"]
    assert "--template" in found["no_answer"]
