"""Killable workers for symbolic work, shared by the process and started when the first pair needs one.

A worker is a server process (`worker.py`, started by path). It loads sympy once and forks a child for every pair, so a
pair that hangs, crashes or exhausts memory is killed alone, within milliseconds, and leaves no state behind. Unlike
multiprocessing, it never imports the caller's `__main__`. It works beside the threads of torch and vLLM, from any
thread, and inside daemonic processes.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final, Literal

from curate.cpus import usable_cores
from curate.process_wide import ProcessWide
from curate.verify.policy import Policy
from curate.verify.readable import can_be_read

Outcome = Literal["equal", "different", "unreadable", "timeout", "memory", "worker_crash"]
_READY: Final = b'"ready"\n'
_REPLIES: Final[dict[object, Outcome]] = {
    True: "equal", False: "different", None: "unreadable", "timeout": "timeout", "memory": "memory",
    "worker_crash": "worker_crash",
}  # fmt: skip
Pair = tuple[str, str]

_SERVER: Final = Path(__file__).with_name("worker.py")
_START_S: Final = 180.0  # loading sympy; a machine at full load has taken half a minute
_GRACE_S: Final = 0.15
_MAX_REPLY: Final = 4096


def ask_many(pairs: Sequence[Pair], policy: Policy, workers: int | None = None) -> list[tuple[Outcome, float]]:
    """Compare pairs in workers; returns outcomes with wall time in milliseconds, in order. Never raises."""
    if len(pairs) == 1:
        return [_ask(pairs[0], policy)]
    with ThreadPoolExecutor(max_workers=min(workers or default_workers(), len(pairs))) as threads:
        return list(threads.map(lambda pair: _ask(pair, policy), pairs))


def default_workers() -> int:
    """The number of cores, at most eight."""
    return min(8, usable_cores())


class Server:
    """One worker: a process that compares one pair at a time. Used by one thread at a time."""

    def __init__(self, function: str = "") -> None:
        """function: a user's function that it calls, by name; without one it compares pairs."""
        root = str(_SERVER.parents[3])
        path = os.pathsep.join([root, *filter(None, [os.environ.get("PYTHONPATH")])])
        self._process = subprocess.Popen(
            [sys.executable, "-P", str(_SERVER), *filter(None, [function])],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            # sympy uses python-flint for its numbers if it is installed; verdicts must not depend on that
            env={**os.environ, "PYTHONPATH": path, "SYMPY_GROUND_TYPES": "python"},
            start_new_session=True,
        )
        self._is_ready = False

    @property
    def is_alive(self) -> bool:
        """Whether the process is running."""
        return self._process.poll() is None

    def wait_ready(self) -> bool:
        """Wait until sympy is loaded, so that no pair's time includes it; False after `_START_S` or a crash."""
        self._is_ready = self._is_ready or self._read(_START_S) == _READY
        return self._is_ready

    def ask(self, work: Mapping[str, Any], policy: Policy) -> Any:
        """The reply to a request; the server kills its child after `timeout_s` and is itself killed if it fails to."""
        request = {**work, "timeout_s": policy.timeout_s, "max_memory_mb": policy.max_memory_mb}
        try:
            if self._process.stdin is not None:
                self._process.stdin.write(json.dumps(request).encode() + b"\n")
                self._process.stdin.flush()
        except OSError:
            return "worker_crash"
        reply = self._read(policy.timeout_s + _GRACE_S)
        if reply is None:
            is_hanging = self.is_alive
            self.stop()
            return "timeout" if is_hanging else "worker_crash"
        return json.loads(reply)

    def stop(self) -> None:
        """Kill the process and reap it, so that no zombie remains."""
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                with contextlib.suppress(OSError):  # data still buffered for a dead process
                    stream.close()

    def _read(self, timeout_s: float) -> bytes | None:
        """One line of JSON; None on a timeout or if the process has ended."""
        stdout = self._process.stdout
        if stdout is None:
            return None
        line, deadline = b"", time.monotonic() + timeout_s
        while not line.endswith(b"\n"):
            is_there = can_be_read(stdout.fileno(), deadline - time.monotonic())
            chunk = os.read(stdout.fileno(), _MAX_REPLY) if is_there else b""
            if not chunk or len(line) > _MAX_REPLY:
                return None
            line += chunk
        return line


class Workers:
    """The idle workers of this process, and the limit of concurrent workers, set when the first one is needed."""

    def __init__(self, function: str = "") -> None:
        self._function = function
        self.slots = threading.BoundedSemaphore(default_workers())
        self._idle: queue.LifoQueue[Server] = queue.LifoQueue()

    def take(self) -> Server:
        """An idle worker, or a new one."""
        while True:
            try:
                server = self._idle.get_nowait()
            except queue.Empty:
                return Server(self._function)
            if server.is_alive:
                return server
            server.stop()

    def put_back(self, server: Server) -> None:
        """Keep a worker for the next pair."""
        self._idle.put(server)

    def stop_idle(self) -> None:
        """Stop the idle workers and wait for them."""
        while True:
            try:
                self._idle.get_nowait().stop()
            except queue.Empty:
                return

    def ask(self, work: Mapping[str, Any], policy: Policy) -> tuple[Any, float]:
        """The reply to a request and its wall time in milliseconds; a crash, as a busy machine causes, is retried."""
        with self.slots:
            reply, ms = _ask_once(self, work, policy)
            if reply == "worker_crash":
                reply, more_ms = _ask_once(self, work, policy)
                ms += more_ms
        return reply, ms


WORKERS: Final = ProcessWide(Workers, Workers.stop_idle)


def _ask(pair: Pair, policy: Policy) -> tuple[Outcome, float]:
    reply, ms = WORKERS.get().ask({"pair": pair}, policy)
    return _REPLIES.get(reply, "worker_crash"), ms


def _ask_once(workers: Workers, work: Mapping[str, Any], policy: Policy) -> tuple[Any, float]:
    server = workers.take()
    if not server.wait_ready():
        server.stop()
        return "worker_crash", 0.0
    start = time.perf_counter()
    outcome = server.ask(work, policy)
    ms = (time.perf_counter() - start) * 1000
    if server.is_alive:
        workers.put_back(server)
    return outcome, ms
