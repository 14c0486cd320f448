"""A progress bar on stderr, shown only on a terminal and, unless asked otherwise, after two seconds of work."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING, Final, Self

if TYPE_CHECKING:
    from rich.progress import Progress as Bar
    from rich.progress import TaskID

DELAY_S: Final = 2.0
SPEED_OVER_S: Final = 1800.0  # a step of a training may take minutes


def announce(what: str) -> None:
    """Write a line on stderr about work that begins and takes long, such as the start of a model."""
    sys.stderr.write(f"{what}\n")
    sys.stderr.flush()


class Progress:
    """Counts work done: `with Progress("dedup", total) as progress: progress.tick(n)`.

    `total` is None where it is unknown. Prints nothing when stderr is not a terminal.
    num_before: work that an earlier run did, which the estimate of the remaining time leaves out.
    """

    def __init__(self, label: str, total: int | None, *, num_before: int = 0, delay_s: float = DELAY_S) -> None:
        self._label, self._total, self._delay_s = label, total, delay_s
        self._done, self._note = num_before, ""
        self._start_s = time.monotonic()
        self._bar: Bar | None = None
        self._task: TaskID | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def tick(self, num_done: int = 1, note: str = "") -> None:
        """Add finished work; `note` follows the bar, e.g. a running count."""
        self._done += num_done
        self._note = note or self._note
        if self._bar is None and sys.stderr.isatty() and time.monotonic() - self._start_s >= self._delay_s:
            self._show()
        if self._bar is not None and self._task is not None:
            self._bar.update(self._task, completed=self._done, note=self._note)

    def _show(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as Bar

        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            TextColumn("{task.fields[note]}"),
        )
        # lines for a file or a pipe must not end up beside the bar
        to_terminal = sys.stdout.isatty()
        console = Console(stderr=True)
        self._bar = Bar(
            *columns, console=console, transient=True, redirect_stdout=to_terminal, speed_estimate_period=SPEED_OVER_S
        )
        self._task = self._bar.add_task(self._label, total=self._total, completed=self._done, note=self._note)
        self._bar.start()
