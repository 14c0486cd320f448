"""One started vLLM between stages: when it is kept, when it makes way, when it is stopped.

A real vLLM is kept in `tests/end_to_end/test_vllm_engine.py`; here stands what decides, with drivers that only count.
"""

from typing import Any

import pytest

from curate.engines.warm import Shelf


class Counted:
    """A driver that knows whether it was stopped."""

    def __init__(self, *, is_well: bool = True) -> None:
        self.num_closed, self._is_well = 0, is_well

    async def generate(self, request_id: str, prompt: Any, params: Any) -> Any:
        raise AssertionError(f"nobody asks it here, but {request_id}, {prompt}, {params} came")

    def is_idle(self) -> bool:
        return self._is_well

    def close(self) -> None:
        self.num_closed += 1


def test_the_same_start_is_handed_on_and_stopped_once_at_the_end() -> None:
    shelf = Shelf()
    with shelf.opened():
        first = shelf.take("a", Counted)
        shelf.leave("a", first)
        assert shelf.take("a", Counted) is first
        shelf.leave("a", first)
        assert first.num_closed == 0
    assert first.num_closed == 1


def test_another_start_stops_the_kept_one_before_it_begins() -> None:
    shelf = Shelf()
    kept = Counted()

    def start() -> Counted:
        assert kept.num_closed == 1
        return Counted()

    with shelf.opened():
        shelf.leave("a", kept)
        second = shelf.take("b", start)
        shelf.leave("b", second)
    assert (kept.num_closed, second.num_closed) == (1, 1)


def test_nothing_is_kept_outside() -> None:
    shelf = Shelf()
    driver = shelf.take("a", Counted)
    shelf.leave("a", driver)
    assert driver.num_closed == 1
    assert shelf.take("a", Counted) is not driver


def test_a_driver_with_work_left_or_broken_is_not_handed_on() -> None:
    shelf = Shelf()
    broken = Counted(is_well=False)
    with shelf.opened():
        shelf.leave("a", broken)
        assert broken.num_closed == 1
        assert shelf.take("a", Counted) is not broken


def test_what_is_kept_is_stopped_where_the_work_fails() -> None:
    shelf = Shelf()
    driver = Counted()

    def fail() -> None:
        with shelf.opened():
            shelf.leave("a", driver)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert driver.num_closed == 1
