"""The probe set: a fixed sample of problems that measures progress without the selection bias of training rewards."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence


def probe_rows(keys: Sequence[str], num: int, seed: int) -> list[int]:
    """Rows of `num` random problems; the choice depends on seed and keys, not on order, policy or state."""
    if num == 0:
        return []
    return sorted(in_order_of_lots(keys, "probe", seed)[:num])


def in_order_of_lots(keys: Sequence[str], what: str, seed: int) -> list[int]:
    """All rows in a random order, which keys, seed and purpose decide."""
    lots = [hashlib.sha256(f"{seed}:{what}:{key}".encode()).digest() for key in keys]
    return sorted(range(len(lots)), key=lots.__getitem__)
