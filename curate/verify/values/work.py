"""Limits the arithmetic of one decision: every operation spends its estimated time, the same on every machine.

A clock would make verdicts depend on the load. The estimates are microseconds of a slow core.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

from curate.verify.nodes import TooLargeError

MAX_US: Final = 500_000
COMPARISON_US: Final = 100
_FUNCTION_US: Final = 40  # at a thousand bits; grows with the square of the bits
_GAMMA: Final = 15  # times as long as an elementary function

_WORK: ContextVar[Work | None] = ContextVar("work", default=None)


class Work:
    """The work of a block so far."""

    def __init__(self) -> None:
        self.us = 0.0

    @property
    def is_over(self) -> bool:
        """Whether the block has reached its limit."""
        return self.us > MAX_US


@contextmanager
def limited() -> Iterator[Work]:
    """A block whose arithmetic raises `TooLargeError` beyond `MAX_US`; an inner block has a limit of its own."""
    work = Work()
    token = _WORK.set(work)
    try:
        yield work
    finally:
        _WORK.reset(token)


def count(us: float) -> None:
    """Add work to the block around, without a limit: that of a decision which is known already."""
    work = _WORK.get()
    if work is not None:
        work.us += us


def spend(us: float) -> None:
    """Count work against the limit of the block; outside of any block nothing is counted."""
    work = _WORK.get()
    if work is None:
        return
    work.us += us
    if work.is_over:
        raise TooLargeError("more arithmetic than one decision may take")


def spend_on_figures(bits: int) -> None:
    """The work of one exact operation whose result has this many bits, with its greatest common divisor."""
    spend(1 + bits * bits / 1e6)


def spend_on_balls(operation: str, bits: int) -> None:
    """The work of one operation on balls at a precision of `bits`."""
    if operation in ("add", "mul", "neg", "div", "deg", "pct"):
        spend(1 + bits / 40)
        return
    thousands = bits / 1000
    spend(5 + thousands * thousands * _FUNCTION_US * (_GAMMA if operation in ("fact", "binom") else 1))
