"""Runs the solution, without any expected output, so that it finds nothing here to steal or patch.

The argument is the file descriptor of a channel. The job arrives on stdin; `{"ready": true}` is sent on the channel
before any line of the solution runs, so that a missing message means a broken sandbox and never a failed test.

In mode "calls" the other side requests calls of the solution's functions and receives their results as plain data. In
mode "program" it sends one input at a time and receives the output of a fresh run of the solution, captured in a memory
file that `RLIMIT_FSIZE` caps.
"""

from __future__ import annotations

import builtins
import os
import select
import signal
import sys
import types
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from curate.verify.code.inside.wire import Message, Peer, WireError, pack, receive, send, unpack

MAX_BYTES = 64 << 20
MAX_DEPTH = 50_000
MAX_ITEMS = 1_000_000


def main() -> None:
    """Read the job, report ready, and serve."""
    channel = int(sys.argv[1])
    job = receive(0, MAX_BYTES)
    null = os.open(os.devnull, os.O_RDWR)
    for fd in (0, 1, 2):
        os.dup2(null, fd)
    os.set_inheritable(channel, False)
    sys.setrecursionlimit(MAX_DEPTH)
    builtins.exit = builtins.quit = sys.exit  # type: ignore[assignment]  # Python without `site` lacks them
    send(channel, {"ready": True})
    serve = {"calls": serve_calls, "program": serve_program}[job["mode"]]
    with suppress(WireError):  # the other side has closed the channel
        serve(channel, job)


class Solution:
    """The solution's namespace and the objects held for the other side."""

    def __init__(self, channel: int, job: Message) -> None:
        self._job, self._held = job, list[Any]()
        self._error: BaseException | None = None
        self._peer = Peer(channel, MAX_BYTES, self.serve)
        module = sys.modules["solution"] = types.ModuleType("solution")
        self._names = vars(module)
        try:
            for source in (job["prelude"], job["source"]):
                exec(compile(source, "solution", "exec"), self._names)
        except BaseException as error:  # noqa: BLE001  # a solution that does not load fails each call
            self._error = error

    def answer_all(self) -> None:
        """Serve calls until the other side closes the channel."""
        self._peer.answer_all()

    def serve(self, question: Message) -> Message:
        """Answer one question: [True, result, args, kwargs] after the call, or [False, exception types, name]."""
        if self._error is not None:
            return self._failure(self._error)
        try:
            operation, target, args, kwargs = unpack(question, self._classes(), self._find)
            result = OPERATIONS[operation](target, *args, **kwargs)
            return self._pack([True, result, args, kwargs])
        except WireError:
            raise
        except BaseException as error:  # noqa: BLE001  # any exception of the solution is an answer, also SystemExit
            return self._failure(error)

    def _failure(self, error: BaseException) -> Message:
        names = [kind.__name__ for kind in type(error).__mro__ if getattr(builtins, kind.__name__, None) is kind]
        return self._pack([False, names, type(error).__name__])

    def _classes(self) -> dict[str, type]:
        return {name: self._names[name] for name in self._job["classes"] if name in self._names}

    def _pack(self, value: Any) -> Message:
        return pack(value, self._job["classes"], self._hold)

    def _hold(self, value: Any) -> int:
        self._held.append(value)
        return len(self._held) - 1

    def _find(self, name: str | None, number: Any) -> Any:
        if name is None:
            return self._names[number] if isinstance(number, str) else self._held[number]
        return lambda *args, **kwargs: self._call_back(number, args, kwargs)

    def _call_back(self, number: int, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call a function that the other side passed as an argument."""
        answer = self._peer.ask(self._pack([number, list(args), kwargs]))
        is_result, result = unpack(answer, self._classes(), self._find)
        if not is_result:
            raise RuntimeError(f"the function handed over raised {result}")
        return result


OPERATIONS: dict[str, Callable[..., Any]] = {
    "call": lambda called, /, *args, **kwargs: called(*args, **kwargs),
    "get": getattr,
    "set": setattr,
    "iterate": lambda target: [item for item, _ in zip(target, range(MAX_ITEMS), strict=False)],
    "next": next,
    "length": len,
    "item": lambda target, key: target[key],
    "text": str,
}


def serve_calls(channel: int, job: Message) -> None:
    """Load the solution once and answer calls."""
    Solution(channel, job).answer_all()


def serve_program(channel: int, job: Message) -> None:
    """Run the solution in a new child for each input; the child returns from here and exits like any program."""
    while True:
        request = receive(channel, MAX_BYTES)
        stdin, stdout = memory_file(request["input"].encode("utf-8", "surrogatepass")), memory_file(b"")
        child = os.fork()
        if child == 0:
            os.setsid()
            os.close(channel)
            for fd, number in ((stdin, 0), (stdout, 1)):
                os.dup2(fd, number)
            run_as_main(job)
            return
        status = wait(child, request["timeout_s"])
        send(channel, {"status": status, "stdout": contents(stdout).hex()})
        os.close(stdin)
        os.close(stdout)


def run_as_main(job: Message) -> None:
    """Run the solution as the main script."""
    main_module = sys.modules["__main__"] = types.ModuleType("__main__")
    for source in (job["prelude"], job["source"]):
        exec(compile(source, "solution", "exec"), vars(main_module))


def memory_file(data: bytes) -> int:
    """An anonymous file with the content `data`, positioned at its start."""
    fd = os.memfd_create("data")
    while data:
        data = data[os.write(fd, data) :]
    os.lseek(fd, 0, os.SEEK_SET)
    return fd


def contents(fd: int) -> bytes:
    """The whole content of a memory file."""
    os.lseek(fd, 0, os.SEEK_SET)
    parts = []
    while part := os.read(fd, 1 << 20):
        parts.append(part)
    return b"".join(parts)


def wait(child: int, timeout_s: float) -> int | None:
    """The exit status of the child, negative for the signal that killed it; None after a timeout."""
    pidfd = os.pidfd_open(child)
    is_done = bool(select.select([pidfd], [], [], timeout_s)[0])
    os.close(pidfd)
    with suppress(ProcessLookupError):
        # the child leads its own process group: this also kills what it left running there
        os.killpg(child, signal.SIGKILL)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return status if is_done else None


if __name__ == "__main__":
    main()
