"""Advantages of one's own against counting: subsets of k, the group's rate, the batch's deviation."""

import random

import pytest
import torch
from support.training import reference

from train.grpo.loss.advantages import over_batch, pass_at_k, relative
from train.grpo.rollout.draw import Draw

GROUP = 8


def judged(rewards: list[float | None]) -> Draw:
    given = torch.tensor([[float("nan") if reward is None else reward] for reward in rewards])
    draw = Draw(tuple(range(len(rewards) // GROUP)), 1, 1, GROUP)
    return draw.judged(given, torch.ones(1), given[:, 0], torch.ones(len(rewards), dtype=torch.bool))


def groups(seed: int, num: int = 40) -> list[list[float | None]]:
    chance = random.Random(seed)
    return [[chance.choice([0.0, 1.0, 1.0, None]) for _ in range(GROUP)] for _ in range(num)]


@pytest.mark.parametrize("k", [1, 2, 4, 8])
def test_pass_at_k_is_the_mean_over_all_subsets(k: int) -> None:
    made = groups(k)
    found = pass_at_k(judged([reward for group in made for reward in group]), k).view(-1, GROUP).tolist()
    for group, values in zip(made, found, strict=True):
        known = [reward == 1 for reward in group if reward is not None]
        subsets = iter(reference.subset_reward(known, k) if len(known) >= k else [0.0] * len(known))
        wanted = [0.0 if reward is None else next(subsets) for reward in group]
        assert values == pytest.approx(wanted, abs=1e-6)


def test_maxrl_weighs_a_success_by_failures_over_successes() -> None:
    values = relative(judged([1, 0, 0, 0, None, 0, 0, 0, *[0] * 8, *[1] * 8])).tolist()
    assert values[:8] == pytest.approx([6, -1, -1, -1, 0, -1, -1, -1])
    assert values[8:] == [0.0] * 16


def test_reinforce_pp_normalises_over_the_batch() -> None:
    values = over_batch(judged([reward for group in groups(3) for reward in group]))
    scored = values[values != 0]
    assert scored.mean().item() == pytest.approx(0, abs=0.2)
    assert scored.std().item() == pytest.approx(1, abs=0.2)
    assert over_batch(judged([None] * GROUP)).tolist() == [0.0] * GROUP
