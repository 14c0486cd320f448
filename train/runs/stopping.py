"""Stops a training run on Ctrl-C (SIGINT) or SIGTERM: it finishes its generation, saves a checkpoint and ends.

The first signal only asks. The trainer looks after every step (`train.runs.logs`), where all processes agree, because a
signal may reach one of them before the others. A second Ctrl-C interrupts at once and saves nothing.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Any, Final, Self

from train.environment import is_main_process

SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)
ASKED: Final = "stopping after the running generation, with a checkpoint; Ctrl-C again stops at once without one\n"

Handler = Callable[[int, FrameType | None], Any] | int | None


class StopRequest:
    """`with StopRequest() as request:` — `request.signal` is the number of the signal that came, None before one."""

    def __init__(self) -> None:
        self.signal: int | None = None
        self._before: dict[int, Handler] = {}

    def __enter__(self) -> Self:
        for number in SIGNALS:
            self._before[number] = signal.getsignal(number)
            signal.signal(number, self._ask)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _ask(self, number: int, _: FrameType | None) -> None:
        if self.signal is not None and number == signal.SIGINT and self.signal == signal.SIGINT:
            raise KeyboardInterrupt
        self.signal = self.signal or number
        if is_main_process():
            # print is not safe in a signal handler
            os.write(2, f"\n{signal.Signals(number).name}: {ASKED}".encode())
