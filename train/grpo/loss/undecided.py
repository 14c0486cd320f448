"""Undecided completions, and groups without signal: what TRL's baselines must not take for rewards.

TRL leaves a completion out of its baseline only where all rewards are None, and adds up the others where some are:
a completion with an undecided answer and a good format would count as a wrong answer. Rounding is the other case: the
mean of eight equal rewards differs from them by 6e-8, which a division by their deviation makes 6e-4.

Shapes: N completions in consecutive groups, F reward functions; NaN is None.
"""

from __future__ import annotations

from typing import Final

import torch

# share of the largest reward of a group: float32 sums of equal rewards differ by less
ROUNDING: Final = 1e-6


def whole_rows(rewards_NF: torch.Tensor, weights_F: torch.Tensor, group_size: int, accuracy: int) -> torch.Tensor:  # noqa: N803  # shape letters
    """The rewards, with all of a completion's rewards NaN where one that has a weight is undecided.

    accuracy: place of the accuracy reward. Another reward that is None for all completions of a group does not apply to
    its problem, and leaves the sum of the others.
    """
    is_none = rewards_NF.isnan()
    is_inapplicable = is_none.view(-1, group_size, is_none.size(1)).all(dim=1).repeat_interleave(group_size, dim=0)
    is_inapplicable[:, accuracy] = False
    is_undecided = is_none & ~is_inapplicable & (weights_F != 0)
    return rewards_NF.masked_fill(is_undecided.any(dim=1, keepdim=True), torch.nan)


def have_signal(
    rewards_NF: torch.Tensor,  # noqa: N803
    weights_F: torch.Tensor,  # noqa: N803
    group_size: int,
    *,
    is_summed: bool,
) -> torch.Tensor:
    """For each completion, whether the decided rewards of its group differ by more than rounding.

    is_summed: compare weighted sums of rewards; else each reward by itself, as GDPO normalises them.
    """
    weighted_NF = rewards_NF * weights_F  # noqa: N806
    is_row_none = rewards_NF.isnan().all(dim=1, keepdim=True)
    values = weighted_NF.nansum(dim=1, keepdim=True) if is_summed else weighted_NF
    values = values.masked_fill(is_row_none, torch.nan).view(-1, group_size, values.size(1))
    is_known = ~values.isnan()
    highest = values.masked_fill(~is_known, -torch.inf).amax(dim=1)
    lowest = values.masked_fill(~is_known, torch.inf).amin(dim=1)
    scale = torch.maximum(highest.abs(), lowest.abs())
    # without a known value, highest - lowest is -inf
    is_live = (highest - lowest > ROUNDING * scale) & is_known.any(dim=1)
    return is_live.any(dim=1).repeat_interleave(group_size)
