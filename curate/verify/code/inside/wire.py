"""Frames of JSON on a channel between the two sides of a sandbox, and the turns in which they ask and answer.

Values in a frame are plain data (`plain`).
"""

from __future__ import annotations

import json
import os
import struct
from collections.abc import Callable
from typing import Any

HEAD = struct.Struct(">I")
Message = Any  # JSON


class WireError(Exception):
    """The other side closed the channel, sent too much, or sent no valid message."""


def send(fd: int, message: Message) -> None:
    """Write one frame; raises `WireError` on a closed channel."""
    body = json.dumps(message, separators=(",", ":")).encode()
    data = memoryview(HEAD.pack(len(body)) + body)
    try:
        while data:
            data = data[os.write(fd, data) :]
    except ConnectionError:
        raise WireError("hung up") from None


def receive(fd: int, max_bytes: int, read: Callable[[int], bytes] | None = None) -> Message:
    """Read one frame, or raise `WireError`. read: replaces `os.read`; returns up to the given number of bytes."""
    read = read or (lambda size: os.read(fd, size))
    (size,) = HEAD.unpack(_exactly(read, HEAD.size))
    if size > max_bytes:
        raise WireError(f"a message over {max_bytes} bytes")
    try:
        return json.loads(_exactly(read, size))
    except (ValueError, RecursionError):
        raise WireError("no JSON") from None


def _exactly(read: Callable[[int], bytes], size: int) -> bytes:
    parts = []
    while size:
        try:
            part = read(min(size, 1 << 20))
        except ConnectionError:
            part = b""
        if not part:
            raise WireError("hung up")
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


class Peer:
    """One end of a channel on which both sides ask: a side that waits for an answer serves the other's questions."""

    def __init__(self, fd: int, max_bytes: int, serve: Callable[[Message], Message]) -> None:
        self._fd, self._max_bytes, self._serve = fd, max_bytes, serve

    def ask(self, question: Message) -> Message:
        """Send a question and wait for its answer."""
        send(self._fd, {"q": question})
        while True:
            message = self._receive()
            if "a" in message:
                return message["a"]
            send(self._fd, {"a": self._serve(message["q"])})

    def answer_all(self) -> None:
        """Serve questions until the other end closes the channel, which raises `WireError`."""
        while True:
            send(self._fd, {"a": self._serve(self._receive()["q"])})

    def _receive(self) -> Message:
        message = receive(self._fd, self._max_bytes)
        if not isinstance(message, dict) or not ("a" in message or "q" in message):
            raise WireError("neither question nor answer")
        return message
