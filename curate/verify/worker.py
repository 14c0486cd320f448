"""The server process behind `pool.py`: loads sympy once, then forks a child for every pair it is asked about.

Requests come as JSON lines on stdin, replies go as JSON lines to stdout. It has one thread, so forking is safe. It ends
when its stdin closes, that is, when its parent is gone.
"""

from __future__ import annotations

import json
import os
import resource
import select
import signal
import sys
from typing import Any


def main() -> None:
    """Answer requests until stdin closes."""
    from curate.verify.math import warm

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
    ready, _, _ = select.select([reading], [], [], request["timeout_s"])
    reply = os.read(reading, 64) if ready else b""
    os.close(reading)
    if not reply:
        os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    if reply:
        return json.loads(reply)
    return "worker_crash" if ready else "timeout"


def _child(request: dict[str, Any], writing: int) -> None:
    """Compare under limits and leave at once; never returns."""
    from curate.verify.math import compare_latex

    limit = request["max_memory_mb"] * 2**20
    seconds = int(request["timeout_s"]) + 2
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
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
