"""Divisor of TRL's dapo loss: the tokens of an optimizer step, where TRL takes those of the generation.

DAPO (arXiv 2503.14476, eq. 8) sums over the tokens of the batch that a step learns from, and divides by their number.
TRL counts the tokens of a generation and divides each of its steps by their mean.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch

Scored = Mapping[str, Any]  # Any: TRL's scored generation: tensors by name, one row per completion


def own_mask(scored: Scored) -> Any:
    """1 for each token that the model sampled, 0 for padding and for tools' answers, (B, T)."""
    mask = scored["completion_mask"]
    return mask * scored["tool_mask"] if "tool_mask" in scored else mask


def num_tokens(scored: Scored, *, only_correct: bool) -> torch.Tensor:
    """Tokens of this process's completions; `only_correct` counts those with an advantage, which is 1 or 0 there."""
    mask: torch.Tensor = own_mask(scored)
    return (mask * scored["advantages"].unsqueeze(1) if only_correct else mask).sum()


def count_per_step(
    parts: Sequence[dict[str, Any]],
    num_steps: int,
    total: Callable[[torch.Tensor], torch.Tensor],
    *,
    only_correct: bool,
) -> None:
    """Write the divisor of its optimizer step into each part of a generation.

    parts: forward passes of this process, in order; each of `num_steps` steps has equally many. total: adds up a
    number over all processes. TRL's loss divides by the divisor / num_steps.
    """
    num_passes = len(parts) // num_steps
    for start in range(0, len(parts), num_passes):
        step = parts[start : start + num_passes]
        tokens = total(torch.stack([num_tokens(part, only_correct=only_correct) for part in step]).sum())
        for part in step:
            part["num_items_in_batch"] = tokens * num_steps
