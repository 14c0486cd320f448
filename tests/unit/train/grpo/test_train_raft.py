"""Rejection fine-tuning inside the GRPO trainer: SFT on the correct completions, with the rest of the run unchanged."""

from itertools import chain, repeat
from typing import Any

import pytest
from support.training.generations import GROUP, Generating, always, flat_gradient, gradient, half, never, odd_start

from train.grpo.config import GrpoConfig

heavy = pytest.mark.heavy


def sft_gradient(trainer: Any, scored: dict[str, Any], chosen: Any) -> Any:
    """The gradient of the model's own loss (mean over labelled tokens) on the chosen completions alone."""
    import torch

    parts = {name: scored[name][chosen] for name in scored if name.endswith(("_ids", "_mask"))}
    labels = parts["completion_ids"].masked_fill(parts["completion_mask"] == 0, -100)
    trainer.model.zero_grad()
    trainer.model(
        input_ids=torch.cat([parts["prompt_ids"], parts["completion_ids"]], 1),
        attention_mask=torch.cat([parts["prompt_mask"], parts["completion_mask"]], 1),
        labels=torch.cat([torch.full_like(parts["prompt_ids"], -100), labels], 1),
    ).loss.backward()
    return flat_gradient(trainer.model)


@heavy
@pytest.mark.parametrize("judge", [odd_start, half, always], ids=["some", "some undecided", "all"])
def test_the_gradient_is_that_of_sft_on_the_correct_completions(generate: Generating, judge: Any) -> None:
    import torch

    trainer, scored = generate("raft", judge)
    is_odd = scored["completion_ids"][:, 0] % 2 == 1
    is_judged = torch.arange(len(is_odd)) % 2 == 0
    correct = {odd_start: is_odd, half: is_odd & is_judged, always: torch.ones_like(is_odd)}[judge]
    assert correct.any()
    expected = sft_gradient(trainer, scored, correct)
    assert expected.norm() > 0
    torch.testing.assert_close(gradient(trainer, scored), expected, rtol=1e-4, atol=1e-7)


@heavy
def test_the_text_of_wrong_completions_does_not_matter(generate: Generating) -> None:
    import torch

    trainer, scored = generate("raft", odd_start)
    wrong = scored["completion_ids"][:, 0] % 2 == 0
    assert 0 < wrong.sum() < len(wrong)
    other = scored["completion_ids"].clone()
    other[wrong] = (other[wrong] + 1) % 5
    torch.testing.assert_close(gradient(trainer, {**scored, "completion_ids": other}), gradient(trainer, scored))


@heavy
def test_without_a_correct_completion_there_is_no_gradient(generate: Generating) -> None:
    assert gradient(*generate("raft", never)).abs().max() == 0


@heavy
def test_both_objectives_are_given_the_same_problems_and_completions(generate: Generating) -> None:
    (rl, sampled), (sft, also) = generate("dr_grpo"), generate("raft")
    assert sampled["completion_ids"].equal(also["completion_ids"])
    assert rl.curriculum.history.events == sft.curriculum.history.events


@heavy
@pytest.mark.parametrize(
    ("name", "judge", "num_draws"),
    [("dr_grpo", always, 3), ("raft", always, 1), ("raft", never, 3)],
    ids=["baseline, all right", "raft, all right", "raft, all wrong"],
)
def test_only_groups_without_signal_are_refilled(generate: Generating, name: str, judge: Any, num_draws: int) -> None:
    trainer, _ = generate(name, judge, refill_rounds=2)
    assert trainer.curriculum.clock.draw_number == num_draws


@heavy
def test_after_a_refill_the_loss_is_divided_by_the_correct_tokens_that_are_there_now(generate: Generating) -> None:
    import torch

    judges = chain([never], repeat(always))

    def first_wrong_then_right(self: Any, **batch: Any) -> list[float | None]:
        return next(judges)(self, **batch)

    trainer, scored = generate("raft", first_wrong_then_right, refill_rounds=1)
    assert scored["advantages"].tolist() == [1.0] * (3 * GROUP)
    every = torch.ones(3 * GROUP, dtype=torch.bool)
    torch.testing.assert_close(gradient(trainer, scored), sft_gradient(trainer, scored, every), rtol=1e-4, atol=1e-7)


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ({"kl_coef": 0.1}, "raft has no KL"),
        ({"rewards": ("accuracy", "think_format")}, "raft learns from correct answers"),
        ({"reward_weights": (2.0,)}, "raft learns from correct answers"),
    ],
)
def test_options_that_fine_tuning_ignores_are_refused(option: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        GrpoConfig(objective="raft", **option)
    GrpoConfig(objective="dr_grpo", **option)


def test_other_rewards_may_be_logged() -> None:
    GrpoConfig(objective="raft", rewards=("accuracy", "think_format"), reward_weights=(1.0, 0.0))
