"""Dynamic sampling: groups without signal are replaced by groups with signal (DAPO, arXiv 2503.14476, sec. 3.2).

All functions work on the rows of one process, in which groups are consecutive.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch.nn.functional import pad

Scored = dict[str, Any]  # Any: TRL's scored generation: tensors by name, one row per completion
# tensors padded on the left, so that prompts end where completions begin
LEFT = ("prompt_ids", "prompt_mask")


def dead_groups(scored: Scored, group_size: int) -> list[int]:
    """Indices of groups whose advantages are all 0: all right (except in raft), all wrong, or none judged."""
    advantages = scored["advantages"]
    # one a completion, or one a token where calls are punished
    sums = advantages.abs() if advantages.dim() == 1 else advantages.abs().sum(dim=1)
    is_live = sums.view(-1, group_size).sum(dim=1) > 0
    return [place for place, live in enumerate(is_live.tolist()) if not live]


def replace_groups(scored: Scored, fresh: Scored, group_size: int, pad_id: int) -> Scored:
    """`scored` with as many dead groups as possible replaced by the live ones of `fresh`, in order."""
    dead = dead_groups(scored, group_size)
    useless = set(dead_groups(fresh, group_size))
    live = [place for place in range(len(fresh["advantages"]) // group_size) if place not in useless]
    pairs = list(zip(dead, live, strict=False))
    to = _rows([place for place, _ in pairs], group_size)
    source = _rows([place for _, place in pairs], group_size)
    return {
        name: _spliced(name, value, fresh[name], (to, source), pad_id if name.endswith("_ids") else 0)
        for name, value in scored.items()
    }


def _rows(groups: Sequence[int], group_size: int) -> list[int]:
    return [group * group_size + member for group in groups for member in range(group_size)]


def _spliced(name: str, old: Any, new: Any, rows: tuple[list[int], list[int]], fill: int) -> Any:
    if not isinstance(old, torch.Tensor) or old.dim() == 0:
        return old
    if old.dim() == 2:
        width = max(old.size(1), new.size(1))
        old, new = (_widened(part, width, fill, is_left=name in LEFT) for part in (old, new))
    result = old.clone()
    result[rows[0]] = new[rows[1]]
    return result


def _widened(part: torch.Tensor, width: int, fill: int, *, is_left: bool) -> torch.Tensor:
    missing = width - part.size(1)
    return pad(part, (missing, 0) if is_left else (0, missing), value=fill)
