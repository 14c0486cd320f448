"""The standing examiner: one sandbox a process in which each problem's tests run, a fork for each examination.

Tests come from a data set, not from a model, and see only plain data of the solution's, so they may share a sandbox;
that saves a Python start for each program. It ends when our end of its control socket closes, and is started again
when it died.
"""

from __future__ import annotations

import atexit
import os
import socket
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Final, NamedTuple

from curate.verify.code.inside import wire
from curate.verify.code.sandbox import Limits, Sandbox, start

END_S: Final = 2.0

_lock: Final = threading.Lock()
_standing: dict[tuple[int, Limits], Standing] = {}


class Standing(NamedTuple):
    """A running examiner and our end of its control socket."""

    box: Sandbox
    control: socket.socket


@contextmanager
def examination(job: dict[str, object], channel: socket.socket, limits: Limits) -> Iterator[int]:
    """Have `job`'s tests run against the solver at the other end of `channel`; yields the file number of the report."""
    report, theirs = os.pipe()
    folder = os.memfd_create("job")
    try:
        wire.send(folder, job)
        os.lseek(folder, 0, os.SEEK_SET)
        _hand_over([channel.fileno(), theirs, folder], limits)
    finally:
        os.close(folder)
        os.close(theirs)
    try:
        yield report
    finally:
        os.close(report)


def _hand_over(fds: list[int], limits: Limits) -> None:
    # the process number: a fork of ours must not talk on its parent's socket
    place = (os.getpid(), limits)
    with _lock:
        for is_last in (False, True):
            standing = _standing.get(place) or _standing.setdefault(place, _start(limits))
            try:
                socket.send_fds(standing.control, [b"j"], fds)
            except OSError:
                standing.control.close()
                del _standing[place]
                if is_last:
                    raise
            else:
                return


@atexit.register
def _dismiss() -> None:
    """Let this process's examiners end while someone reaps them: not every machine's first process does."""
    for (pid, _), standing in _standing.items():
        if pid == os.getpid():
            standing.control.close()
            with suppress(subprocess.TimeoutExpired):
                standing.box.process.wait(END_S)
            standing.box.close()


def _start(limits: Limits) -> Standing:
    ours, theirs = socket.socketpair()
    # a sandbox that dies with its parent dies with the thread that made it: this one watches its socket instead
    box = start("examiner", theirs.fileno(), limits, dies_with_us=False)
    theirs.close()
    return Standing(box, ours)
