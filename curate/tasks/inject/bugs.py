"""Turns a project's mutants into tasks: bugs that some of its tests see and others do not.

The tests run first on the project as it is, twice: what does not pass both times is no evidence. Then each mutant runs,
a family at a time in turn, until there are enough tasks; one task per function and set of failing tests.
"""

from __future__ import annotations

import ast
import random
import re
import textwrap
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import zip_longest
from queue import SimpleQueue
from typing import Final

from curate.cpus import usable_cores
from curate.errors import UserError
from curate.progress import Progress
from curate.tasks.inject.mutations import Mutant, mutants
from curate.tasks.inject.project import Project
from curate.tasks.task import Task
from curate.verify.repo.archive import Archive
from curate.verify.repo.box import Box, BoxLimits, open_box
from curate.verify.repo.grade import Outcomes, RepoTests, run_tests

SLOWER: Final = 4.0  # a mutant may take this many times the project's own time,
MIN_S: Final = 10.0  # and at least this long


@dataclass
class Yield:
    """Tasks made, and the mutants that gave none by reason."""

    tasks: list[Task]
    rejected: dict[str, int]
    num_tests: int


def inject(
    project: Project, number: int, seed: int, limits: BoxLimits, packages: tuple[str, ...], progress: Progress
) -> Yield:
    """Up to `number` tasks. Raises `UserError` if the project's own tests do not run in the box."""
    support = Archive({path: project.files.files[path] for path in (*project.tests, *project.support)})
    plan = RepoTests((), (), support, project.source_paths, packages)
    visible = project.files.changed(dict.fromkeys((*project.tests, *project.support)))
    sound, seconds = _sound(project, visible, plan, limits)
    limits = limits.model_copy(update={"command_s": min(limits.command_s, max(MIN_S, SLOWER * seconds))})
    made, rejected = list[Task](), dict[str, int]()
    seen: set[tuple[str, frozenset[str]]] = set()
    with ThreadPoolExecutor(usable_cores()) as pool, ExitStack() as stack:
        boxes: SimpleQueue[Box] = SimpleQueue()
        for _ in range(usable_cores()):
            boxes.put(stack.enter_context(open_box(visible, limits, packages)))

        def tried(mutant: Mutant) -> Outcomes:
            box = boxes.get()
            try:
                box.write(mutant.path, mutant.source.encode())
                return run_tests(box, plan, support, project.tests)
            finally:
                box.write(mutant.path, project.files.files[mutant.path])
                boxes.put(box)

        for mutant, outcomes in _in_order(pool, tried, _balanced(project, seed)):
            reason, task = _task(project, visible, plan, sound, mutant, outcomes, seen)
            if task is None:
                rejected[reason] = rejected.get(reason, 0) + 1
                continue
            made.append(task)
            progress.tick(1)
            if len(made) >= number:
                break
        pool.shutdown(cancel_futures=True)
    return Yield(made, rejected, len(sound))


def _sound(project: Project, visible: Archive, plan: RepoTests, limits: BoxLimits) -> tuple[frozenset[str], float]:
    """The tests that pass twice on the project as it is, and the seconds of a run."""
    passed, start = [], time.monotonic()
    for _ in range(2):
        with open_box(visible, limits, plan.packages) as box:
            outcomes = run_tests(box, plan, plan.files, project.tests)
        if outcomes.problem:
            raise UserError(f"{project.name}: its tests do not run in the box: {outcomes.detail}")
        passed.append({name for name, outcome in outcomes.items() if outcome == "passed"})
    if not passed[0] & passed[1]:
        failed = next(iter(outcomes.messages.values()), "no test was found")
        told = f"none of its tests passes in the box ({failed[:200]})"
        raise UserError(f"{project.name}: {told}; name what they import with --packages")
    return frozenset(passed[0] & passed[1]), (time.monotonic() - start) / 2


def _balanced(project: Project, seed: int) -> Iterator[Mutant]:
    """The mutants of all source files, a family at a time in turn, each family shuffled by the seed."""
    by_family: dict[str, list[Mutant]] = {}
    for path in project.sources:
        for mutant in mutants(path, project.files.files[path].decode("utf-8", "replace")):
            by_family.setdefault(mutant.family, []).append(mutant)
    chance = random.Random(seed)
    for family in sorted(by_family):
        chance.shuffle(by_family[family])
    for turn in zip_longest(*(by_family[family] for family in sorted(by_family))):
        yield from (mutant for mutant in turn if mutant is not None)


def _in_order(pool: ThreadPoolExecutor, tried: object, waiting: Iterator[Mutant]) -> Iterator[tuple[Mutant, Outcomes]]:
    """Each mutant with its outcomes, in the order of the mutants, a few ahead of what is read."""
    assert callable(tried)
    ahead = []
    for mutant in waiting:
        ahead.append((mutant, pool.submit(tried, mutant)))
        if len(ahead) > 2 * usable_cores():
            done, future = ahead.pop(0)
            yield done, future.result()
    for done, future in ahead:
        yield done, future.result()


def _task(
    project: Project, visible: Archive, plan: RepoTests, sound: frozenset[str], mutant: Mutant, outcomes: Outcomes,
    seen: set[tuple[str, frozenset[str]]],
) -> tuple[str, Task | None]:  # fmt: skip
    """The task of a mutant, or the reason why it is none."""
    if outcomes.problem:
        return ("too_slow" if outcomes.problem == "timeout" else "breaks_the_run"), None
    failing = frozenset(name for name in sound if outcomes.get(name) != "passed")
    if not failing:
        return "no_test_fails", None
    if failing == sound:
        return "all_tests_fail", None
    if (mutant.function, failing) in seen:
        return "same_failures", None
    seen.add((mutant.function, failing))
    hidden = {name.partition("::")[0] for name in failing}
    # tests that still pass and are in other files stay with the agent
    shown = {path: project.files.files[path] for path in (*project.tests, *project.support) if path not in hidden}
    base = visible.changed({**shown, mutant.path: mutant.source.encode()})
    tests = RepoTests(
        tuple(sorted(failing)), tuple(sorted(sound - failing)), plan.files, project.source_paths, plan.packages
    )
    number = len(seen)
    origin = {"repo": project.name, "licence": project.licence, "source": f"bug: {mutant.family} in {mutant.function}"}
    reference = {mutant.path: project.files.files[mutant.path]}
    return "", Task(
        f"{project.name}-{number:04d}", _instruction(project, tests, outcomes.messages), base, tests, reference, origin
    )


def _instruction(project: Project, tests: RepoTests, messages: Mapping[str, str]) -> str:
    """What goes wrong, from the failing tests, without the place of the bug. One test of several is shown."""
    failing = tests.fail_to_pass
    name = min(failing, key=lambda test: (test not in messages, test))
    where = " or ".join(f"`{path}`" for path in project.source_paths)
    count = f"{len(failing)} of its tests {'fails' if len(failing) == 1 else 'fail'}, {len(tests.pass_to_pass)} pass"
    told = [f"The library `{project.name}` in /repo has a bug: {count}. One that fails is `{name}`."]
    line, _, message = messages.get(name, "").partition(": ")
    message = re.sub(r"0x[0-9a-f]{6,}", "0x...", message)  # addresses differ from run to run
    if message:
        told.append("It ends with:\n\n" + textwrap.indent(message.strip(), "    "))
    if len(failing) > 1 and (source := _source_of(project, name, int(line or 0))):
        told.append("The test:\n\n```python\n" + source + "\n```")
    told.append(f"Repair the cause in {where}, and leave what works as it is. The failing tests are not in /repo.")
    return "\n\n".join(told)


def _source_of(project: Project, test: str, line: int) -> str:
    """The source of a test function, up to the statement that fails."""
    path, *names = test.partition("[")[0].split("::")
    source = project.files.files[path].decode("utf-8", "replace")
    nodes: Sequence[ast.stmt] = ast.parse(source).body
    found: ast.stmt | None = None
    for name in names:
        found = next((node for node in nodes if getattr(node, "name", None) == name), None)
        nodes = getattr(found, "body", [])
    if found is None or found.end_lineno is None:
        return ""
    last = line if found.lineno < line <= found.end_lineno else found.end_lineno
    statement = next((node for node in nodes if node.lineno <= last <= (node.end_lineno or 0)), None)
    last = statement.end_lineno or last if statement else last
    return textwrap.dedent("\n".join(source.splitlines()[found.lineno - 1 : last]))
