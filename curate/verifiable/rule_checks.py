"""Problems of the kinds with a rule: the rule must be readable, and no answer without content may meet it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from curate.verify import Item, Policy, verify_many
from curate.verify.rules.table import RULES, fault, reference


class RuledProblem(NamedTuple):
    """A problem's kind, its rule and its question."""

    kind: str
    ground_truth: str | None
    prompt: str


class Finding(NamedTuple):
    """The reason to drop a problem, with the evidence; None for both if there is none."""

    reason: str | None
    detail: str | None


_NOTHING = Finding(None, None)


def check_ruled_problems(problems: Sequence[RuledProblem], policy: Policy) -> list[Finding]:
    """The finding on each problem.

    `no_verifier` if its rule cannot be judged, `reference_fails_tests` if its own answer does not meet it, `no_tests`
    if an answer meets it that says nothing about any question, such as `ok` or `{}`.
    """
    faults = [fault(one.kind, one.ground_truth) for one in problems]
    asked: list[tuple[int, str, bool]] = []  # problem, answer, and whether it should be correct
    for index, one in enumerate(problems):
        if faults[index] is None:
            own = reference(one.kind, one.ground_truth or "")
            asked += [(index, own, True)] if own is not None else []
            asked += [(index, answer, False) for answer in RULES[one.kind].empty_answers]
    items = [
        Item(answer, problems[index].ground_truth or "", problems[index].kind, problems[index].prompt)
        for index, answer, _ in asked
    ]
    found = {index: Finding("no_verifier", line) for index, line in enumerate(faults) if line is not None}
    for (index, answer, is_right), verdict in zip(asked, verify_many(items, policy=policy), strict=True):
        if is_right and verdict.verdict != "correct":
            found.setdefault(index, Finding("reference_fails_tests", f"{answer[:80]}: {verdict.reason}"))
        elif not is_right and verdict.verdict == "correct":
            found.setdefault(index, Finding("no_tests", f"the answer {answer!r} meets its rule"))
    return [found.get(index, _NOTHING) for index in range(len(problems))]
