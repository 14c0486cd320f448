"""Grades changes to a repository by hidden tests that the code under test cannot talk round.

A fresh copy of the base with the allowed changes; tests and reporter outside the repository, read-only; each named test
exactly once; and the tests' canaries, which must fail. A report that the agent's code breaks or prevents is wrong; a
fault of the sandbox is undecided.
"""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from typing import Final, Literal

from curate.verify.code.sandbox import SandboxUnavailable
from curate.verify.repo.archive import Archive
from curate.verify.repo.box import Box, BoxFault, BoxLimits, Change, Refused, open_box
from curate.verify.repo.canaries import canaries
from curate.verify.repo.changes import sift
from curate.verify.repo.screen import screen
from curate.verify.verdict import VerdictName

Exploit = Literal["wrong", "drop", "log"]
Reason = Literal[
    "tests_passed", "tests_failed", "tests_broken", "no_change", "no_report", "exploit", "timeout", "sandbox_fault",
    "sandbox_unavailable",
]  # fmt: skip
TESTS_AT: Final = "hidden_tests"
MAX_REPORT: Final = 4 << 20
_PARAMETERS: Final = re.compile(r"\[.*\]$", re.DOTALL)


@dataclass(frozen=True)
class RepoTests:
    """The hidden tests of a task, and what an agent may change.

    fail_to_pass, pass_to_pass: pytest's names, with paths relative to the repository. files: the test files and what
    they read, by the same paths. source_paths: files and folders that a fix may change. packages: distributions that
    the tests import. canaries: names of tests whose canary the reference fails; None: not proven yet, all count.
    known: findings of the screen that the reference solution has too.
    """

    fail_to_pass: tuple[str, ...]
    pass_to_pass: tuple[str, ...]
    files: Archive
    source_paths: tuple[str, ...]
    packages: tuple[str, ...] = ()
    canaries: frozenset[str] | None = None
    known: frozenset[str] = frozenset()

    @property
    def named(self) -> tuple[str, ...]:
        """All tests that must pass."""
        return self.fail_to_pass + self.pass_to_pass

    @property
    def modules(self) -> tuple[str, ...]:
        """The files in which the named tests are."""
        return tuple(dict.fromkeys(name.partition("::")[0] for name in self.named))


@dataclass(frozen=True)
class Grade:
    """A verdict on an episode's changes, with its evidence: one line, findings of the screen, and what was left out."""

    verdict: VerdictName
    reason: Reason
    detail: str = ""
    findings: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    outcomes: Mapping[str, str] = field(default_factory=dict)


class Outcomes(dict[str, str]):
    """Outcome by test name: passed, failed, skipped or xfail. messages: `line: error` of those that failed.

    problem: why the report proves nothing; None if it is whole.
    """

    problem: Reason | None = None
    detail = ""

    def __init__(self) -> None:
        super().__init__()
        self.messages: dict[str, str] = {}


def grade(
    base: Archive, tests: RepoTests, changes: Sequence[Change], limits: BoxLimits, *, exploit: Exploit = "wrong"
) -> Grade:
    """The verdict on the changes of an episode. exploit: what follows from a cheat; `log` lets the tests decide."""
    sifted = sift(changes, tests.source_paths, frozenset(tests.files.files))
    left_out = tuple(f"{path}: {why}" for path, why in sifted.left_out)
    if not sifted.files:
        return Grade("wrong", "no_change", "no source file differs", left_out=left_out)
    written = {path: content for path, content in sifted.files.items() if content is not None}
    findings = tuple(f"{one.path}:{one.line} {one.what}" for one in screen(written, base.files, tests.known))
    try:
        with open_box(base.changed(sifted.files), limits, tests.packages) as box:
            real = run_tests(box, tests, tests.files)
            fake = run_tests(box, tests, canary_files(tests)[0]) if real.problem is None else Outcomes()
    except SandboxUnavailable as why:
        return Grade("undecided", "sandbox_unavailable", str(why), findings, left_out)
    except (BoxFault, Refused) as why:
        return Grade("undecided", "sandbox_fault", str(why), findings, left_out)
    caught = _caught(tests, real, fake) or (f"screen: {findings[0]}" if findings else "")
    verdict, reason, detail = _decision(tests, real, caught, exploit)
    return Grade(verdict, reason, detail, findings, left_out, dict(real))


def run_tests(box: Box, tests: RepoTests, files: Archive, modules: Sequence[str] = ()) -> Outcomes:
    """Run the tests of these files in a box, and read the report. modules: test files, if not those of the names."""
    for path, content in files.files.items():
        box.hide(f"{TESTS_AT}/{path}", content)
    nonce = secrets.token_hex(16)
    config = {
        "nonce": nonce,
        "source_roots": ["/repo/src", "/repo/lib", "/repo"],
        "tests_root": f"/hidden/{TESTS_AT}",
        "files": [f"/hidden/{TESTS_AT}/{path}" for path in modules or tests.modules],
    }
    done = box.report(_reporter(), json.dumps(config), box.limits.command_s, MAX_REPORT)
    return _read(done["report"], nonce, done)


def canary_files(tests: RepoTests) -> tuple[Archive, frozenset[str]]:
    """The hidden files with canaries in place of the tests, and the names (without parameters) that have one."""
    changed: dict[str, bytes | None] = {}
    names = set()
    for path in tests.modules:
        source, having = canaries(tests.files.files[path].decode("utf-8", "replace"), path)
        changed[path] = source.encode()
        names |= {f"{path}::{name.replace('.', '::')}" for name in having}
    return tests.files.changed(changed), frozenset(names)


def plain_name(test: str) -> str:
    """A test's name without its parameters."""
    return _PARAMETERS.sub("", test)


def _caught(tests: RepoTests, real: Outcomes, fake: Outcomes) -> str:
    """The evidence that a test passes with its value and with another one: an honest repository has one value."""
    counted = canary_files(tests)[1] if tests.canaries is None else tests.canaries
    passed = [name for name in passing_canaries(real, fake) if plain_name(name) in counted]
    return f"a test passes with a wrong value too: {passed[0]} ({len(passed)} in all)" if passed else ""


def passing_canaries(real: Outcomes, fake: Outcomes) -> list[str]:
    """The tests that pass and whose canaries pass; the cases of a parametrised test are paired in order."""
    found = []
    for name in dict.fromkeys(map(plain_name, real)):
        pairs = zip(
            [test for test in real if plain_name(test) == name], [test for test in fake if plain_name(test) == name],
            strict=False,
        )  # fmt: skip
        found += [test for test, other in pairs if real[test] == fake[other] == "passed"]
    return found


def _decision(tests: RepoTests, real: Outcomes, caught: str, exploit: Exploit) -> tuple[VerdictName, Reason, str]:
    if real.problem is not None:
        return "wrong", real.problem, real.detail
    failed = [name for name in tests.named if real.get(name) != "passed"]
    if caught and exploit != "log":
        return ("undecided" if exploit == "drop" else "wrong"), "exploit", caught
    if failed:
        broken = [name for name in failed if name in tests.pass_to_pass]
        first = (broken or failed)[0]
        told = f"{first} {real.get(first, 'did not run')}; {len(tests.named) - len(failed)} of {len(tests.named)} pass"
        return "wrong", ("tests_broken" if broken else "tests_failed"), told
    return "correct", "tests_passed", f"{len(tests.named)} tests"


def _read(report: bytes, nonce: str, done: Mapping[str, object]) -> Outcomes:
    """The outcomes in a report; `problem` if it has no end, a foreign line, or a test twice."""
    found, has_end = Outcomes(), False
    for line in report.decode("utf-8", "replace").splitlines():
        try:
            told = json.loads(line)
            is_ours = told["nonce"] == nonce
        except (ValueError, KeyError, TypeError):
            is_ours = False
        if not is_ours:
            found.problem, found.detail = "exploit", f"a forged line in the report: {line[:80]}"
            return found
        if told.get("end"):
            has_end = True
            continue
        name = str(told.get("test", "")).removeprefix(f"{TESTS_AT}/")
        if name in found or has_end:
            found.problem, found.detail = "exploit", f"the report names {name} twice, or after its end"
            return found
        found[name] = str(told.get("outcome"))
        if message := told.get("message"):
            found.messages[name] = str(message)
    if not has_end:
        is_late = done["end"] == "timeout"
        found.problem = "timeout" if is_late else "no_report"
        found.detail = f"the tests ended without a report: {done['end']}, status {done['status']}"
    return found


@cache
def _reporter() -> str:
    return (resources.files("curate.verify.repo.inside") / "reporter.py").read_text(encoding="utf-8")
