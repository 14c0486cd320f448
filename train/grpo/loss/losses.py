"""Losses that TRL lacks in its trainer, as functions of log-probabilities; `train.grpo.trainer` calls them.

Shapes: B completions of the batch, T tokens. The constant L is the longest completion allowed; like TRL's dr_grpo loss
these are means over completions of sums over tokens, divided by L, so that learning rates carry over.

w is the weight of a token in the correction for sampling by vLLM: the ratio of the trainer's probability to vLLM's when
the completion was sampled, bounded as TRL's `vllm_importance_sampling_mode` has it, of the token (B, T) or of the whole
completion (B, 1). As in TRL's losses it multiplies the term of each token, and no gradient flows through it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch


class Tokens(NamedTuple):
    """Log-probabilities of the sampled tokens now and when they were sampled, the mask, each completion's advantage.

    advantages: one of each completion (B,), or of each token (B, T) where single calls are punished.
    weights: w above, (B, T) or (B, 1); None where transformers sampled, whose probabilities are the trainer's.
    """

    logps_BT: torch.Tensor  # noqa: N815  # shape letters
    old_logps_BT: torch.Tensor  # noqa: N815
    mask_BT: torch.Tensor  # noqa: N815
    advantages: torch.Tensor
    weights: torch.Tensor | None = None

    def weighted_sums(self, terms_BT: Any) -> Any:  # noqa: N803
        """Sum over each completion's tokens of w times the term, (B,)."""
        weighted_BT = terms_BT if self.weights is None else terms_BT * self.weights  # noqa: N806
        return (weighted_BT * self.mask_BT).sum(-1)


def reinforce_loss(tokens: Tokens, max_length: int) -> Any:
    """-mean_i A_i sum_t w_it log pi(o_it) / L: Williams 1992."""
    if tokens.advantages.dim() == 2:
        return -tokens.weighted_sums(tokens.advantages * tokens.logps_BT).mean() / max_length
    return -(tokens.advantages * tokens.weighted_sums(tokens.logps_BT)).mean() / max_length


def kimi_loss(tokens: Tokens, max_length: int, tau: float) -> Any:
    """REINFORCE plus tau/2 times the squared log-ratio of whole completions: Kimi k1.5 (2501.12599), eq. 3.

    The square is s_i sum_t d_it, where d_it is a token's log-ratio and s_i = sum_t d_it, so that w_it has a term to
    weigh. With a weight per completion that is w_i s_i^2.
    """
    log_ratios_BT = tokens.logps_BT - tokens.old_logps_BT  # noqa: N806
    ratio_B = (log_ratios_BT * tokens.mask_BT).sum(-1)  # noqa: N806
    penalty = (ratio_B * tokens.weighted_sums(log_ratios_BT)).mean()
    return reinforce_loss(tokens, max_length) + tau / 2 * penalty / max_length


def gmpo_loss(tokens: Tokens, clip: float) -> Any:
    """-mean_i w_i A_i (prod_t rho_it)^(1/|o_i|), each log rho clipped on the side that the advantage favours.

    GMPO (2507.20673), eq. 4: for A > 0 log rho is at most `clip`, for A < 0 at least -`clip`. w is of the completion.
    """
    log_ratios_BT = tokens.logps_BT - tokens.old_logps_BT  # noqa: N806
    clipped_BT = torch.where(  # noqa: N806
        tokens.advantages.unsqueeze(1) > 0, log_ratios_BT.clamp(max=clip), log_ratios_BT.clamp(min=-clip)
    )
    lengths_B = tokens.mask_BT.sum(-1).clamp(min=1)  # noqa: N806
    means_B = (clipped_BT * tokens.mask_BT).sum(-1) / lengths_B  # noqa: N806
    weights = 1.0 if tokens.weights is None else tokens.weights.squeeze(1)
    return -(weights * tokens.advantages * means_B.exp()).mean()


def squared_log_ratio(tokens: Tokens) -> Any:
    """Mean over completions of (log pi(o) - log pi_old(o))^2: distance of the policy from the one that sampled."""
    ratio_B = ((tokens.logps_BT - tokens.old_logps_BT) * tokens.mask_BT).sum(-1)  # noqa: N806
    return ratio_B.square().mean()
