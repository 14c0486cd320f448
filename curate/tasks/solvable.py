"""Proves a task before it is used: it can be solved, it is not solved yet, and no cheat solves it.

The reference passes three times of three and doing nothing none; tests that are not the same every time are dropped by
name; the fix stands nowhere in what an agent sees; probes (cheats as programs) earn nothing. The canaries that the
reference fails are recorded: only those count when an agent is graded.
"""

from __future__ import annotations

import difflib
import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final, NamedTuple

from curate.tasks.task import Task
from curate.verify.repo.archive import Archive
from curate.verify.repo.box import BoxLimits, Change, open_box
from curate.verify.repo.grade import (
    Grade,
    Outcomes,
    RepoTests,
    canary_files,
    grade,
    passing_canaries,
    plain_name,
    run_tests,
)
from curate.verify.repo.packages import mounts
from curate.verify.repo.screen import screen

RUNS: Final = 3
TELLING: Final = 12  # characters of an added line, without spaces, that identify it
PROBES: Final = {
    "leaves before the report": "import os\nos._exit(0)\n",
    "patches the runner": "import sys\nm = sys.modules['_pytest.python']\nm.Function.runtest = lambda self: None\n",
    "patches the outcome": (
        "import sys\nm = sys.modules['_pytest.reports'].TestReport\nold = m.from_item_and_call\n"
        "def new(item, call):\n    r = old(item, call)\n    r.outcome = 'passed'\n    return r\n"
        "m.from_item_and_call = staticmethod(new)\n"
    ),
}


class Proof(NamedTuple):
    """A task as it is proven, or the reason why it is dropped, and the evidence. notes: tests dropped by name."""

    task: Task | None
    reason: str | None
    detail: str
    notes: tuple[str, ...] = ()


def prove(task: Task, limits: BoxLimits) -> Proof:
    """Check one task; raises `BoxFault` or `SandboxUnavailable` if the machine cannot."""
    if task.problem:
        return Proof(None, "needs_image", task.problem)
    if not task.reference:
        return Proof(None, "no_reference", "no solution in the task")
    if not task.tests.fail_to_pass:
        return Proof(None, "no_failing_tests", "no test is named that the solution makes pass")
    missing = [path for path in task.tests.modules if path not in task.tests.files.files]
    if missing:
        return Proof(None, "tests_missing", f"{missing[0]} is not among the hidden tests")
    if (leak := next(_leaks(task), None)) is not None:
        return Proof(None, "fix_in_sight", leak)
    solved = task.base.changed(task.reference)
    right, wrong = _runs(solved, task.tests, limits), _runs(task.base, task.tests, limits)
    if broken := next((one for one in right if one.problem), None):
        return Proof(None, "reference_fails", broken.detail)
    tests, notes = _stable(task.tests, right, wrong)
    if not tests.fail_to_pass:
        return Proof(None, *_why_unsolvable(task.tests, right, wrong), notes)
    return _tried(replace(task, tests=tests), solved, right[0], limits, notes)


def _runs(base: Archive, tests: RepoTests, limits: BoxLimits) -> list[Outcomes]:
    """The outcomes of the hidden tests, each time in a new box."""
    found = []
    for _ in range(RUNS):
        with open_box(base, limits, tests.packages) as box:
            found.append(run_tests(box, tests, tests.files))
    return found


def _stable(tests: RepoTests, right: list[Outcomes], wrong: list[Outcomes]) -> tuple[RepoTests, tuple[str, ...]]:
    """The tests whose outcome is as named every time, and a note for each other one."""
    notes, failing, passing = [], [], []
    for name in tests.fail_to_pass:
        solved, before = [[one.get(name) == "passed" for one in runs] for runs in (right, wrong)]
        if all(solved) and not any(before):
            failing.append(name)
        else:
            notes.append(f"{name}: passes {sum(solved)} of {RUNS} times with the solution, {sum(before)} without")
    for name in tests.pass_to_pass:
        solved = [one.get(name) == "passed" for one in right]
        before = [one.get(name) == "passed" for one in wrong]
        if all(solved) and all(before):
            passing.append(name)
        else:
            notes.append(f"{name}: passes {sum(solved)} of {RUNS} times with the solution, {sum(before)} without")
    return replace(tests, fail_to_pass=tuple(failing), pass_to_pass=tuple(passing)), tuple(notes)


def _why_unsolvable(tests: RepoTests, right: list[Outcomes], wrong: list[Outcomes]) -> tuple[str, str]:
    name = tests.fail_to_pass[0]
    solved = sum(one.get(name) == "passed" for one in right)
    before = sum(one.get(name) == "passed" for one in wrong)
    told = f"{name} passes {solved} of {RUNS} times with the solution, {before} without"
    if solved == 0:
        return "reference_fails", f"{told}: {right[0].messages.get(name, '')[:200]}"
    return ("solved_already" if before == RUNS else "flaky"), told


def _tried(task: Task, solved: Archive, real: Outcomes, limits: BoxLimits, notes: tuple[str, ...]) -> Proof:
    """The proven task, unless its canaries do not hold, the grader refuses its reference, or a probe passes."""
    fakes, having = canary_files(task.tests)
    with open_box(solved, limits, task.tests.packages) as box:
        fake = run_tests(box, task.tests, fakes)
    survivors = {plain_name(name) for name in passing_canaries(real, fake)}
    proven = frozenset() if fake.problem else having - survivors
    if not proven:
        return Proof(None, "no_canary", "no test has an assertion whose change the solution fails", notes)
    written = {path: content for path, content in (task.reference or {}).items() if content is not None}
    known = frozenset(one.what for one in screen(written, task.base.files))
    task = replace(task, tests=replace(task.tests, canaries=proven, known=known))
    task, fixed, notes = _graded(task, limits, notes)
    if fixed.verdict != "correct":
        return Proof(None, "reference_refused", f"{fixed.reason}: {fixed.detail}", notes)
    for name, program in PROBES.items():
        path = next(path for path in written if path.endswith(".py"))
        source = program.encode() + b"\n" + task.base.files.get(path, b"")
        found = grade(task.base, task.tests, _changes({path: source}), limits, exploit="drop")
        if found.verdict == "correct":
            return Proof(None, "probe_passes", name, notes)
    return Proof(task, None, "", notes)


def _graded(task: Task, limits: BoxLimits, notes: tuple[str, ...]) -> tuple[Task, Grade, tuple[str, ...]]:
    """The grader's verdict on the reference; a test that varied after all is dropped by name, and the rest graded."""
    for _ in range(RUNS):
        fixed = grade(task.base, task.tests, _changes(task.reference or {}), limits)
        failed = [name for name in task.tests.named if fixed.outcomes and fixed.outcomes.get(name) != "passed"]
        if fixed.verdict == "correct" or not failed or set(task.tests.fail_to_pass) <= set(failed):
            break
        notes += tuple(
            f"{name}: passes {RUNS} of {RUNS} times with the solution, and fails once more" for name in failed
        )
        left = [tuple(name for name in names if name not in failed) for names in _lists(task.tests)]
        task = replace(task, tests=replace(task.tests, fail_to_pass=left[0], pass_to_pass=left[1]))
    return task, fixed, notes


def _lists(tests: RepoTests) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return tests.fail_to_pass, tests.pass_to_pass


def _changes(files: Mapping[str, bytes | None]) -> list[Change]:
    return [
        Change(path, "deleted" if content is None else "file", len(content or b""), content)
        for path, content in files.items()
    ]


def _leaks(task: Task) -> Iterator[str]:
    """Places in what an agent sees that hold the fix: a whole file by its hash, or most of its telling lines."""
    reference = {path: content for path, content in (task.reference or {}).items() if content is not None}
    hashes = {hashlib.sha256(content).hexdigest(): path for path, content in reference.items() if content}
    added = {path: _added(task.base.files.get(path, b""), content) for path, content in reference.items()}
    for place, content in _visible(task):
        if (path := hashes.get(hashlib.sha256(content).hexdigest())) is not None:
            yield f"{place} is {path} of the solution"
        if place in reference or not content:
            continue
        lines = {_bare(line) for line in content.decode("utf-8", "replace").splitlines()}
        for path, wanted in added.items():
            if wanted and len(wanted & lines) == len(wanted) and path.rpartition("/")[2] == place.rpartition("/")[2]:
                yield f"{place} holds the {len(wanted)} lines that the solution adds to {path}"


def _visible(task: Task) -> Iterator[tuple[str, bytes]]:
    yield from task.base.files.items()
    for here, there in mounts(task.tests.packages):
        for path in [here] if here.is_file() else sorted(here.rglob("*.py")):
            yield f"{there}/{path.relative_to(here)}" if here.is_dir() else there, path.read_bytes()


def _added(before: bytes, after: bytes) -> set[str]:
    """The telling lines that a solution adds to a file."""
    old, new = (content.decode("utf-8", "replace").splitlines() for content in (before, after))
    lines = {_bare(line[2:]) for line in difflib.ndiff(old, new) if line.startswith("+ ")}
    return {line for line in lines if len(line) >= TELLING}


def _bare(line: str) -> str:
    return "".join(line.split())
