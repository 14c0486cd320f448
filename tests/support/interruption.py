"""Stop a run at a chosen file: everything written before stays, the file itself and all that follows never appear.

Artifacts grow by renames alone (write a temporary file, rename it), so that stopping before each rename in turn is
stopping at every point that leaves something different on disk. They shrink by removals. Python reports both to audit
hooks.
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

RENAMES: Final = ("os.rename",)
REMOVALS: Final = ("os.remove", "os.rmdir")


class PowerCut(BaseException):
    """The power is gone: nothing that catches errors may catch this."""


class _Meter:
    """How many more of some events there will be power for; None while nobody counts."""

    left: int | None = None
    events: tuple[str, ...] = RENAMES


def _hook(event: str, _: object) -> None:
    if _Meter.left is None or event not in _Meter.events:
        return
    if _Meter.left == 0:
        raise PowerCut
    _Meter.left -= 1


sys.addaudithook(_hook)


@contextmanager
def power_for(num_events: int, events: tuple[str, ...] = RENAMES) -> Iterator[None]:
    """Let that many files appear, or go, and then raise `PowerCut`."""
    _Meter.left, _Meter.events = num_events, events
    try:
        yield
    finally:
        _Meter.left = None


def cut_everywhere(work: Callable[[int], None], events: tuple[str, ...] = RENAMES) -> Iterator[int]:
    """Call `work(n)` with power for n = 0, 1, 2, ... events and yield n after each cut; ends once `work` does."""
    num_events = 0
    while True:
        try:
            with power_for(num_events, events):
                work(num_events)
        except PowerCut:
            yield num_events
            num_events += 1
        else:
            return
