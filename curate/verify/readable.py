"""Waits, with a timeout, until a file descriptor is readable."""

from __future__ import annotations

import select


def can_be_read(fd: int, timeout_s: float) -> bool:
    """Whether a pipe or socket has data or reaches its end within `timeout_s` seconds."""
    # poll, not select: a trainer has more than 1,024 files open
    waiting = select.poll()
    waiting.register(fd, select.POLLIN)
    return bool(waiting.poll(max(0.0, timeout_s) * 1000))
