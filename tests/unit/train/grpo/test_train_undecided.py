"""Undecided completions lose their whole row, and a group has signal where its rewards differ by more than rounding."""

import itertools
from math import nan

import pytest

pytestmark = pytest.mark.heavy


def test_a_row_with_an_undecided_reward_is_undecided_as_a_whole() -> None:
    import torch

    from train.grpo.loss.undecided import whole_rows

    given = torch.tensor([[1.0, 1.0], [nan, 1.0], [0.0, nan], [0.0, 0.0]])
    wanted = torch.tensor([[1.0, 1.0], [nan, nan], [nan, nan], [0.0, 0.0]])
    found = whole_rows(given, torch.ones(2), 4, accuracy=0)
    torch.testing.assert_close(found, wanted, equal_nan=True)
    # the rewards that were given are unchanged
    assert given[1, 1] == 1


def test_a_reward_that_applies_to_no_completion_of_a_group_leaves_the_others() -> None:
    import torch

    from train.grpo.loss.undecided import whole_rows

    given = torch.tensor([[1.0, nan], [0.0, nan], [1.0, 0.5], [0.0, nan]])
    found = whole_rows(given, torch.ones(2), 2, accuracy=0)
    assert found[:3].tolist()[0][0] == 1
    assert found[0, 0] == 1
    assert found[1, 0] == 0
    assert found[2].tolist() == [1.0, 0.5]
    assert found[3].isnan().all()


def test_an_answer_that_nothing_could_judge_is_undecided_in_all_completions_of_a_group() -> None:
    import torch

    from train.grpo.loss.undecided import whole_rows

    given = torch.tensor([[nan, 1.0], [nan, 0.0]])
    assert whole_rows(given, torch.ones(2), 2, accuracy=0).isnan().all()


def test_a_reward_without_weight_undecides_nothing() -> None:
    import torch

    from train.grpo.loss.undecided import whole_rows

    given = torch.tensor([[1.0, nan], [0.0, 1.0]])
    found = whole_rows(given, torch.tensor([1.0, 0.0]), 2, accuracy=0)
    assert found[:, 0].tolist() == [1, 0]


@pytest.mark.parametrize("is_summed", [True, False])
@pytest.mark.parametrize("size", [2, 8, 64])
def test_no_constant_reward_is_a_signal_and_every_difference_is(size: int, is_summed: bool) -> None:
    import torch

    from train.grpo.loss.undecided import have_signal

    for value, weight in itertools.product((0.0, 0.1, 0.7, -0.3, 1e-4, 1e6), (1.0, 0.1, 3.0)):
        rewards = torch.full((size, 1), value)
        assert not have_signal(rewards, torch.tensor([weight]), size, is_summed=is_summed).any()
        rewards[0] += 1e-3 * max(1.0, abs(value))
        assert have_signal(rewards, torch.tensor([weight]), size, is_summed=is_summed).all()


def test_equal_sums_of_different_rewards_are_a_signal_only_where_each_is_normalised_by_itself() -> None:
    import torch

    from train.grpo.loss.undecided import have_signal

    # .1 + .2 is not .3
    rewards = torch.tensor([[0.1, 0.2], [0.3, 0.0]])
    weights = torch.ones(2)
    assert not have_signal(rewards, weights, 2, is_summed=True).any()
    assert have_signal(rewards, weights, 2, is_summed=False).all()


def test_undecided_completions_are_no_signal() -> None:
    import torch

    from train.grpo.loss.undecided import have_signal

    rewards = torch.tensor([[nan, nan], [1.0, 1.0], [nan, nan], [nan, nan], [1.0, 0.0], [0.0, 0.0]])
    found = have_signal(rewards, torch.ones(2), 2, is_summed=True)
    assert found.tolist() == [False, False, False, False, True, True]
