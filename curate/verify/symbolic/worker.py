"""The server process behind `pool.py`: loads sympy once, then forks a child for every requested pair.

With the name of a user's function as its argument (`FILE.py:FUNCTION`) it loads that, and calls it in the child.

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
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

Work = Callable[[dict[str, Any]], object]
_WATCH_S: Final = 0.02
_MAX_REPLY: Final = 2048
_PAGE: Final = os.sysconf("SC_PAGE_SIZE")


def main() -> None:
    """Answer requests until stdin closes."""
    replies = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # a stray print must not look like a reply
    work = _of_user(sys.argv[1]) if len(sys.argv) > 1 else _symbolic()
    _reply(replies, "ready")
    for line in sys.stdin:
        request = json.loads(line)
        _reply(replies, _in_child(request, work))


def _symbolic() -> Work:
    from curate.verify.symbolic.math import compare_latex, warm

    warm()

    def work(request: dict[str, Any]) -> object:
        try:
            return compare_latex(*request["pair"])
        except MemoryError:
            return "memory"
        except BaseException:  # noqa: BLE001  # whatever sympy raises on hostile text: the pair can't be read
            return None

    return work


def _of_user(name: str) -> Work:
    from curate.own_code import load, told

    function = load(name, "--verifier")

    def work(request: dict[str, Any]) -> object:
        try:
            return {"value": function(**request["given"])}
        except MemoryError:
            return "memory"
        except BaseException as error:  # noqa: BLE001  # a user's code: reported in one line
            return {"error": told(error)}

    return work


def _reply(replies: Any, value: object) -> None:
    replies.write(json.dumps(value) + "\n")
    replies.flush()


def _in_child(request: dict[str, Any], work: Work) -> object:
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        _child(request, writing, work)
    os.close(writing)
    failure = _watch(child, reading, request)
    reply = os.read(reading, _MAX_REPLY) if failure is None else b""
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


def _child(request: dict[str, Any], writing: int, work: Work) -> None:
    """Work under limits, reply and exit; never returns."""
    _limit(request)
    reply = work(request)
    try:
        text = json.dumps(reply)
    except (TypeError, ValueError):
        text = json.dumps({"error": "returned something that is no verdict"})
    os.write(writing, text.encode()[:_MAX_REPLY])
    os._exit(0)


if __name__ == "__main__":
    sys.setrecursionlimit(3000)
    main()
