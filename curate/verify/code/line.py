"""This side's end of a channel to a sandbox, whose other end may send anything."""

from __future__ import annotations

import math
import os
import socket
import struct
import time
from typing import Any, Final, NamedTuple

from curate.verify.code.inside import wire
from curate.verify.readable import can_be_read

MAX_REPLY: Final = 8 << 20


class Line(NamedTuple):
    """This side of a channel, with the time limit of a message."""

    end: socket.socket
    timeout_s: float

    def send(self, message: Any) -> None:  # Any: a JSON message
        """Send a message; raises `TimeoutError` if the other side does not read it."""
        seconds = math.ceil(self.timeout_s)
        self.end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("ll", seconds, 0))
        try:
            wire.send(self.end.fileno(), message)
        except BlockingIOError:
            raise TimeoutError from None

    def receive(self, timeout_s: float | None = None) -> dict[str, Any]:
        """The next message; raises `TimeoutError` if none arrives, `WireError` on a closed channel or invalid data."""
        message = receive_by(self.end.fileno(), time.monotonic() + (timeout_s or self.timeout_s))
        if not isinstance(message, dict):
            raise wire.WireError("no message")
        return message


def receive_by(fd: int, deadline_s: float) -> Any:  # Any: a JSON message
    """One frame from a pipe or socket before the deadline; raises `TimeoutError` or `WireError`."""
    return wire.receive(fd, MAX_REPLY, lambda size: _read_by(fd, size, deadline_s))


def _read_by(fd: int, size: int, deadline_s: float) -> bytes:
    if not can_be_read(fd, deadline_s - time.monotonic()):
        raise TimeoutError
    return os.read(fd, size)
