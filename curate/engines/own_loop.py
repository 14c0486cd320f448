"""An event loop in its own thread, for clients that are bound to one loop or called from several threads."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")
Work = Coroutine[Any, Any, T]  # Any: what a coroutine exchanges with asyncio while it waits


class OwnLoop:
    """Runs coroutines in a daemon thread until it is closed."""

    def __init__(self, name: str) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name=name, daemon=True)
        self._thread.start()

    async def ask(self, work: Work[T]) -> T:
        """The result of `work`, for a caller on another event loop, which stays unblocked."""
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, self._loop))

    def wait(self, work: Work[T]) -> T:
        """The result of `work`; blocks the calling thread until it is available."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    def close(self) -> None:
        """Stop the loop and its thread; no work may be running."""
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
