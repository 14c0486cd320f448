"""The record of a draw: completions are in consecutive groups, and undecided rewards do not count."""

import pytest

from train.grpo.rollout.draw import Draw


def test_every_problem_has_a_slot_for_each_of_its_completions_also_if_drawn_twice() -> None:
    assert Draw((5, 2, 5), 1, 1, 2).slots() == [5, 5, 2, 2, 5, 5]


@pytest.mark.heavy
def test_a_group_counts_completions_with_any_reward_and_the_correct_ones_are_those_of_accuracy() -> None:
    import torch

    nan = float("nan")
    rewards = torch.tensor([[1.0, 0.0], [nan, nan], [nan, 1.0], [0.0, 1.0], [1.0, nan], [1.0, 1.0]])
    draw = Draw((3, 4), 9, 7, 3)
    judged = draw.judged(rewards, torch.ones(rewards.size(1)), rewards[:, 0], rewards[:, 0] > 0)
    assert judged.num_scored.tolist() == [2, 2, 2, 3, 3, 3]
    assert judged.is_correct.tolist() == [True, False, False, False, True, True]
    assert judged.has_signal.tolist() == [True, False, False, False, True, True]
    # the draw itself is unchanged
    assert draw == Draw((3, 4), 9, 7, 3)
    assert (judged.rows, judged.number, judged.step) == (draw.rows, draw.number, draw.step)
