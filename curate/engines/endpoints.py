"""Chooses the server for the next request by health, rate limits and load; contains no HTTP.

A failed server rests, twice as long each time, while the others take its requests. A busy server (429) rests for the
time that it requests, then gets half as many concurrent requests, and one more after every answer.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from typing import Final

from curate.errors import UserError

FIRST_REST_S: Final = 0.25
LONGEST_REST_S: Final = 30.0
LOOK_S: Final = 0.05


class Endpoint:
    """One server, its load and its health."""

    def __init__(self, url: str, capacity: int) -> None:
        self.url, self.num_in_flight = url, 0
        self._capacity = self._max_capacity = capacity
        self._num_failures, self._rests_until_s = 0, 0.0
        self.trouble = ""

    def is_ready(self) -> bool:
        """Whether it can take a request now."""
        return self.num_in_flight < self._capacity and time.monotonic() >= self._rests_until_s

    def answered(self) -> None:
        """Record a good answer."""
        self._num_failures, self.trouble = 0, ""
        self._capacity = min(self._capacity + 1, self._max_capacity)

    def failed(self, trouble: str) -> None:
        """Record a failure; the server rests for a while."""
        self.trouble = trouble
        if time.monotonic() < self._rests_until_s:
            return  # requests in flight together fail together: count one failure
        self._rest(min(FIRST_REST_S * 2**self._num_failures, LONGEST_REST_S))
        self._num_failures += 1

    def was_busy(self, retry_after_s: float | None) -> None:
        """Record a refusal for too many requests."""
        self._capacity = max(1, min(self._capacity, self.num_in_flight) // 2)
        self.failed("429, too many requests")
        if retry_after_s is not None:
            self._rest(retry_after_s)

    def _rest(self, seconds: float) -> None:
        self._rests_until_s = max(self._rests_until_s, time.monotonic() + seconds)


class Endpoints:
    """All servers of an engine. `take` lends the least busy one that is ready."""

    def __init__(self, urls: Sequence[str], capacity: int, patience_s: float) -> None:
        self._all = [Endpoint(url.rstrip("/"), capacity) for url in urls]
        self._patience_s = patience_s
        self._last_answer_s = time.monotonic()

    def __iter__(self) -> Iterator[Endpoint]:
        return iter(self._all)

    @asynccontextmanager
    async def take(self) -> AsyncIterator[Endpoint]:
        """Wait for a server that is ready; raises `UserError` if none has answered for `patience_s`."""
        while (endpoint := self._least_busy()) is None:
            self._check_patience()
            await asyncio.sleep(LOOK_S)
        endpoint.num_in_flight += 1
        try:
            yield endpoint
        finally:
            endpoint.num_in_flight -= 1

    def answered(self, endpoint: Endpoint) -> None:
        """Record a good answer of one of them."""
        self._last_answer_s = time.monotonic()
        endpoint.answered()

    def _least_busy(self) -> Endpoint | None:
        ready = [endpoint for endpoint in self._all if endpoint.is_ready()]
        return min(ready, key=lambda endpoint: endpoint.num_in_flight, default=None)

    def _check_patience(self) -> None:
        # a request in flight may take long without a fault
        is_waiting = any(endpoint.num_in_flight for endpoint in self._all)
        if is_waiting or time.monotonic() - self._last_answer_s < self._patience_s:
            return
        troubles = "; ".join(f"{endpoint.url}: {endpoint.trouble}" for endpoint in self._all)
        raise UserError(
            f"no server answered for {self._patience_s:g} s ({troubles}); restart one and run the same command again"
        )
