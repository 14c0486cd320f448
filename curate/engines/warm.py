"""One started vLLM that outlives the stage that used it, so that the stages of a pipeline share one start.

A pipeline opens a shelf and the workspace of each stage lends it to `open_engine`. At most one driver is kept. Opening
another one, or an engine of another kind, stops the kept one first, so two models never share a GPU's memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from curate.engines.vllm_drivers import Driver


class Kept(NamedTuple):
    """A driver and the key of its start: drivers with equal keys are interchangeable."""

    key: str
    driver: Driver


class Shelf:
    """Room for one driver, while it is open."""

    def __init__(self) -> None:
        self._is_open = False
        self._kept: Kept | None = None

    def take(self, key: str, start: Callable[[], Driver]) -> Driver:
        """The kept driver if it was started with the same key; else a new one, after the kept one is stopped."""
        if self._kept is not None and self._kept.key == key:
            kept, self._kept = self._kept, None
            return kept.driver
        self.clear()
        return start()

    def leave(self, key: str, driver: Driver) -> None:
        """Keep an idle driver; stop it if the shelf is closed or the driver has requests left or is broken."""
        if self._is_open and driver.is_idle():
            self.clear()
            self._kept = Kept(key, driver)
        else:
            driver.close()

    def clear(self) -> None:
        """Stop what is kept."""
        kept, self._kept = self._kept, None
        if kept is not None:
            kept.driver.close()

    @contextmanager
    def opened(self) -> Iterator[None]:
        """Keep one driver within; stop it at the end."""
        self._is_open = True
        try:
            yield
        finally:
            self._is_open = False
            self.clear()
