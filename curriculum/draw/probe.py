"""The probe set: a fixed sample of problems that shows honest progress; training rewards are bent by selection."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence


def probe_rows(keys: Sequence[str], num: int, seed: int) -> list[int]:
    """Rows of `num` problems chosen by lot; it depends on seed and keys only: no order, policy or state moves it."""
    if num == 0:
        return []
    lots = [hashlib.sha256(f"{seed}:probe:{key}".encode()).digest() for key in keys]
    return sorted(sorted(range(len(lots)), key=lots.__getitem__)[:num])
