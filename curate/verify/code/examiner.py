"""The examiner: one long-lived sandbox per process that runs the tests, with a fork for each examination.

Tests come from a data set, not from a model, and receive only plain data from the solution, so they may share a
sandbox; that saves a Python start for each program. The examiner ends when this side of its control socket closes, and
is restarted if it has died.
"""

from __future__ import annotations

import os
import socket
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Final, NamedTuple

from curate.process_wide import ProcessWide
from curate.verify.code.inside import wire
from curate.verify.code.sandbox import Limits, Sandbox, start

END_S: Final = 2.0


class Standing(NamedTuple):
    """A running examiner and this side's end of its control socket."""

    box: Sandbox
    control: socket.socket


@contextmanager
def examination(job: dict[str, object], channel: socket.socket, limits: Limits) -> Iterator[int]:
    """Run the tests of `job` against the solver at the other end of `channel`; yields the report's file descriptor."""
    report, theirs = os.pipe()
    folder = os.memfd_create("job")
    try:
        wire.send(folder, job)
        os.lseek(folder, 0, os.SEEK_SET)
        EXAMINERS.get().hand_over([channel.fileno(), theirs, folder], limits)
    finally:
        os.close(folder)
        os.close(theirs)
    try:
        yield report
    finally:
        os.close(report)


class _Examiners:
    """The examiners of this process, by their limits."""

    def __init__(self) -> None:
        self.standing: dict[Limits, Standing] = {}
        self._lock = threading.Lock()

    def hand_over(self, fds: list[int], limits: Limits) -> None:
        """Send a job's files to the examiner with these limits; restart it once if it has died."""
        with self._lock:
            for is_last in (False, True):
                standing = self.standing.get(limits) or self.standing.setdefault(limits, _start(limits))
                try:
                    socket.send_fds(standing.control, [b"j"], fds)
                except OSError:
                    standing.control.close()
                    del self.standing[limits]
                    if is_last:
                        raise
                else:
                    return

    def dismiss(self) -> None:
        """End the examiners and reap them, since the first process of some machines reaps no orphans."""
        for standing in self.standing.values():
            standing.control.close()
            with suppress(subprocess.TimeoutExpired):
                standing.box.process.wait(END_S)
            standing.box.close()


def _start(limits: Limits) -> Standing:
    ours, theirs = socket.socketpair()
    # --die-with-parent would end the sandbox with the thread that started it; it watches its socket instead
    box = start("examiner", theirs.fileno(), limits, dies_with_us=False)
    theirs.close()
    return Standing(box, ours)


EXAMINERS: Final = ProcessWide(_Examiners, _Examiners.dismiss)
