"""The probe set: a fixed sample of problems that measures progress without the selection bias of training rewards."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence


def probe_rows(keys: Sequence[str], num: int, seed: int) -> list[int]:
    """Rows of `num` random problems; the choice depends on seed and keys, not on order, policy or state."""
    if num == 0:
        return []
    lots = [hashlib.sha256(f"{seed}:probe:{key}".encode()).digest() for key in keys]
    return sorted(sorted(range(len(lots)), key=lots.__getitem__)[:num])
