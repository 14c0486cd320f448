"""Dynamic sampling: live groups replace dead ones, token for token, and nothing else changes."""

from typing import Any

import pytest

pytestmark = pytest.mark.heavy
PAD = 9


def scored(advantages: list[float], prompt: int, completion: int, token: int) -> dict[str, Any]:
    import torch

    num = len(advantages)
    return {
        "prompt_ids": torch.full((num, prompt), token),
        "prompt_mask": torch.ones(num, prompt, dtype=torch.long),
        "completion_ids": torch.full((num, completion), token),
        "completion_mask": torch.ones(num, completion, dtype=torch.long),
        "advantages": torch.tensor(advantages),
        "num_items_in_batch": torch.tensor(num * completion),
    }


def test_a_live_group_replaces_a_dead_one_and_lengths_are_padded_towards_each_other() -> None:
    from train.grpo.rollout.refill import replace_groups

    old = scored([0.0, 0.0, 1.0, -1.0], prompt=2, completion=5, token=1)
    new = scored([0.0, 0.0, 2.0, -2.0], prompt=4, completion=3, token=2)
    merged = replace_groups(old, new, 2, PAD)
    assert merged["advantages"].tolist() == [2, -2, 1, -1]
    assert merged["prompt_ids"].tolist() == [[2, 2, 2, 2]] * 2 + [[PAD, PAD, 1, 1]] * 2
    assert merged["prompt_mask"].tolist() == [[1, 1, 1, 1]] * 2 + [[0, 0, 1, 1]] * 2
    assert merged["completion_ids"].tolist() == [[2, 2, 2, PAD, PAD]] * 2 + [[1] * 5] * 2
    assert merged["completion_mask"].tolist() == [[1, 1, 1, 0, 0]] * 2 + [[1] * 5] * 2


def test_without_a_live_group_everything_stays() -> None:
    from train.grpo.rollout.refill import dead_groups, replace_groups

    old = scored([0.0, 0.0, 1.0, -1.0], prompt=2, completion=5, token=1)
    merged = replace_groups(old, scored([0.0, 0.0], prompt=2, completion=5, token=2), 2, PAD)
    assert all(value.equal(old[name]) for name, value in merged.items())
    assert dead_groups(merged, 2) == [0]


def test_more_live_groups_than_dead_ones_change_only_the_dead() -> None:
    from train.grpo.rollout.refill import replace_groups

    old = scored([0.0, 0.0, 1.0, -1.0], prompt=2, completion=2, token=1)
    merged = replace_groups(old, scored([3.0, -3.0, 4.0, -4.0], prompt=2, completion=2, token=2), 2, PAD)
    assert merged["advantages"].tolist() == [3, -3, 1, -1]
