"""The correction for sampling by vLLM in the losses that are ours: as in TRL's own loss, and as the equations say."""

from dataclasses import replace
from typing import Any

import pytest
from support.training.generations import GROUP, LENGTH, PROBLEMS, Generating, gradient, odd_start

from train.grpo.objectives import objective_named

pytestmark = pytest.mark.heavy
B = PROBLEMS * GROUP


def corrected(generate: Generating, name: str, *, per_token: bool) -> tuple[Any, dict[str, Any]]:
    """A trainer and a generation with weights as TRL computes them for vLLM: some 0 (masked), none of them 1."""
    import torch

    trainer, scored = generate(name, odd_start)
    trainer.use_vllm = trainer.vllm_importance_sampling_correction = True
    shape = (B, scored["completion_ids"].size(1) if per_token else 1)
    weights = torch.rand(shape, generator=torch.Generator().manual_seed(5)) * 3
    weights[weights < 0.3] = 0
    return trainer, {**scored, "importance_sampling_ratio": weights}


@pytest.mark.parametrize("per_token", [True, False], ids=["per token", "per completion"])
@pytest.mark.parametrize("name", ["reinforce", "kimi", "rloo"])
def test_our_losses_weigh_tokens_as_trls_loss_does(generate: Generating, name: str, per_token: bool) -> None:
    import torch

    wanted = gradient(*corrected(generate, "dr_grpo", per_token=per_token))
    found = gradient(*corrected(generate, name, per_token=per_token))
    scale = GROUP / (GROUP - 1) if name == "rloo" else 1
    assert wanted.norm() > 0
    torch.testing.assert_close(found, wanted * scale, rtol=1e-4, atol=1e-8)


@pytest.mark.parametrize("name", ["reinforce", "kimi", "rloo"])
def test_a_weight_of_one_changes_nothing_and_a_masked_completion_has_no_gradient(
    generate: Generating, name: str
) -> None:
    import torch

    trainer, scored = corrected(generate, name, per_token=False)
    ones = {**scored, "importance_sampling_ratio": torch.ones(B, 1)}
    torch.testing.assert_close(gradient(trainer, ones), gradient(*generate(name, odd_start)), rtol=1e-5, atol=1e-9)
    heard = int(scored["advantages"].abs().argmax())
    masked = torch.ones(B, 1)
    masked[heard] = 0
    assert gradient(trainer, ones, only=heard).norm() > 0
    assert gradient(trainer, {**scored, "importance_sampling_ratio": masked}, only=heard).abs().max() == 0


def test_kimis_regulariser_is_an_expectation_over_the_policy_that_generated(generate: Generating) -> None:
    """Its gradient is tau sum_i w_i s_i grad log pi(o_i) / (B L), s_i the log-ratio: eq. 3 under importance weights."""
    import torch

    trainer, scored = corrected(generate, "kimi", per_token=False)
    tau = 0.5
    trainer._objective = replace(objective_named("kimi"), tau=tau)
    mask = scored["completion_mask"]
    ids = torch.cat([scored["prompt_ids"], scored["completion_ids"]], 1)
    attended = torch.cat([scored["prompt_mask"], mask], 1)
    old_logps = torch.randn(mask.shape, generator=torch.Generator().manual_seed(7)) - 3
    found = gradient(trainer, {**scored, "old_per_token_logps": old_logps})

    trainer.model.zero_grad()
    logits = trainer.model(input_ids=ids, attention_mask=attended).logits[:, -mask.size(1) - 1 : -1]
    logps = logits.log_softmax(-1).gather(-1, scored["completion_ids"].unsqueeze(-1)).squeeze(-1) * mask
    with torch.no_grad():
        ratios = logps.sum(1) - (old_logps * mask).sum(1)
    pull = scored["importance_sampling_ratio"].squeeze(1) * (tau * ratios - scored["advantages"])
    ((pull * logps.sum(1)).sum() / (B * LENGTH)).backward()
    wanted = torch.cat([p.grad.flatten() for p in trainer.model.parameters() if p.grad is not None])
    torch.testing.assert_close(found, wanted, rtol=1e-4, atol=1e-6)
