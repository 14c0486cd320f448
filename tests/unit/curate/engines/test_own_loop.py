"""An event loop of its own: asked from threads, from one event loop after the other, and closed whoever asked."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from curate.engines.own_loop import OwnLoop


async def thread_and_number(number: int) -> tuple[str, int]:
    await asyncio.sleep(0.01)
    return threading.current_thread().name, number


async def fail() -> None:
    raise ZeroDivisionError


def test_work_runs_in_the_loops_own_thread_whoever_asks() -> None:
    loop = OwnLoop("own")
    with ThreadPoolExecutor(4) as threads:
        waited = list(threads.map(lambda number: loop.wait(thread_and_number(number)), range(8)))
    assert waited == [("own", number) for number in range(8)]
    for number in range(2):  # one event loop after the other
        assert asyncio.run(loop.ask(thread_and_number(number))) == ("own", number)
    loop.close()
    assert "own" not in {thread.name for thread in threading.enumerate()}


def test_who_asks_goes_on_meanwhile() -> None:
    loop, gate = OwnLoop("own"), threading.Event()

    async def wait_for_the_gate() -> str:
        await asyncio.to_thread(gate.wait, 10)
        return "open"

    async def both() -> str:
        asking = asyncio.create_task(loop.ask(wait_for_the_gate()))
        await asyncio.sleep(0)
        gate.set()
        return await asking

    assert asyncio.run(both()) == "open"
    loop.close()


def test_a_failure_reaches_who_asked_and_the_loop_goes_on() -> None:
    loop = OwnLoop("own")
    with pytest.raises(ZeroDivisionError):
        loop.wait(fail())
    with pytest.raises(ZeroDivisionError):
        asyncio.run(loop.ask(fail()))
    assert loop.wait(thread_and_number(1)) == ("own", 1)
    loop.close()
