"""Finds the answer in a completion, compares it with the ground truth, and sends symbolic work to the workers.

This process decides what it can in bounded time; the remaining pairs go to killable workers. Decisions are cached, so a
group of completions with the same answer costs one comparison.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from curate.records import RULED
from curate.verify.compare.decide import SYMBOLIC
from curate.verify.compare.reading import DEFAULT, keyed
from curate.verify.extract.find import Extraction, extract
from curate.verify.extract.truths import answer_in
from curate.verify.policy import Policy
from curate.verify.symbolic.pool import Outcome, Pair, ask_many
from curate.verify.verdict import Decision, Item, Verdict, correct, undecided, wrong
from curate.verify.weigh import weigh


class _First(NamedTuple):
    """The verdict of this process, and the cleaned pair for the workers if the verdict is not final."""

    verdict: Verdict
    owed: Pair | None = None


def verify(
    completion: str,
    ground_truth: str,
    *,
    kind: str = "math",
    policy: Policy = DEFAULT,
    question: str | None = None,
    tests: str | None = None,
) -> Verdict:
    """Decide whether a completion answers a problem. Never raises on the text of a model or a dataset.

    kind: `math` compares the final answer with `ground_truth`; `code` runs the program against `tests` in the sandbox;
        `instructions`, `json`, `words` and `puzzle` are judged by the rule that `ground_truth` states; `agent` has no
        verifier and is undecided; any other kind needs a verifier of `policy.verifiers`.
    """
    return verify_many([Item(completion, ground_truth, kind, question, tests)], policy=policy)[0]


def verify_many(items: Sequence[Item], *, policy: Policy = DEFAULT, workers: int | None = None) -> list[Verdict]:
    """Verdicts for many pairs, in order. A bad pair does not affect the others. Safe to call from any thread.

    workers: maximum number of concurrent symbolic workers; None means the number of cores, at most 8.
    """
    elsewhere = _programs(items, policy, workers) | _by_functions(items, policy, workers)
    firsts = {index: _guarded(item, policy) for index, item in enumerate(items) if index not in elsewhere}
    worked_out = _symbolic(firsts, policy, workers)
    verdicts = {**elsewhere, **{index: first.verdict for index, first in firsts.items()}, **worked_out}
    return [verdicts[index] for index in range(len(items))]


def _programs(items: Sequence[Item], policy: Policy, workers: int | None) -> dict[int, Verdict]:
    """Run the programs among the items concurrently; their verdicts by index."""
    indexes = [index for index, item in enumerate(items) if item.kind == "code"]
    if not indexes:
        return {}
    from curate.verify.code.grade import verify_programs

    return dict(zip(indexes, verify_programs([items[i] for i in indexes], policy, workers), strict=True))


def _by_functions(items: Sequence[Item], policy: Policy, workers: int | None) -> dict[int, Verdict]:
    """The verdicts of rules and of the user's own verifiers on items of their kinds, by index."""
    kinds = {*RULED, *policy.own_kinds}
    indexes = [index for index, item in enumerate(items) if item.kind in kinds]
    if not indexes:
        return {}
    from curate.verify.own import judge

    return dict(zip(indexes, judge([items[i] for i in indexes], policy, workers), strict=True))


def _guarded(item: Item, policy: Policy) -> _First:
    """Decide one item; a bug that one hostile text triggers must not lose the rest of a batch."""
    try:
        return _first(item, policy)
    except Exception:  # noqa: BLE001  # any: the texts come from models; counted and reported as a crash
        return _First(Verdict("undecided", "worker_crash", "exact", None, 0.0))


def _first(item: Item, policy: Policy) -> _First:
    start = time.perf_counter()
    if item.kind != "math":
        return _First(Verdict("undecided", "no_verifier", "extract", None, _ms(start)))
    item = replace(item, ground_truth=answer_in(item.ground_truth))
    found = Extraction((item.completion,), "bare") if item.is_bare else extract(item.completion, policy)
    truth = keyed(item.ground_truth)
    if not truth.key:
        answer = found.answers[-1] if found.answers else None
        return _First(Verdict("undecided", "unparseable_ground_truth", "exact", answer, _ms(start)))
    decision, extracted = weigh(found, item, policy)
    owed = (truth.cleaned, keyed(extracted).cleaned) if decision == SYMBOLIC and extracted is not None else None
    return _First(Verdict(*decision, extracted, _ms(start)), owed)


def _symbolic(firsts: Mapping[int, _First], policy: Policy, workers: int | None) -> dict[int, Verdict]:
    """Send the open pairs to the workers, each pair once; the verdicts by index."""
    owed: dict[Pair, list[int]] = {}
    for index, first in firsts.items():
        if first.owed is not None:
            owed.setdefault(first.owed, []).append(index)
    verdicts: dict[int, Verdict] = {}
    if not owed:
        return verdicts
    for indexes, (outcome, ms) in zip(owed.values(), ask_many(list(owed), policy, workers), strict=True):
        decision = _from_worker(outcome, policy)
        for index in indexes:
            before = firsts[index].verdict
            verdicts[index] = Verdict(*decision, before.extracted, before.ms + ms)
    return verdicts


def _from_worker(outcome: Outcome, policy: Policy) -> Decision:
    if outcome == "equal":
        return correct("symbolic", "symbolic")
    if outcome == "different":
        return wrong("different", "symbolic")
    if outcome == "unreadable":
        return undecided("unparseable_answer", "symbolic")
    return Decision(policy.answer_overrun, outcome, "symbolic")


def _ms(start: float) -> float:
    return (time.perf_counter() - start) * 1000
