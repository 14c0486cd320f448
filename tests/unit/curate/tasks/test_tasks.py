"""Tasks from bugs on purpose: made, written, read, proven, and refused for each reason by its name."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from support.places import ROOT

from curate.errors import UserError
from curate.progress import Progress
from curate.tasks.folder import read_task, task_folders, write_task
from curate.tasks.inject.bugs import Yield, inject
from curate.tasks.inject.mutations import mutants
from curate.tasks.inject.project import read_project
from curate.tasks.solvable import prove
from curate.tasks.store import TaskStore, proof_of
from curate.tasks.task import Task
from curate.verify.repo.archive import Archive
from curate.verify.repo.box import BoxLimits
from curate.verify.repo.canaries import canaries

LIMITS = BoxLimits(command_s=20, memory_mb=512, disk_mb=32)
SOURCE = """\
def clamp(value, low, high):
    if value < low:
        return low
    if value > high:
        return high
    return value


def mean(values):
    if not values:
        return None
    total = 0
    for value in values:
        total += value
    return total / len(values)


def labels(number):
    return [f"item {at + 1}" for at in range(number)]
"""
TESTS = """\
import pytest
from tally import clamp, labels, mean


@pytest.mark.parametrize("value, expected", [(5, 5), (-1, 0), (99, 10), (0, 0), (10, 10)])
def test_clamp(value, expected):
    assert clamp(value, 0, 10) == expected


def test_mean():
    assert mean([1, 2, 6]) == 3
    assert mean([4]) == 4


def test_mean_of_nothing():
    assert mean([]) is None


def test_labels():
    assert labels(2) == ["item 1", "item 2"]


def test_nothing_in_particular():
    assert labels(0) == []
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("projects") / "tally-1.0"
    (root / "tests").mkdir(parents=True)
    (root / ".git").mkdir()
    (root / ".git" / "config").write_text("[core]")
    (root / "tally").mkdir()
    (root / "tally" / "__init__.py").write_text(SOURCE)
    (root / "tests" / "test_tally.py").write_text(TESTS)
    (root / "LICENSE").write_text("MIT License\n")
    return root


@pytest.fixture(scope="module")
def made(project: Path) -> Yield:
    with Progress("inject-bugs", 6) as progress:
        return inject(read_project(project), 6, 0, LIMITS, (), progress)


@pytest.fixture(scope="module")
def task(made: Yield) -> Task:
    return next(task for task in made.tasks if len(task.tests.fail_to_pass) > 1)


def test_a_bug_breaks_some_tests_and_the_base_shows_neither_tests_nor_history(made: Yield) -> None:
    assert len(made.tasks) == 6
    assert made.num_tests == 9
    for task in made.tasks:
        assert task.tests.fail_to_pass
        assert task.tests.pass_to_pass
        assert set(task.base.files) == {"tally/__init__.py", "LICENSE"}
        assert task.reference == {"tally/__init__.py": SOURCE.encode()}
        assert (task.origin["licence"], task.tests.source_paths) == ("MIT", ("tally",))
        assert "line" not in task.instruction.split("The test:")[0].lower().replace("lines", "")
    families = {task.origin["source"].split()[1] for task in made.tasks}
    assert len(families) >= 4


def test_mutants_are_one_change_that_compiles() -> None:
    found = mutants("tally/__init__.py", SOURCE)
    assert len({mutant.source for mutant in found}) == len(found) > 12
    for mutant in found:
        compile(mutant.source, "m", "exec")
        changed = [a for a, b in zip(SOURCE.splitlines(), mutant.source.splitlines(), strict=True) if a != b]
        assert len(changed) == 1


def test_a_task_is_read_as_it_was_written(task: Task, tmp_path: Path) -> None:
    folder = write_task(tmp_path, task)
    again = read_task(folder)
    assert (again.digest, again.instruction, again.reference) == (task.digest, task.instruction, task.reference)
    assert task_folders(tmp_path) == [folder]
    assert TaskStore(tmp_path).task(json.dumps(task.row())).digest == task.digest
    (folder / "instruction.md").write_text("Do nothing.")
    with pytest.raises(UserError, match="its content differs"):
        TaskStore(tmp_path).task(json.dumps(task.row()))


def test_a_sound_task_is_proven_with_its_canaries(task: Task, tmp_path: Path) -> None:
    proof = prove(task, LIMITS)
    assert (proof.reason, proof.notes) == (None, ())
    assert proof.task is not None
    assert proof.task.tests.canaries
    write_task(tmp_path, task)
    again = TaskStore(tmp_path).task(json.dumps(task.row()), proof_of(proof.task, proof.notes))
    assert again.tests == replace(proof.task.tests, files=again.tests.files)


def _with(task: Task, **files: str) -> Task:
    named = {path.replace("__", "/") + ".py": text.encode() for path, text in files.items()}
    return replace(task, base=task.base.changed(dict(named)))


def test_each_fault_of_a_task_has_its_reason(task: Task) -> None:
    fixed = task.base.changed(task.reference or {})
    chance = (
        '@pytest.mark.parametrize("n", range(4))\ndef test_chance(n):\n    import os\n    assert os.urandom(1)[0] % 2\n'
    )
    flaky = f"{TESTS}\n\n{chance}"
    vague = "from tally import clamp\n\n\ndef test_clamp():\n    clamp(1, 2, 3).real\n"
    test = "tests/test_tally.py"
    broken = {"tally/__init__.py": (SOURCE + "\nraise ValueError\n").encode()}
    cases = {
        "solved_already": replace(task, base=fixed, reference={"tally/__init__.py": SOURCE.encode() + b"\n"}),
        "reference_fails": replace(task, reference=broken),
        "no_reference": replace(task, reference=None),
        "needs_image": replace(task, problem="it needs its image"),
        "tests_missing": replace(task, tests=replace(task.tests, files=Archive({}))),
        "fix_in_sight": replace(task, base=task.base.changed({"old/tally.py": SOURCE.encode()})),
        "no_canary": replace(
            task,
            base=task.base.changed({"tally/__init__.py": b"clamp = None\n"}),
            tests=replace(
                task.tests,
                files=Archive({test: vague.encode()}),
                fail_to_pass=(f"{test}::test_clamp",),
                pass_to_pass=(),
            ),
        ),
    }
    assert {reason: prove(one, LIMITS).reason for reason, one in cases.items()} == {reason: reason for reason in cases}
    varying = replace(
        task,
        tests=replace(
            task.tests,
            files=task.tests.files.changed({test: flaky.encode()}),
            pass_to_pass=(*task.tests.pass_to_pass, *(f"{test}::test_chance[{n}]" for n in range(9))),
        ),
    )
    # one that passes three times by luck and varies later refuses the reference: then prove again
    proof = next(one for one in (prove(varying, LIMITS) for _ in range(5)) if one.reason != "reference_refused")
    assert proof.reason is None
    assert any("test_chance" in note for note in proof.notes)


def test_canaries_change_one_value_of_each_test() -> None:
    changed, names = canaries(TESTS, "seed")
    assert names == {"test_clamp", "test_mean", "test_mean_of_nothing", "test_labels", "test_nothing_in_particular"}
    assert changed != TESTS
    assert "(-1, (1))" in changed
    assert canaries(TESTS, "seed") == (changed, names)
    assert canaries("def test_(:", "seed") == ("def test_(:", frozenset())


def test_the_commands_take_a_project_to_harbor_folders(project: Path, tmp_path: Path) -> None:
    def gradus(*words: object) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "gradus", "curate", *map(str, words)]
        return subprocess.run(command, capture_output=True, text=True, cwd=ROOT)

    tasks, pool, proven, harbor = (tmp_path / name for name in ("tasks", "ingest", "solvable", "harbor"))
    made = gradus("inject-bugs", project, "--out", tasks, "--number", 1)
    assert "1 tasks" in made.stdout, made.stderr
    assert "1 kept" in gradus("ingest", tasks, "--out", pool).stdout
    refused = gradus("solvable", pool, "--out", proven)
    assert (refused.returncode, refused.stderr.count("\n")) == (1, 1)
    assert "1 in = 1 kept" in gradus("solvable", pool, "--out", proven, "--tasks", tasks).stdout
    assert "1 tasks written" in gradus("export-tasks", proven, "--tasks", tasks, "--out", harbor).stdout
    for folder in task_folders(harbor):
        assert read_task(folder).tests.canaries
        assert {path.name for path in folder.iterdir()} == {
            "environment", "instruction.md", "solution", "task.toml", "tests",
        }  # fmt: skip
    assert gradus("inject-bugs", project, "--out", tasks).returncode == 1
