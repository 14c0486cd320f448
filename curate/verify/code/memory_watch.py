"""A bound on the memory of a sandbox as a whole: one thread sums what all its processes hold, and ends what is over.

RLIMIT_AS bounds a process, and a program may have several. Control groups would bound them together, but who may write
those differs from machine to machine; this needs only /proc. Between two looks a program can touch what a core writes
in that time, some 100 MB, and never more than its number of processes times the limit of each.
"""

from __future__ import annotations

import resource
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final, Protocol

from curate.process_wide import ProcessWide

EVERY_S: Final = 0.05
_PAGE: Final = resource.getpagesize()


class Watched(Protocol):
    """A sandbox: the process that its tree hangs on, and how to end it for the memory it holds."""

    @property
    def pid(self) -> int:
        """The number of the first process, as this machine counts."""
        ...

    def end_for_memory(self) -> None:
        """End everything in it, and remember why."""
        ...


class Watch:
    """The sandboxes under watch, and the thread that looks at them: there while there are any."""

    def __init__(self) -> None:
        self._limits: dict[Watched, int] = {}
        self._lock = threading.Lock()
        self._wake = threading.Event()
        self._thread: threading.Thread | None = None

    @contextmanager
    def over(self, box: Watched, limit_bytes: int) -> Iterator[None]:
        """Watch a sandbox while the block lasts."""
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
                    # under the lock: what comes after this rings again, what came before is in the list
                    self._wake.clear()
            if not watched:
                self._wake.wait()
                continue
            for box, limit in watched:
                if resident(box.pid) > limit:
                    box.end_for_memory()
            time.sleep(EVERY_S)


def resident(pid: int) -> int:
    """Bytes that a process and all its descendants hold; 0 where it is gone."""
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
