"""Objects of a solution behave in tests as in one process, and no claim of a solution about itself earns anything."""

import json
import re
from typing import NamedTuple

import pytest
from support.places import ROOT

from curate.verify.code.grade import verify_code
from curate.verify.policy import Policy
from curate.verify.verdict import Verdict


class Case(NamedTuple):
    kind: str
    name: str
    names: list[str]
    source: str
    test: str


def cases() -> list[Case]:
    found = []
    for part in re.split(r"(?m)^### ", (ROOT / "tests/cases/code_objects.txt").read_text())[1:]:
        head, body = part.split("\n", 1)
        (kind, name), names = head.partition("|")[0].split(), head.partition("|")[2].split()
        found.append(Case(kind, name, names, *body.split("\n---\n")))
    return found


CASES = {case.name: case for case in cases()}


def of(kind: str) -> object:
    chosen = [case for case in CASES.values() if case.kind == kind]
    return pytest.mark.parametrize("case", chosen, ids=[case.name for case in chosen])


def verify(source: str, case: Case) -> Verdict:
    tests = {"style": "assert", "tests": [case.test], "entry_points": case.names}
    return verify_code(f"```python\n{source}\n```", json.dumps(tests), Policy(code_timeout_s=2))


@of("right")
def test_a_right_solution_passes(sandboxed: None, case: Case) -> None:
    assert verify(case.source, case).reason == "tests_passed"


@of("cheat")
def test_a_cheat_earns_nothing(sandboxed: None, case: Case) -> None:
    assert verify(case.source, case).verdict != "correct"


@of("undecided")
def test_what_cannot_leave_the_sandbox_is_undecided(sandboxed: None, case: Case) -> None:
    verdict = verify(case.source, case)
    assert (verdict.verdict, verdict.reason) == ("undecided", "unparseable_answer")


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("dataclass", "p.x + 1", "p.x + 2"),
        ("operators_with_equality", "self.n +", "1 + self.n +"),
        ("exceptions", "negative: ", "negative "),
        ("coroutine", "x * x", "x + x"),
        ("captured_output", "'hi'", "'ho'"),
    ],
)
def test_a_wrong_sibling_fails(sandboxed: None, name: str, old: str, new: str) -> None:
    case = CASES[name]
    assert old in case.source
    assert verify(case.source.replace(old, new), case).verdict == "wrong"
