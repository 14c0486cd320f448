"""Rewards: undecided is None and never 0, a cut completion earns nothing, and no completion can make one fail."""

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from curate.errors import UserError
from curate.sampling.grading import GradingConfig
from train.rewards.rewards import (
    Accuracy,
    Setting,
    ThinkFormat,
    follows_flag,
    kimi_length,
    rewards_named,
)

END = 2
SETTING = Setting(GradingConfig(), max_tokens=64, end_ids=frozenset({END}))


def judge(reward: Accuracy, texts: Sequence[str], truth: str | None = "7", ids: Sequence[int] = (5, END)) -> list[Any]:
    num = len(texts)
    return reward(
        completions=[[{"role": "assistant", "content": text}] for text in texts],
        completion_ids=[list(ids)] * num,
        ground_truth=[truth] * num,
        kind=["math"] * num,
        tests=[None] * num,
        question=["3+4="] * num,
        prompts=[[{"role": "user", "content": "3+4="}]] * num,
        trainer_state=None,
    )


def test_accuracy_is_one_for_right_and_zero_for_wrong() -> None:
    assert judge(Accuracy(SETTING), ["\\boxed{7}", "\\boxed{8}", "no idea"]) == [1.0, 0.0, 0.0]


def test_what_cannot_be_judged_is_none_and_its_reason_is_kept() -> None:
    reward = Accuracy(SETTING)
    assert judge(reward, ["\\boxed{7}"], truth=None) == [None]
    assert reward.reasons == ["unparseable_ground_truth"]


def test_a_cut_completion_is_wrong_even_if_it_contains_the_answer() -> None:
    reward = Accuracy(SETTING)
    assert judge(reward, ["\\boxed{7} and so on"], ids=(5, 6)) == [0.0]
    assert reward.reasons == ["truncated"]


def test_a_cut_completion_can_be_left_out_of_the_baseline_instead() -> None:
    setting = Setting(GradingConfig(truncated="undecided"), max_tokens=64, end_ids=frozenset({END}))
    assert judge(Accuracy(setting), ["\\boxed{7}"], ids=(5, 6)) == [None]


def test_a_think_mark_that_the_template_wrote_is_part_of_the_completion() -> None:
    setting = Setting(GradingConfig(), max_tokens=64, opening="<think>", end_ids=frozenset({END}))
    # without the tag the box inside the thinking would count
    assert judge(Accuracy(setting), ["maybe \\boxed{7}", "hm</think>\\boxed{7}"]) == [0.0, 1.0]


def test_reasoning_that_a_parser_split_off_is_put_back() -> None:
    assert SETTING.text([{"reasoning_content": "3+4", "content": "\\boxed{7}"}]) == "<think>3+4</think>\\boxed{7}"


@pytest.mark.parametrize(
    ("text", "is_good"),
    [
        ("<think>3+4</think>7", True),
        ("  <think>3+4</think>\n7", True),
        ("<think></think>7", True),
        ("<think>3+4</think>", False),
        ("<think>3+4</think>  ", False),
        ("[THINK]3+4[/THINK]7", True),
        ("<thinking>3+4</thinking>7", True),
        ("◁think▷3+4◁/think▷7", True),
        ("<thinking>3+4</think>7", False),
        ("<think>3+4</think>7[/THINK]8", False),
        ("7<think>3+4</think>7", False),
        ("<think>3+4", False),
        ("<think><think>3+4</think>7", False),
        ("<think>3+4</think>7</think>8", False),
        ("7", False),
        ("", False),
    ],
)
def test_the_think_format_is_one_closed_block_and_an_answer(text: str, is_good: bool) -> None:
    assert ThinkFormat(SETTING)([text]) == [float(is_good)]


@pytest.mark.parametrize(
    ("prompt", "wants_thought"),
    [
        ("3+4=", True),
        ("3+4= /think", True),
        ("3+4= /no_think", False),
        ("3+4= /think /no_think", False),
        ("3+4= /no_think /think", True),
        ("look into a/no_think", True),
    ],
)
def test_the_last_flag_decides_whether_the_think_block_must_be_filled(prompt: str, wants_thought: bool) -> None:
    assert follows_flag(prompt, "<think>3+4</think>7") is wants_thought
    assert follows_flag(prompt, "<think>\n\n</think>\n\n7") is not wants_thought
    assert not follows_flag(prompt, "7")


@settings(deadline=None, max_examples=50)  # the first one loads the language models
@given(st.lists(st.text(max_size=60), min_size=1, max_size=4))
def test_no_completion_breaks_a_reward(texts: list[str]) -> None:
    for reward in rewards_named(
        ["accuracy", "think_format", "think_flag", "language", "overlong", "repetition"], SETTING
    ):
        values = judge(reward, texts)  # type: ignore[arg-type]  # all take the same keywords
        assert len(values) == len(texts)
        assert all(value is None or -1 <= value <= 1 for value in values)


def test_an_unknown_reward_names_the_nearest() -> None:
    with pytest.raises(UserError, match="did you mean accuracy"):
        rewards_named(["acuracy"], SETTING)


def test_kimis_length_reward_is_by_rank_in_the_group_and_never_lifts_a_wrong_answer() -> None:
    group = [(10, 1.0), (20, 1.0), (30, 1.0), (10, 0.0), (30, 0.0), (20, None)]
    assert kimi_length(group, 6) == [0.5, 0.0, -0.5, 0.0, -0.5, None]


def test_kimis_length_reward_is_zero_where_all_are_of_one_length() -> None:
    assert kimi_length([(10, 1.0), (10, 0.0)], 2) == [0.0, 0.0]


def test_kimis_length_reward_compares_only_inside_a_group() -> None:
    assert kimi_length([(10, 1.0), (20, 1.0), (100, 1.0), (200, 1.0)], 2) == [0.5, -0.5, 0.5, -0.5]


def test_the_overlong_punishment_grows_over_the_last_tokens() -> None:
    setting = Setting(GradingConfig(), max_tokens=100, overlong_cache=20)
    reward = rewards_named(["overlong"], setting)[0]
    values = reward(completion_ids=[[1] * 80, [1] * 90, [1] * 100], completions=[""] * 3)
    assert values == [0.0, -0.5, -1.0]


ENGLISH = "First we add the two numbers together, then we carry the one over to the next column and write it down."
CHINESE = "首先我们把两个数相加，然后进位到下一列，再写下结果，这样就得到了答案。"
GERMAN = (
    "Zuerst addieren wir die beiden Zahlen und schreiben dann die Eins in die nächste Spalte, bevor wir weiterrechnen."
)


@pytest.mark.parametrize(
    ("question", "thought", "low", "high"),
    [
        (ENGLISH, f"{ENGLISH} $x+1$ {ENGLISH}", 1.0, 1.0),
        (CHINESE, f"{CHINESE} $\\frac{{a}}{{b}}$", 1.0, 1.0),
        (ENGLISH, CHINESE, 0.0, 0.0),
        (CHINESE, ENGLISH, 0.0, 0.0),
        (ENGLISH, f"{ENGLISH} {CHINESE}", 0.2, 0.6),
        (ENGLISH, " ".join([GERMAN] * 2), 0.0, 0.2),
        (GERMAN, " ".join([GERMAN] * 2), 0.9, 1.0),
        (ENGLISH, "Wait, let me double check", 1.0, 1.0),
    ],
)
def test_language_consistency_is_the_share_of_words_in_the_problems_language(
    question: str, thought: str, low: float, high: float
) -> None:
    reward = rewards_named(["language"], SETTING)[0]
    value = reward(completions=[f"<think>{thought}</think>\\boxed{{7}}"], question=[question])[0]
    assert value is not None
    assert low <= value <= high


def test_reasoning_without_words_has_no_language() -> None:
    reward = rewards_named(["language"], SETTING)[0]
    assert reward(completions=["<think>3+4=7</think>7"], question=[ENGLISH]) == [None]
    assert reward(completions=[f"<think>{ENGLISH}</think>7"], question=["3+4="]) == [None]
