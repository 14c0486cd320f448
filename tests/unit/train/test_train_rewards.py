"""Rewards: undecided is None and never 0, a cut completion earns nothing, and no completion can break one."""

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curate.errors import UserError
from curate.grading import GradingConfig
from train.rewards import Accuracy, Setting, is_thought_then_answer, rewards_named

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
        trainer_state=None,
    )


def test_accuracy_is_one_for_right_and_zero_for_wrong() -> None:
    assert judge(Accuracy(SETTING), ["\\boxed{7}", "\\boxed{8}", "no idea"]) == [1.0, 0.0, 0.0]


def test_what_cannot_be_judged_is_none_and_its_reason_is_kept() -> None:
    reward = Accuracy(SETTING)
    assert judge(reward, ["\\boxed{7}"], truth=None) == [None]
    assert reward.reasons == ["unparseable_ground_truth"]


def test_a_cut_completion_is_wrong_even_if_the_answer_stands_in_it() -> None:
    reward = Accuracy(SETTING)
    assert judge(reward, ["\\boxed{7} and so on"], ids=(5, 6)) == [0.0]
    assert reward.reasons == ["truncated"]


def test_a_cut_completion_can_be_left_out_of_the_baseline_instead() -> None:
    setting = Setting(GradingConfig(truncated="undecided"), max_tokens=64, end_ids=frozenset({END}))
    assert judge(Accuracy(setting), ["\\boxed{7}"], ids=(5, 6)) == [None]


def test_a_think_mark_that_the_template_wrote_is_part_of_the_completion() -> None:
    setting = Setting(GradingConfig(), max_tokens=64, opening="<think>", end_ids=frozenset({END}))
    # without the mark the box inside the thinking would count
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
        ("7<think>3+4</think>7", False),
        ("<think>3+4", False),
        ("<think><think>3+4</think>7", False),
        ("<think>3+4</think>7</think>8", False),
        ("7", False),
        ("", False),
    ],
)
def test_the_think_format_is_one_closed_block_and_an_answer(text: str, is_good: bool) -> None:
    assert is_thought_then_answer(text) is is_good


@given(st.lists(st.text(max_size=60), min_size=1, max_size=4))
def test_no_completion_breaks_a_reward(texts: list[str]) -> None:
    for reward in rewards_named(["accuracy", "think_format"], SETTING):
        values = judge(reward, texts)  # type: ignore[arg-type]  # both take the same keywords
        assert len(values) == len(texts)
        assert all(value is None or 0 <= value <= 1 for value in values)


def test_an_unknown_reward_names_the_nearest() -> None:
    with pytest.raises(UserError, match="did you mean accuracy"):
        rewards_named(["acuracy"], SETTING)
