"""Runs the solution, without any expected output, so that it finds nothing here to steal or patch.

The argument is the file descriptor of a channel. The job arrives on stdin; `{"ready": true}` is sent on the channel
before any line of the solution runs, so that a missing message means a broken sandbox and never a failed test.

In mode "calls" the other side requests operations on the solution's functions and objects, and receives their results
as plain data, with what they printed. In mode "program" it sends one input at a time and receives the output of a fresh
run of the solution, captured in a memory file that `RLIMIT_FSIZE` caps.
"""

from __future__ import annotations

import builtins
import io
import os
import select
import signal
import sys
import types
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from curate.verify.code.inside.arrays import array_of
from curate.verify.code.inside.operations import OPERATIONS
from curate.verify.code.inside.plain import ITERATOR, Rebuild, pack, unpack
from curate.verify.code.inside.states import state_of
from curate.verify.code.inside.wire import Message, Peer, WireError, receive, send

MAX_BYTES = 64 << 20
MAX_DEPTH = 50_000
MAX_PRINTED = 1 << 20
MAX_STACK = 64 << 20
REBUILD = Rebuild(array_of, lambda value, _, __: value)


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
    cap_stacks()
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
        self._wanted: list[str] = []
        module = sys.modules["solution"] = types.ModuleType("solution")
        self._names = vars(module)
        try:
            for source in (job["prelude"], job["source"]):
                exec(compile(source, "solution", "exec"), self._names)
        except BaseException as error:  # noqa: BLE001  # a solution that does not load fails each call
            self._error = error
        printed()  # while it loaded

    def answer_all(self) -> None:
        """Serve calls until the other side closes the channel."""
        self._peer.answer_all()

    def serve(self, question: Message) -> Message:
        """Answer one question: [True, result, args, kwargs, printed], or [False, exception, None, None, printed]."""
        if self._error is not None:
            return self._failure(self._error)
        try:
            operation, target, args, kwargs = unpack(question, self._classes(), self._find, REBUILD)
            if operation == "exceptions":
                return self._pack([True, self._exceptions(*args), args, {}, ""])
            result = OPERATIONS[operation](target, *args, **kwargs)
            return self._pack([True, result, args, kwargs, printed()])
        except WireError:
            raise
        except BaseException as error:  # noqa: BLE001  # any exception of the solution is an answer, also SystemExit
            return self._failure(error)

    def _exceptions(self, names: list[str]) -> dict[str, list[str]]:
        """Of these names, those of exception classes, each with its bases: the solution's names, then Python's."""
        found = {name: self._names.get(name) for name in names}
        kinds = {name: kind for name, kind in found.items() if isinstance(kind, type) and issubclass(kind, Exception)}
        self._wanted = list(kinds)
        return {name: [base for base in self._raised(kind) if base != name] for name, kind in kinds.items()}

    def _raised(self, kind: type[BaseException]) -> list[str]:
        """The names by which the other side knows an exception class, nearest first."""
        wanted = [name for base in kind.__mro__ for name in self._wanted if self._names.get(name) is base]
        return wanted + [base.__name__ for base in kind.__mro__ if getattr(builtins, base.__name__, None) is base]

    def _failure(self, error: BaseException) -> Message:
        try:
            text = str(error)[:MAX_PRINTED]
        except BaseException:  # noqa: BLE001  # a `__str__` of the solution
            text = ""
        return self._pack([False, [self._raised(type(error)), text, list(error.args), error], None, None, printed()])

    def _classes(self) -> dict[str, type]:
        return {name: self._names[name] for name in self._job["classes"] if name in self._names}

    def _pack(self, value: Any) -> Message:
        return pack(value, self._job["classes"], self._hold)

    def _hold(self, value: Any) -> tuple[int, Any]:
        self._held.append(value)
        return len(self._held) - 1, state_of(value)

    def _find(self, name: str | None, number: Any, state: Any = None) -> Any:
        if name is None:
            return self._names[number] if isinstance(number, str) else self._held[number]
        if state == ITERATOR:
            return self._items(number)

        def function(*args: Any, **kwargs: Any) -> Any:
            return self._call_back(number, args, kwargs)

        if isinstance(state, str):
            function.__name__ = function.__qualname__ = state
        return function

    def _items(self, number: int) -> Iterator[Any]:
        """The items of an iterator of the test, each when it is needed."""
        while item := self._call_back(number, (), {}):
            yield item[0]

    def _call_back(self, number: int, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call a function that the other side passed as an argument."""
        answer = self._peer.ask(self._pack([number, list(args), kwargs]))
        is_result, result, *error = unpack(answer, self._classes(), self._find, REBUILD)
        if not is_result:
            if error and isinstance(error[0], Exception):  # one of the solution's own
                raise error[0]
            raise RAISED.get(result, RuntimeError)(f"the function handed over raised {result}")
        return result


# what a function of the test may raise in the solution
RAISED = {
    name: kind
    for name, kind in vars(builtins).items()
    if isinstance(kind, type) and issubclass(kind, Exception) and not issubclass(kind, (UnicodeError, StopIteration))
}


def printed() -> str:
    """What the solution printed since the last call."""
    stream: Any = sys.__stdout__
    try:
        stream.flush()
        data = stream.buffer.getvalue()[:MAX_PRINTED]
        if data:
            stream.buffer.seek(0)
            stream.buffer.truncate()
        return str(data, "utf-8", "replace")
    except (ValueError, AttributeError):  # the solution has closed or replaced it
        return ""


def cap_stacks() -> None:
    """Make large stacks of threads, which contest programs ask for, fit into the memory limit."""
    import threading

    ask = threading.stack_size
    threading.stack_size = lambda size=0: ask(min(size, MAX_STACK))


def serve_calls(channel: int, job: Message) -> None:
    """Load the solution once and answer calls; its output is captured for the tests."""
    sys.stdout = sys.__stdout__ = io.TextIOWrapper(io.BytesIO(), "utf-8", "surrogatepass")  # type: ignore[misc]
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
