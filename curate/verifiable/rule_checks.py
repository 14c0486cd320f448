"""Problems of the kinds with a rule: the rule must be readable, and no answer without content may meet it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from curate.verify import Item, Policy, verify_many
from curate.verify.rules.table import RULES, fault


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
    """The finding on each problem: `no_verifier` if its rule cannot be judged, `no_tests` if the rule tests nothing.

    The answers that are tried say nothing about any question, such as `ok` or `{}`.
    """
    faults = [fault(one.kind, one.ground_truth) for one in problems]
    tried = [
        (index, answer)
        for index, one in enumerate(problems)
        if faults[index] is None
        for answer in RULES[one.kind].empty_answers
    ]
    items = [
        Item(answer, problems[index].ground_truth or "", problems[index].kind, problems[index].prompt)
        for index, answer in tried
    ]
    met: dict[int, str] = {}
    for (index, answer), verdict in zip(tried, verify_many(items, policy=policy), strict=True):
        if verdict.verdict == "correct":
            met.setdefault(index, answer)
    return [
        Finding("no_verifier", fault_found)
        if fault_found is not None
        else Finding("no_tests", f"the answer {met[index]!r} meets its rule")
        if index in met
        else _NOTHING
        for index, fault_found in enumerate(faults)
    ]
