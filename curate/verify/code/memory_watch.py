"""Bounds the total memory of a sandbox: one thread sums the memory of its processes and ends a sandbox over the limit.

RLIMIT_AS bounds one process, and a program may have several. Control groups would bound them together, but permission
to write those differs between machines; this needs only /proc. Between two looks a program can touch what a core writes
in that time, about 100 MB, and never more than its number of processes times the limit of each.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final, Protocol

from curate.process_wide import ProcessWide

EVERY_S: Final = 0.05
_PAGE: Final = os.sysconf("SC_PAGE_SIZE")


class Watched(Protocol):
    """A sandbox that can be watched: the root of its process tree, and a way to end it."""

    @property
    def pid(self) -> int:
        """The id of the first process, in this machine's namespace."""
        ...

    def end_for_memory(self) -> None:
        """End all processes in the sandbox, and record the reason."""
        ...


class Watch:
    """The watched sandboxes, and the thread that looks at them, which sleeps while there are none."""

    def __init__(self) -> None:
        self._limits: dict[Watched, int] = {}
        self._lock = threading.Lock()
        self._wake = threading.Event()
        self._thread: threading.Thread | None = None

    @contextmanager
    def over(self, box: Watched, limit_bytes: int) -> Iterator[None]:
        """Watch a sandbox until the block ends."""
        with self._lock:
            self._limits[box] = limit_bytes
            if self._thread is None:
                self._thread = threading.Thread(target=self._look, name="memory-watch", daemon=True)
                self._thread.start()
        self._wake.set()
        try:
            yield
        finally:
            with self._lock:
                self._limits.pop(box, None)

    def _look(self) -> None:
        while True:
            with self._lock:
                watched = list(self._limits.items())
                if not watched:
                    # under the lock: a later sandbox sets the event again, an earlier one is in the list
                    self._wake.clear()
            if not watched:
                self._wake.wait()
                continue
            for box, limit in watched:
                if resident(box.pid) > limit:
                    box.end_for_memory()
            time.sleep(EVERY_S)


def resident(pid: int) -> int:
    """Resident memory of a process and all its descendants in bytes; 0 if it has ended."""
    total, stack = 0, [pid]
    while stack:
        process = stack.pop()
        with suppress(OSError, IndexError, ValueError):
            total += int(Path(f"/proc/{process}/statm").read_text().split()[1]) * _PAGE
        stack += _children(process)
    return total


def _children(pid: int) -> list[int]:
    found: list[int] = []
    with suppress(OSError, ValueError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            found += map(int, (task / "children").read_text().split())
    return found


WATCH: Final = ProcessWide(Watch)
