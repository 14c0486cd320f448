"""The two losses that TRL lacks, as functions of log-probabilities; `train.grpo.trainer` calls them.

Shapes: B completions of the batch, T tokens. The constant L is the longest completion allowed; like TRL's dr_grpo loss
these are means over completions of sums over tokens, divided by L, so that learning rates carry over.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch


class Tokens(NamedTuple):
    """Log-probabilities of the sampled tokens now and when they were sampled, the mask, each completion's advantage."""

    logps_BT: torch.Tensor  # noqa: N815  # shape letters
    old_logps_BT: torch.Tensor  # noqa: N815
    mask_BT: torch.Tensor  # noqa: N815
    advantages_B: torch.Tensor  # noqa: N815


def reinforce_loss(tokens: Tokens, max_length: int) -> Any:
    """-mean_i A_i sum_t log pi(o_it) / L: Williams 1992."""
    logps_B = (tokens.logps_BT * tokens.mask_BT).sum(-1)  # noqa: N806
    return -(tokens.advantages_B * logps_B).mean() / max_length


def kimi_loss(tokens: Tokens, max_length: int, tau: float) -> Any:
    """REINFORCE plus tau/2 times the squared log-ratio of whole completions: Kimi k1.5 (2501.12599), eq. 3."""
    return reinforce_loss(tokens, max_length) + tau / 2 * squared_log_ratio(tokens) / max_length


def squared_log_ratio(tokens: Tokens) -> Any:
    """Mean over completions of (log pi(o) - log pi_old(o))^2: distance of the policy from the one that sampled."""
    ratio_B = ((tokens.logps_BT - tokens.old_logps_BT) * tokens.mask_BT).sum(-1)  # noqa: N806
    return ratio_B.square().mean()
