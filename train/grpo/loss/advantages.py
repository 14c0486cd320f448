"""Advantages that TRL does not have, from the outcomes of a draw over all processes.

Shapes: N completions in consecutive groups of G; tensors have one entry per completion. An undecided completion has the
advantage 0 and is in no baseline, mean or deviation.
"""

from __future__ import annotations

from math import comb
from typing import Final

import torch

from train.grpo.objectives import Objective
from train.grpo.rollout.draw import Draw

EPSILON: Final = 1e-4  # added to a deviation, as TRL does


def advantages(objective: Objective, judged: Draw, given: torch.Tensor, mine: slice) -> torch.Tensor:
    """This process's advantages, from TRL's (`given`: rewards minus the group's mean, this process's entries)."""
    match objective.baseline:
        case "leave_one_out":
            others = judged.num_scored[mine] - 1
            return given * (others + 1) / others.clamp(min=1)
        case "none":
            return judged.is_correct[mine].to(given.dtype)
        case "relative":
            return relative(judged)[mine].to(given)
        case "pass_at_k":
            return pass_at_k(judged, objective.pass_k)[mine].to(given)
        case "batch":
            return over_batch(judged)[mine].to(given)
    return given


def relative(judged: Draw) -> torch.Tensor:
    """(r - mean r) / mean r of each group, r being 1 for a correct completion; 0 where none is correct."""
    rates = _num_correct(judged) / judged.num_scored.clamp(min=1)
    found = (judged.is_correct.double() - rates) / rates.where(rates > 0, 1.0)
    return found.masked_fill((rates == 0) | judged.totals.isnan(), 0.0)


def pass_at_k(judged: Draw, k: int) -> torch.Tensor:
    """The advantage of being in a random subset of k of which one is correct: 2508.10751, eq. 10 to 15.

    With n judged and m wrong completions, R = 1 - C(m, k) / C(n, k) is the mean reward of a subset and s its deviation,
    sqrt(R (1 - R)); a correct completion gets (1 - R) / s, a wrong one (1 - R - C(m - 1, k - 1) / C(n - 1, k - 1)) / s.
    """
    values = []
    correct, judged_ones = judged.is_correct.tolist(), (~judged.totals.isnan()).tolist()
    rights, numbers = _num_correct(judged).long().tolist(), judged.num_scored.tolist()
    for is_right, is_judged, right, number in zip(correct, judged_ones, rights, numbers, strict=True):
        wrong = number - right
        rate = 1 - comb(wrong, k) / comb(number, k) if number >= k else 0.0
        deviation = (rate * (1 - rate)) ** 0.5
        if not is_judged or deviation == 0:
            values.append(0.0)
        elif is_right:
            values.append((1 - rate) / deviation)
        else:
            values.append((1 - rate - comb(wrong - 1, k - 1) / comb(number - 1, k - 1)) / deviation)
    return torch.tensor(values, device=judged.totals.device, dtype=torch.float64)


def over_batch(judged: Draw) -> torch.Tensor:
    """Rewards minus the mean of their group, normalised over the batch: REINFORCE++-baseline, 2501.03262."""
    grouped = judged.totals.double().view(-1, judged.group_size)
    centred = (grouped - grouped.nanmean(dim=1, keepdim=True)).flatten()
    known = centred[~centred.isnan()]
    if len(known) < 2:
        return torch.zeros_like(centred)
    return ((centred - known.mean()) / (known.std() + EPSILON)).nan_to_num(nan=0.0)


def _num_correct(judged: Draw) -> torch.Tensor:
    """The correct completions of each completion's group."""
    grouped = judged.is_correct.view(-1, judged.group_size)
    return grouped.sum(dim=1).repeat_interleave(judged.group_size).double()
