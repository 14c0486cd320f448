"""Stop a run at a chosen file: everything written before stays, the file itself and all that follows never appear.

Artifacts grow by renames alone (write a temporary file, rename it), so that stopping before each rename in turn is
stopping at every point that leaves something different on disk. Python reports renames to audit hooks.
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class PowerCut(BaseException):
    """The power is gone: nothing that catches errors may catch this."""


class _Meter:
    """How many more renames there will be power for; None while nobody counts."""

    left: int | None = None


def _hook(event: str, _: object) -> None:
    if event != "os.rename" or _Meter.left is None:
        return
    if _Meter.left == 0:
        raise PowerCut
    _Meter.left -= 1


sys.addaudithook(_hook)


@contextmanager
def power_for(num_renames: int) -> Iterator[None]:
    """Let that many files appear and then raise `PowerCut`."""
    _Meter.left = num_renames
    try:
        yield
    finally:
        _Meter.left = None


def cut_everywhere(work: Callable[[int], None]) -> Iterator[int]:
    """Call `work(n)` with power for n = 0, 1, 2, ... renames and yield n after each cut; ends once `work` does."""
    num_renames = 0
    while True:
        try:
            with power_for(num_renames):
                work(num_renames)
        except PowerCut:
            yield num_renames
            num_renames += 1
        else:
            return
