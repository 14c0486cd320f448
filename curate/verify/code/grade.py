"""Runs the program of a completion against a problem's tests and decides whether it passes all of them.

The solution runs in its own sandbox, without any expected output. `stdio` and `call` tests are compared here; `assert`
tests run in another sandbox, the examiner, which exchanges only plain data with the first over a channel. A solution
that fails, loops, floods, crashes or attacks is wrong. A sandbox that fails to start, or broken tests, make the verdict
undecided.
"""

from __future__ import annotations

import signal
import socket
import subprocess
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import Any, Final

from curate.cpus import usable_cores
from curate.verify.code.examined import (
    START_S,
    BrokenChecker,
    Checker,
    Unready,
    assertions,
    checker_of,
    examined,
    expect_ready,
    tests_nothing,
    wall_s,
)
from curate.verify.code.inside import plain, wire
from curate.verify.code.line import Line, receive_by
from curate.verify.code.outputs import same_output, same_value
from curate.verify.code.program import defines, find_program
from curate.verify.code.sandbox import Limits, Sandbox, SandboxUnavailable, check_sandbox, sandbox
from curate.verify.code.tests_format import AssertTests, CallTests, CodeTests, Stdio, StdioTests, parse_tests
from curate.verify.policy import Policy
from curate.verify.verdict import Decision, Item, Verdict, correct, undecided, wrong

STAGE: Final = "code"
ENDS_S: Final = 0.05
ANSWER_PARTS: Final = 5
MAX_TESTS_LONG: Final = 10
KILLING: Final = (signal.SIGXCPU, signal.SIGKILL)


def verify_code(completion: str, tests: str | None, policy: Policy | None = None) -> Verdict:
    """Decide whether the completion's program passes `tests`, the JSON of `tests_format`."""
    policy, start_s = policy or Policy(), time.monotonic()
    parsed = parse_tests(tests) if tests else None
    if parsed is None:
        decision, source = undecided("unparseable_ground_truth", STAGE), None
    else:
        source, reason = find_program(completion, *_wanted(parsed))
        decision = _run(source, parsed, policy) if source is not None else wrong(reason, "extract")
    return Verdict(decision.verdict, decision.reason, decision.stage, source, (time.monotonic() - start_s) * 1000)


def verify_programs(items: Sequence[Item], policy: Policy, workers: int | None = None) -> list[Verdict]:
    """Verdicts for many code items, in order, on `workers` threads; None means the number of cores plus one."""
    with ThreadPoolExecutor(workers or usable_cores() + 1) as pool:
        return list(pool.map(lambda item: verify_code(item.completion, item.tests, policy), items))


def _wanted(tests: CodeTests) -> tuple[list[str], str]:
    """The names that a program must define, and the prompt that it may continue."""
    if isinstance(tests, AssertTests):
        return tests.entry_points, tests.prelude
    return ([tests.entry_point.partition(".")[0]] if isinstance(tests, CallTests) else []), ""


def _run(source: str, tests: CodeTests, policy: Policy) -> Decision:
    try:
        check_sandbox(_limits(policy))
        has_checker = not isinstance(tests, AssertTests) and tests.checker
        if has_checker and tests_nothing(tests, policy):
            return undecided("unparseable_ground_truth", STAGE)
        decision = _run_by_style(source, tests, policy)
        is_empty = decision.verdict == "correct" and tests_nothing(tests, policy)
    except BrokenChecker as broken:
        return undecided("timeout" if broken.reason == "timeout" else "unparseable_ground_truth", STAGE)
    except SandboxUnavailable:
        return undecided("sandbox_unavailable", STAGE)
    except (Unready, OSError):
        # the machine has no free files or processes: the verdict is unknown
        return undecided("worker_crash", STAGE)
    return undecided("unparseable_ground_truth", STAGE) if is_empty else decision


def _run_by_style(source: str, tests: CodeTests, policy: Policy) -> Decision:
    if isinstance(tests, AssertTests):
        return _run_assert(source, tests, policy)
    return _run_stdio(source, tests, policy) if isinstance(tests, StdioTests) else _run_calls(source, tests, policy)


def _limits(policy: Policy, num_tests: int = 1) -> Limits:
    """The limits of a process that runs `num_tests` tests; `_wall_s` bounds the wall time of each test."""
    cpu_s = policy.code_timeout_s * min(num_tests, MAX_TESTS_LONG)
    total_mb = max(policy.code_total_memory_mb, policy.code_memory_mb)
    return Limits(cpu_s, policy.code_memory_mb, total_memory_mb=total_mb, is_isolated=not policy.unsafe_local)


def _solver_job(source: str, tests: CodeTests, mode: str) -> dict[str, object]:
    classes = tests.classes if isinstance(tests, AssertTests) else []
    return {"mode": mode, "source": source, "prelude": tests.prelude, "classes": classes}


def _run_assert(source: str, tests: AssertTests, policy: Policy) -> Decision:
    with ExitStack() as stack:
        theirs, ours = socket.socketpair()
        limits = _limits(policy, len(tests.tests))
        solver = stack.enter_context(sandbox("solver", theirs.fileno(), limits, _solver_job(source, tests, "calls")))
        report = stack.enter_context(assertions(tests, ours, policy))
        # only the two sandboxes hold the channel now, so when one ends, the other reads the end of the channel
        theirs.close()
        ours.close()
        expect_ready(lambda: receive_by(report, time.monotonic() + START_S))
        try:
            decision = examined(report, tests, wall_s(policy))
        except TimeoutError:
            return wrong("timeout", STAGE)
        except wire.WireError:
            return _failed(solver)
        if decision is None:
            return _failed(solver)
    return decision


def _run_stdio(source: str, tests: StdioTests, policy: Policy) -> Decision:
    with ExitStack() as stack:
        checker = stack.enter_context(checker_of(tests, policy)) if tests.checker else None
        line, solver = _open_solver(stack, _solver_job(source, tests, "program"), policy, _limits(policy))
        for test in tests.tests:
            try:
                line.send({"input": test.input, "timeout_s": wall_s(policy)})
                status, stdout = _run_result(line.receive(wall_s(policy) + START_S))
            except TimeoutError:
                return wrong("timeout", STAGE)
            except wire.WireError:
                return _failed(solver)
            if status is None or -status in KILLING:
                return wrong("timeout", STAGE)
            if status != 0 or not _is_right_output(stdout, test, checker):
                return wrong("tests_failed", STAGE)
    return correct("tests_passed", STAGE)


def _is_right_output(stdout: bytes, test: Stdio, checker: Checker | None) -> bool:
    if checker is None:
        return same_output(stdout, test.output)
    return checker.accepts(test, stdout.decode("utf-8", "replace"))


def _run_result(message: dict[str, Any]) -> tuple[int | None, bytes]:
    """The exit status of a program, None after a timeout, and its output."""
    status, stdout = message.get("status"), message.get("stdout")
    if not (status is None or type(status) is int) or not isinstance(stdout, str):
        raise wire.WireError("no result")
    try:
        return status, bytes.fromhex(stdout)
    except ValueError:
        raise wire.WireError("no result") from None


def _run_calls(source: str, tests: CallTests, policy: Policy) -> Decision:
    with ExitStack() as stack:
        checker = stack.enter_context(checker_of(tests, policy)) if tests.checker else None
        line, solver = _open_solver(
            stack, _solver_job(source, tests, "calls"), policy, _limits(policy, len(tests.tests))
        )
        entry_point = _entry_point(tests.entry_point, source)
        try:
            for test in tests.tests:
                result = _call(line, entry_point, test.args, test.kwargs)
                if not (checker.accepts(test, result) if checker else same_value(result, test.output)):
                    return wrong("tests_failed", STAGE)
        except TimeoutError:
            return wrong("timeout", STAGE)
        except (wire.WireError, RecursionError, ValueError):  # a value too deep or figures too long to compare
            return _failed(solver)
    return correct("tests_passed", STAGE)


def _entry_point(wanted: str, source: str) -> str:
    """The function to call: some sets name `f` for solutions written as `Solution.f`, and vice versa."""
    owner, _, name = wanted.rpartition(".")
    if defines(source, [owner or name]):
        return wanted
    if owner:
        return name if defines(source, [name]) else wanted
    return f"Solution.{name}" if defines(source, ["Solution"]) else wanted


def _call(line: Line, entry_point: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
    """Call `f` or a fresh `C().f` and return its result as plain data; raises `WireError` if there is none."""
    owner, _, method = entry_point.rpartition(".")
    target = plain.Handle(owner or method)
    if owner:
        target = _ask(line, "get", _ask(line, "call", target), method)
    return _ask(line, "call", target, *args, **kwargs)


def _ask(line: Line, operation: str, target: plain.Handle, /, *args: Any, **kwargs: Any) -> Any:
    line.send({"q": plain.pack([operation, target, list(args), kwargs])})
    answer = plain.unpack(line.receive().get("a"), find=lambda _, number, __: plain.Handle(number))
    if not isinstance(answer, list) or len(answer) != ANSWER_PARTS or answer[0] is not True:
        raise wire.WireError("the call raised")
    return answer[1]


def _open_solver(stack: ExitStack, job: dict[str, object], policy: Policy, limits: Limits) -> tuple[Line, Sandbox]:
    ours, theirs = socket.socketpair()
    stack.callback(ours.close)
    solver = stack.enter_context(sandbox("solver", theirs.fileno(), limits, job))
    theirs.close()
    line = Line(ours, wall_s(policy))
    expect_ready(lambda: line.receive(START_S))
    return line, solver


def _failed(solver: Sandbox) -> Decision:
    """The reason of a failure: the test, or the limit that ended the solution, CPU time or total memory."""
    try:
        status = solver.process.wait(ENDS_S)
    except subprocess.TimeoutExpired:
        status = 0
    if solver.is_over_memory:
        return wrong("memory", STAGE)
    return wrong("timeout" if status - 128 in KILLING else "tests_failed", STAGE)
