"""The server process behind `pool.py`: loads sympy once, then forks a child for every requested pair.

Requests are JSON lines on stdin, replies are JSON lines on stdout. It has one thread, so forking is safe. It ends when
its stdin closes, that is, when its parent ends.
"""

from __future__ import annotations

import json
import os
import select
import signal
import sys
import time
from pathlib import Path
from typing import Any, Final

_WATCH_S: Final = 0.02
_PAGE: Final = os.sysconf("SC_PAGE_SIZE")


def main() -> None:
    """Answer requests until stdin closes."""
    from curate.verify.symbolic.math import warm

    replies = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # a stray print must not look like a reply
    warm()
    _reply(replies, "ready")
    for line in sys.stdin:
        request = json.loads(line)
        _reply(replies, _in_child(request))


def _reply(replies: Any, value: object) -> None:
    replies.write(json.dumps(value) + "\n")
    replies.flush()


def _in_child(request: dict[str, Any]) -> object:
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        _child(request, writing)
    os.close(writing)
    failure = _watch(child, reading, request)
    reply = os.read(reading, 64) if failure is None else b""
    os.close(reading)
    if not reply:
        os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return json.loads(reply) if reply else failure or "worker_crash"


def _watch(child: int, reading: int, request: dict[str, Any]) -> str | None:
    """Wait for the child; the reason to kill it, or None once it has replied or died.

    Its memory is watched from here: inside the child, math-verify treats a MemoryError as "different".
    """
    deadline = time.monotonic() + request["timeout_s"]
    while (left_s := deadline - time.monotonic()) > 0:
        ready, _, _ = select.select([reading], [], [], min(left_s, _WATCH_S))
        if ready:
            return None
        if _resident(child) > request["max_memory_mb"] * 2**20:
            return "memory"
    return "timeout"


def _resident(child: int) -> int:
    """Resident memory of a process in bytes; 0 if it has ended."""
    try:
        return int(Path(f"/proc/{child}/statm").read_text().split()[1]) * _PAGE
    except (OSError, IndexError):
        return 0


def _mapped() -> int:
    return int(Path("/proc/self/statm").read_text().split()[0]) * _PAGE


def _limit(request: dict[str, Any]) -> None:
    """A backstop for what grows between two looks, where the system has limits; a Mac bounds time alone."""
    try:
        import resource
    except ImportError:
        return
    seconds = int(request["timeout_s"]) + 2
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if Path("/proc/self/statm").exists():
        # on top of what the server has mapped already
        limit = _mapped() + 2 * request["max_memory_mb"] * 2**20
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


def _child(request: dict[str, Any], writing: int) -> None:
    """Compare under limits, reply and exit; never returns."""
    from curate.verify.symbolic.math import compare_latex

    _limit(request)
    try:
        reply: object = compare_latex(*request["pair"])
    except MemoryError:
        reply = "memory"
    except BaseException:  # noqa: BLE001  # whatever sympy raises on hostile text: the pair can't be read
        reply = None
    os.write(writing, json.dumps(reply).encode())
    os._exit(0)


if __name__ == "__main__":
    sys.setrecursionlimit(3000)
    main()
