"""Runs the tests of a problem on a solution in another sandbox, whose results arrive here as plain data.

The argument is the file descriptor of a control socket. Each examination arrives there as three files: the channel to
the solver, the report (a frame per test), and the job; it runs in its own fork. Names of the solution (`entry_points`)
become calls over the channel. Values are compared here, rebuilt from exact built-in types, so that no object of the
solution can claim to be equal.
"""

from __future__ import annotations

import ast
import builtins
import importlib
import os
import signal
import socket
import sys
import types
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from curate.verify.code.inside.wire import Handle, Message, Peer, WireError, pack, receive, send, unpack

MAX_BYTES = 16 << 20
MAX_JOB_BYTES = 64 << 20
MAX_DEPTH = 50_000


def main() -> None:
    """Fork for each examination until the other end of the control socket closes."""
    control = socket.socket(fileno=int(sys.argv[1]))
    null = os.open(os.devnull, os.O_RDWR)
    for fd in (0, 1, 2):
        os.dup2(null, fd)
    sys.setrecursionlimit(MAX_DEPTH)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the kernel reaps the forks
    while True:
        data, fds, _, _ = socket.recv_fds(control, 1, 3)
        if not data:
            return
        if os.fork() == 0:
            control.close()
            channel, report, job = fds
            with suppress(WireError):  # the reader of the report has gone
                examine(channel, report, receive(job, MAX_JOB_BYTES))
            os._exit(0)
        for fd in fds:
            os.close(fd)


def examine(channel: int, report: int, job: Message) -> None:
    """Report `{"ready": ...}`, then one frame per test until one fails."""
    try:
        is_ready = receive(channel, MAX_BYTES).get("ready") is True
    except WireError:
        is_ready = False
    send(report, {"ready": is_ready})
    try:
        setup, *tests = [compile(source, "test", "exec") for source in (job["setup"], *job["tests"])]
        names = build_names(channel, job)
    except Exception as error:  # noqa: BLE001  # the tests' own code is broken, whatever it raised
        send(report, {"broken": type(error).__name__})
        return
    try:
        exec(setup, names)
        for test in tests:
            run_test(test, names)
            send(report, {"passed": True})
    except BaseException as error:  # noqa: BLE001  # an assertion, or any error that the solution's answer caused
        send(report, {"passed": False, "error": type(error).__name__})


def run_test(test: types.CodeType, names: dict[str, Any]) -> None:
    """Run one test, and the functions named test* that it defines."""
    before = set(names)
    exec(test, names)
    for name in [name for name in names if name.startswith("test") and name not in before]:
        if isinstance(names[name], types.FunctionType):
            names[name]()


class Remote(Handle):
    """An object of the solution: a function by name, or a returned object that is not plain data.

    It can be called, read and iterated. It equals only itself, whatever its own `__eq__` returns.
    """

    def __init__(self, side: Side, number: int | str) -> None:
        vars(self).update(_side=side, number=number)

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:  # noqa: D102  # a remote call, see the class
        return self._side.ask("call", self, args, kwargs)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self._side.ask("get", self, (name,), {})

    def __setattr__(self, name: str, value: Any) -> None:
        self._side.ask("set", self, (name, value), {})

    def __iter__(self) -> Iterator[Any]:
        return iter(self._side.ask("iterate", self, (), {}))

    def __next__(self) -> Any:
        return self._side.ask("next", self, (), {})

    def __len__(self) -> Any:
        return self._side.ask("length", self, (), {})

    def __getitem__(self, key: Any) -> Any:
        return self._side.ask("item", self, (key,), {})

    def __str__(self) -> Any:
        return self._side.ask("text", self, (), {})


class Side:
    """This side of the channel: asks the solver, and answers calls of functions that a test passed to the solution."""

    def __init__(self, channel: int, job: Message, names: dict[str, Any]) -> None:
        self._classes = {name: names[name] for name in job["classes"] if name in names}
        self._held: list[Any] = []
        self._peer = Peer(channel, MAX_BYTES, self._serve)

    def ask(self, operation: str, target: Remote, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Ask the solver for an operation on one of its objects; mutable arguments change as in a local call."""
        answer = self._peer.ask(self._pack([operation, target, list(args), kwargs]))
        is_result, *rest = self._unpack(answer)
        if is_result is not True:
            raise _exception(*rest)
        result, args_after, kwargs_after = rest
        for before, after in zip([*args, *kwargs.values()], [*args_after, *kwargs_after.values()], strict=True):
            self._restore(before, after)
        return result

    def _serve(self, question: Message) -> Message:
        """Answer a call; attributes of a test's function are not readable, since they could reveal expected values."""
        number, args, kwargs = self._unpack(question)
        try:
            return self._pack([True, self._held[number](*args, **kwargs)])
        except Exception as error:  # noqa: BLE001  # the solution called a test's function with arguments it rejects
            return self._pack([False, type(error).__name__])

    def _pack(self, value: Any) -> Message:
        return pack(value, tuple(self._classes), self._hold)

    def _unpack(self, message: Message) -> Any:
        return unpack(message, self._classes, self._find)

    def _find(self, name: str | None, number: Any) -> Any:
        return self._held[number] if name is None else Remote(self, number)

    def _hold(self, value: Any) -> int:
        self._held.append(value)
        return len(self._held) - 1

    def _restore(self, before: Any, after: Any) -> None:
        """Set a mutable argument to its content after the call, as a call in one process would leave it."""
        if type(before) is not type(after):
            return
        if isinstance(before, (list, bytearray)):
            before[:] = after
        elif isinstance(before, (dict, set)):
            before.clear()
            before.update(after)
        elif isinstance(before, tuple(self._classes.values())):
            vars(before).update(vars(after))


def _exception(names: list[str], text: str) -> Exception:
    """The exception of the solution as its nearest built-in type."""
    for name in names:
        kind = getattr(builtins, name, None)
        if isinstance(kind, type) and issubclass(kind, Exception) and kind is not Exception:
            try:
                return kind(text)
            except TypeError:  # UnicodeDecodeError and the like need more arguments
                continue
    return Exception(text)


def build_names(channel: int, job: Message) -> dict[str, Any]:
    """The tests' namespace: the prelude, then the solution's names, which are remote."""
    module = sys.modules["tests"] = types.ModuleType("tests")
    names = vars(module)
    exec(compile(job["prelude"], "prelude", "exec"), names)
    side = Side(channel, job, names)
    remotes = {name: Remote(side, name) for name in job["entry_points"]}
    names.update(remotes)
    for name in undefined([job["setup"], *job["tests"]], names):
        if name in sys.stdlib_module_names:
            names[name] = importlib.import_module(name)
        elif not remotes:
            names[name] = Remote(side, name)
    solution: Any = types.ModuleType("solution")
    solution.__getattr__ = lambda name: Remote(side, name)
    sys.modules["solution"] = solution
    return names


def undefined(sources: list[str], names: dict[str, Any]) -> list[str]:
    """Names that the tests read and nothing defines: names of the solution, or modules."""
    nodes = [node for source in sources for node in ast.walk(ast.parse(source))]
    defined = {node.id for node in nodes if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)}
    defined |= {node.name for node in nodes if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    defined |= {node.arg for node in nodes if isinstance(node, ast.arg)}
    imported = [alias for node in nodes if isinstance(node, (ast.Import, ast.ImportFrom)) for alias in node.names]
    defined |= {(alias.asname or alias.name).partition(".")[0] for alias in imported}
    read = dict.fromkeys(node.id for node in nodes if isinstance(node, ast.Name))
    return [name for name in read if name not in defined and name not in names and not hasattr(builtins, name)]


if __name__ == "__main__":
    main()
