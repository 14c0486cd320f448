"""Objects that live as long as the process: created on first use, closed once at exit, created again in a forked child.

This module owns the only exit hook and the only fork hook. At exit the objects are closed in reverse order of creation.
A forked child inherits objects that belong to its parent: it neither uses, closes nor finalizes them.
"""

from __future__ import annotations

import atexit
import os
import threading
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any, Generic, TypeVar

T = TypeVar("T")


def _leave(_: object) -> None:
    """Close an object that holds nothing."""


class ProcessWide(Generic[T]):
    """One object per process: `POOL = ProcessWide(Pool, Pool.close)` in a module, `POOL.get()` where it is used."""

    def __init__(self, make: Callable[[], T], close: Callable[[T], None] = _leave) -> None:
        self._make, self._close = make, close
        self._held: T | None = None

    def get(self) -> T:
        """The object; the first call creates it, as does the first call after `close`."""
        with _OWNER.lock:
            if self._held is None:
                self._held = self._make()
                _OWNER.made.append(self)
            return self._held

    def close(self) -> None:
        """Close the object now, if there is one."""
        with _OWNER.lock:
            held, self._held = self._held, None
            if held is not None:
                _OWNER.made.remove(self)
        if held is not None:
            self._close(held)

    def release(self) -> T | None:
        """Give up the object without closing it: in a forked child it is the parent's."""
        held, self._held = self._held, None
        return held


class _Owner:
    """All objects of this process, in order of creation."""

    def __init__(self) -> None:
        self.lock = threading.RLock()  # creating one object may need another
        self.made: list[ProcessWide[Any]] = []  # Any: objects of all types
        self._inherited: list[object] = []

    def close_all(self) -> None:
        """Close the objects, the last one first; a failure does not keep the others open."""
        with ExitStack() as stack:
            for held in self.made:
                stack.callback(held.close)

    def start_child(self) -> None:
        """Start without objects in a forked child; a thread that the child lacks may hold the inherited lock."""
        self.lock = threading.RLock()
        # kept, since a finalizer may write to a pipe or close a connection of the parent
        self._inherited += [held.release() for held in self.made]
        self.made = []


_OWNER = _Owner()
atexit.register(_OWNER.close_all)
os.register_at_fork(after_in_child=_OWNER.start_child)
