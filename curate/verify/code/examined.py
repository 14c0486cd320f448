"""What the examiner's sandbox decides: whether tests pass, whether they test anything, and what a checker accepts."""

from __future__ import annotations

import hashlib
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import Any, Final

from curate.process_wide import ProcessWide
from curate.verify.code.examiner import examination
from curate.verify.code.inside import plain, wire
from curate.verify.code.line import Line, receive_by
from curate.verify.code.outputs import same_output
from curate.verify.code.sandbox import Limits
from curate.verify.code.tests_format import AssertTests, Call, CallTests, CodeTests, Stdio, StdioTests
from curate.verify.policy import Policy
from curate.verify.verdict import Decision, correct, undecided

STAGE: Final = "code"
# one fork per concurrent examination
EXAMINER: Final = Limits(cpu_s=60, memory_mb=1024, num_processes=4096)
START_S: Final = 30.0
NUM_TRIED: Final = 5


class Unready(Exception):  # noqa: N818  # a state of the sandbox
    """A sandbox ended before it could run the solution."""


class BrokenChecker(Exception):  # noqa: N818  # a state of the tests
    """A checker that does not run, or does not answer in time: it decides nothing."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def wall_s(policy: Policy) -> float:
    """The wall time of a test in seconds: above its CPU time, to allow for a busy machine."""
    return 2 * policy.code_timeout_s + 2


def expect_ready(hear: Callable[[], Any]) -> None:
    """Raise `Unready` unless the ready message arrives: before the solution runs, silence is the sandbox's fault."""
    try:
        is_ready = hear().get("ready") is True
    except (TimeoutError, wire.WireError):
        is_ready = False
    if not is_ready:
        raise Unready


@contextmanager
def assertions(tests: AssertTests, channel: socket.socket, policy: Policy, *, is_empty: bool = False) -> Iterator[int]:
    """Run assert tests against the solver at the other end of a channel; yields the report's file descriptor."""
    job = {**tests.model_dump(), "is_empty": is_empty, "checker": ""}
    with examination(job, channel, replace(EXAMINER, is_isolated=not policy.unsafe_local)) as report:
        yield report


def examined(report: int, tests: AssertTests, timeout_s: float) -> Decision | None:
    """The decision of an examination; None if a test failed. Raises `TimeoutError` or `WireError`."""
    for _ in tests.tests:
        heard = receive_by(report, time.monotonic() + timeout_s)
        if "broken" in heard:
            return undecided("unparseable_ground_truth", STAGE)
        if not heard["passed"]:
            return undecided("unparseable_answer", STAGE) if heard["unsure"] else None
    return correct("tests_passed", STAGE)


class Checker:
    """A checker in the examiner's sandbox."""

    def __init__(self, line: Line, report: int) -> None:
        self._line, self._report = line, report

    def accepts(self, test: Stdio | Call, output: Any) -> bool:  # Any: a plain Python value
        """Whether it accepts an output; raises `BrokenChecker`."""
        given: Any = test.input if isinstance(test, Stdio) else test.args
        if isinstance(test, Call) and test.kwargs:
            given = [test.args, test.kwargs]
        try:
            self._line.send(plain.pack([given, output, test.output]))
            heard = receive_by(self._report, time.monotonic() + self._line.timeout_s)
        except TimeoutError:
            raise BrokenChecker("timeout") from None
        except wire.WireError:
            raise BrokenChecker("unparseable_ground_truth") from None
        if "broken" in heard:
            raise BrokenChecker("unparseable_ground_truth")
        return heard["accepted"] is True


@contextmanager
def checker_of(tests: StdioTests | CallTests, policy: Policy) -> Iterator[Checker]:
    """Start the checker of the tests; raises `Unready`."""
    with ExitStack() as stack:
        ours, theirs = socket.socketpair()
        stack.callback(ours.close)
        job: dict[str, object] = {"checker": tests.checker, "prelude": tests.prelude}
        limits = replace(EXAMINER, is_isolated=not policy.unsafe_local)
        report = stack.enter_context(examination(job, theirs, limits))
        theirs.close()
        expect_ready(lambda: receive_by(report, time.monotonic() + START_S))
        yield Checker(Line(ours, wall_s(policy)), report)


def tests_nothing(tests: CodeTests, policy: Policy) -> bool:
    """Whether an empty program passes, or a checker rejects an expected output: such tests decide nothing.

    Raises `Unready` or `OSError` if no sandbox starts.
    """
    if not isinstance(tests, AssertTests) and not tests.checker:
        return isinstance(tests, StdioTests) and all(same_output(b"", test.output) for test in tests.tests)
    digest = hashlib.sha256(tests.model_dump_json().encode()).digest()
    if digest not in (known := _NOTHING.get()):
        known[digest] = _passes_empty(tests, policy) if isinstance(tests, AssertTests) else _is_unsound(tests, policy)
    return known[digest]


def _passes_empty(tests: AssertTests, policy: Policy) -> bool:
    ours, theirs = socket.socketpair()
    with ours, theirs, assertions(tests, theirs, policy, is_empty=True) as report:
        expect_ready(lambda: receive_by(report, time.monotonic() + START_S))
        try:
            decision = examined(report, tests, wall_s(policy))
        except (TimeoutError, wire.WireError):
            return False
    return decision is not None and decision.verdict == "correct"


def _is_unsound(tests: StdioTests | CallTests, policy: Policy) -> bool:
    cases: list[Stdio | Call] = [*tests.tests]
    known = [test for test in cases if test.output not in ("", None)]
    try:
        with checker_of(tests, policy) as checker:
            is_strict = not all(checker.accepts(test, "" if isinstance(test, Stdio) else None) for test in cases)
            return not (is_strict and all(checker.accepts(test, test.output) for test in known[:NUM_TRIED]))
    except BrokenChecker:
        return True


# by the digest of the tests
_NOTHING: Final = ProcessWide(dict[bytes, bool])
