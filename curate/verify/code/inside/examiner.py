"""Runs the tests of a problem on a solution in another sandbox, whose results arrive here as plain data.

The argument is the file descriptor of a control socket. Each examination arrives there as three files: the channel to
the solver, the report (a frame per test), and the job; it runs in its own fork. Names of the solution (`entry_points`)
become calls over the channel (`remote`, `side`). With `is_empty` there is no solver and none of its names: an empty
program. A job with a `checker` has no solver either: outputs of the solution arrive on the channel.
"""

from __future__ import annotations

import ast
import builtins
import importlib
import importlib.util
import os
import signal
import socket
import sys
import types
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from curate.verify.code.inside.arrays import guard_comparisons
from curate.verify.code.inside.derived import super_of
from curate.verify.code.inside.doubts import DOUBT, watch
from curate.verify.code.inside.plain import unpack
from curate.verify.code.inside.remote import Undecidable
from curate.verify.code.inside.side import Side
from curate.verify.code.inside.suite import (
    Broken,
    compiled,
    is_same,
    prepare,
    run_test,
    type_of,
)
from curate.verify.code.inside.wire import Message, WireError, receive, send

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
                read = receive(job, MAX_JOB_BYTES)
                (judge if read["checker"] else examine)(channel, report, read)
            os._exit(0)
        for fd in fds:
            os.close(fd)


def examine(channel: int, report: int, job: Message) -> None:
    """Report `{"ready": ...}`, then one frame per test until one fails."""
    try:
        is_ready = job["is_empty"] or receive(channel, MAX_BYTES).get("ready") is True
    except WireError:
        is_ready = False
    send(report, {"ready": is_ready})
    try:
        setup, *tests = map(compiled, (job["setup"], *job["tests"]))
        names = build_names(channel, job)
        watch([job["setup"], *job["tests"]])
    except Exception as error:  # noqa: BLE001  # the tests' own code is broken, whatever it raised
        send(report, {"broken": f"{type(error).__name__}: {error}"[:200]})
        return
    try:
        exec(setup.code, names)
        for test in tests:
            run_test(test, names)
            DOUBT.end_test()
            send(report, {"passed": not Undecidable.raised, "unsure": Undecidable.raised})
    except Broken as error:
        send(report, {"broken": str(error)[:200]})
    except BaseException as error:  # noqa: BLE001  # an assertion, or any error that the solution's answer caused
        is_unsure = Undecidable.raised or DOUBT.is_present
        send(report, {"passed": False, "error": type(error).__name__, "unsure": is_unsure})


def judge(channel: int, report: int, job: Message) -> None:
    """Report `{"ready": ...}`, then whether the checker accepts each output that arrives on the channel."""
    send(report, {"ready": True})
    names: dict[str, Any] = {"__name__": "checker"}
    try:
        for source in (job["prelude"], job["checker"]):
            exec(compile(source, "checker", "exec"), names)
        check = names["check"]
    except BaseException as error:  # noqa: BLE001  # the checker's own code is broken, whatever it raised
        send(report, {"broken": f"{type(error).__name__}: {error}"[:200]})
        return
    while True:
        message = receive(channel, MAX_BYTES)
        try:
            is_accepted = check(*unpack(message)) in (True, 1)
        except BaseException:  # noqa: BLE001  # an output that is no plain data, or that the checker cannot read
            is_accepted = False
        send(report, {"accepted": is_accepted})


def build_names(channel: int, job: Message) -> dict[str, Any]:
    """The tests' namespace: the prelude, then the solution's names, which are remote; for an empty program, none."""
    prepare()
    module = sys.modules["__main__"] = types.ModuleType("__main__")  # tests may stand under `if __name__ ==`
    names = vars(module)
    exec(compile(job["prelude"], "prelude", "exec"), names)
    sources = [job["setup"], *job["tests"]]
    side = Side(channel, job, names)
    missing = undefined(sources, names)
    own = job["entry_points"] or [name for name in missing if name not in sys.stdlib_module_names]
    solution: Any = types.ModuleType("solution")
    sys.modules["solution"] = solution
    imported = solution_imports(sources, own)
    if any(name == "numpy" for source in [job["prelude"], *sources] for name in imported_roots(source)):
        guard_comparisons()
    if not job["is_empty"]:
        if errors := [name for name in dict.fromkeys([*own, *imported]) if name[:1].isupper()]:
            side.learn_exceptions(errors)
        solution.__getattr__ = side.name
        solution.__all__ = own
        names.update({name: side.name(name) for name in own})
    names.update(__is_same__=is_same, __type_of__=type_of, __super_of__=super_of)
    for name in missing:
        if name in sys.stdlib_module_names and name not in own:
            names[name] = importlib.import_module(name)
    return names


def solution_imports(sources: list[str], own: list[str]) -> list[str]:
    """The names that tests import from the solution; raises `Broken` for a module that is not here.

    A module that is nowhere, and from which only names of the solution are imported, is the solution: `your_module`.
    """
    found: list[str] = []
    for node in (node for source in sources for node in imports(ast.parse(source))):
        wanted = [alias.name for alias in node.names]
        modules = [node.module or ""] if isinstance(node, ast.ImportFrom) else wanted
        for module in modules:
            if module == "solution":
                found += wanted
            elif is_missing(module):
                if isinstance(node, ast.Import) or not set(wanted) <= {*own, "*"}:
                    raise Broken(f"the tests import {module}, which the sandbox lacks")
                sys.modules[module] = sys.modules["solution"]
    return found


def imported_roots(source: str) -> Iterator[str]:
    """The modules that a source imports anywhere, by their first name."""
    for node in ast.walk(ast.parse(source)):
        modules = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        modules += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        yield from (module.partition(".")[0] for module in modules)


def is_missing(module: str) -> bool:
    """Whether no such module is here."""
    root = module.partition(".")[0]
    return root not in sys.modules and importlib.util.find_spec(root) is None


def imports(tree: ast.AST) -> Iterator[ast.Import | ast.ImportFrom]:
    """The imports of a source that must succeed: those in a `try` may fail."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            yield node
        elif not isinstance(node, ast.Try):
            yield from imports(node)


def undefined(sources: list[str], names: dict[str, Any]) -> list[str]:
    """Names that the tests read and nothing defines: names of the solution, or modules."""
    nodes = [node for source in sources for node in ast.walk(ast.parse(source))]
    defined = {node.id for node in nodes if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)}
    makers = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.ExceptHandler)
    defined |= {node.name for node in nodes if isinstance(node, makers) and node.name}
    defined |= {node.arg for node in nodes if isinstance(node, ast.arg)}
    imported = [alias for node in nodes if isinstance(node, (ast.Import, ast.ImportFrom)) for alias in node.names]
    defined |= {(alias.asname or alias.name).partition(".")[0] for alias in imported}
    read = dict.fromkeys(node.id for node in nodes if isinstance(node, ast.Name))
    return [name for name in read if name not in defined and name not in names and not hasattr(builtins, name)]


if __name__ == "__main__":
    main()
