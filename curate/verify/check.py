"""The checker: find the answer, compare it with the ground truth, and hand what needs symbolic work to the workers.

Every pair is first decided in this process, by means bounded in time; what is left goes to a killable worker. Decisions
are remembered, so a group of completions with the same answer costs one comparison.
"""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from typing import Final

from curate.verify.compare.decide import DEFAULT, SYMBOLIC, decide, keyed, reads_as_answer
from curate.verify.extract import Extraction, extract
from curate.verify.policy import Policy
from curate.verify.symbolic.pool import Outcome, Pair, ask_many
from curate.verify.verdict import OVERRUN, Decision, Item, Verdict, correct, undecided, wrong
from curate.verify.vocabulary.words import is_prose

_PLACEHOLDER: Final = re.compile(
    r"(?:\\text\{ ?)?(?:(?:the|your|my|final|numerical) )*(?:answer|result)(?: here)? ?\}?|\\ldots ?", re.IGNORECASE
)


def verify(
    completion: str,
    ground_truth: str,
    *,
    kind: str = "math",
    policy: Policy = DEFAULT,
    question: str | None = None,
    tests: str | None = None,
) -> Verdict:
    """Decide whether a completion answers a problem. Never raises on what a model or a dataset wrote.

    kind: `math` compares the final answer with `ground_truth`; `code` runs the program against `tests` in the sandbox;
        `agent` has no verifier here and is undecided.
    """
    return verify_many([Item(completion, ground_truth, kind, question, tests)], policy=policy)[0]


def verify_many(items: Sequence[Item], *, policy: Policy = DEFAULT, workers: int | None = None) -> list[Verdict]:
    """Verdicts for many pairs, in order. One bad pair never loses the others; may be called from any thread.

    workers: how many symbolic workers may run at a time; as many as cores when None.
    """
    verdicts: list[Verdict | None] = [None] * len(items)
    owed: dict[Pair, list[int]] = {}
    _programs(items, verdicts, policy, workers)
    for index, item in enumerate(items):
        if item.kind == "code":
            continue
        verdict, pair = _guarded(item, policy)
        verdicts[index] = verdict
        if pair is not None:
            owed.setdefault(pair, []).append(index)
    if owed:
        _symbolic(owed, verdicts, policy, workers)
    return [verdict for verdict in verdicts if verdict is not None]


def _programs(items: Sequence[Item], verdicts: list[Verdict | None], policy: Policy, workers: int | None) -> None:
    """Run the programs among the items, several at a time, and put their verdicts in place."""
    indexes = [index for index, item in enumerate(items) if item.kind == "code"]
    if indexes:
        from curate.verify.code.grade import verify_programs

        for index, verdict in zip(indexes, verify_programs([items[i] for i in indexes], policy, workers), strict=True):
            verdicts[index] = verdict


def _guarded(item: Item, policy: Policy) -> tuple[Verdict, Pair | None]:
    """A bug of ours on one hostile text must not lose the rest of a batch."""
    try:
        return _first(item, policy)
    except Exception:  # noqa: BLE001  # any: the texts come from models; it is counted and reported as a crash
        return Verdict("undecided", "worker_crash", "exact", None, 0.0), None


def _first(item: Item, policy: Policy) -> tuple[Verdict, Pair | None]:
    """The verdict of this process, and the cleaned pair for the workers where it is not the last word."""
    start = time.perf_counter()
    if item.kind != "math":
        return Verdict("undecided", "no_verifier", "extract", None, _ms(start)), None
    found = Extraction((item.completion,), "bare") if item.is_bare else extract(item.completion, policy)
    extracted = found.answers[-1] if found.answers else None
    if not keyed(item.ground_truth)[1]:
        return Verdict("undecided", "unparseable_ground_truth", "exact", extracted, _ms(start)), None
    decision = _weigh(found, item, policy) if found.reason is None else wrong(found.reason, "extract")
    is_unsaid = decision.reason in ("no_answer", "think_only")
    pair = None
    if decision == SYMBOLIC and extracted is not None:
        pair = (keyed(item.ground_truth)[0], keyed(extracted)[0])
    return Verdict(*decision, None if is_unsaid else extracted, _ms(start)), pair


def _weigh(found: Extraction, item: Item, policy: Policy) -> Decision:
    """The decision on the last answer, unless an earlier one contradicts it."""
    answer = found.answers[-1]
    decision = decide(item.ground_truth, answer, policy, item.question)
    if found.otherwise and decision.verdict == "wrong" and not reads_as_answer(answer, policy):
        return wrong(found.otherwise, "extract")
    others = dict.fromkeys(a for a in found.answers[:-1] if _claims(a, found.how))
    others.pop(answer, None)
    if not others or policy.boxes == "last":
        return decision
    together = decide(item.ground_truth, ", ".join(dict.fromkeys(found.answers)), policy, item.question)
    if together.verdict == "correct" and found.how == "box":
        return together
    if all(
        decide(answer, other, policy).verdict == "correct" or decide(other, answer, policy).verdict == "correct"
        for other in others
    ):
        return decision
    return wrong("multiple_answers", "extract")


def _claims(answer: str, how: str) -> bool:
    """Whether an earlier box or claim says anything: an empty box or "the answer is found by adding" does not."""
    cleaned, key = keyed(answer)
    return bool(key) and not (how == "claim" and is_prose(cleaned)) and not _PLACEHOLDER.fullmatch(cleaned)


def _symbolic(owed: dict[Pair, list[int]], verdicts: list[Verdict | None], policy: Policy, workers: int | None) -> None:
    """Send what is owed to the workers, each pair once, and put their verdicts in place."""
    for indexes, (outcome, ms) in zip(owed.values(), ask_many(list(owed), policy, workers), strict=True):
        decision = _from_worker(outcome, policy)
        for index in indexes:
            before = verdicts[index]
            if before is not None:
                verdicts[index] = Verdict(*decision, before.extracted, before.ms + ms)


def _from_worker(outcome: Outcome, policy: Policy) -> Decision:
    if outcome is True:
        return correct("symbolic", "symbolic")
    if outcome is False:
        return wrong("different", "symbolic")
    if outcome in OVERRUN:
        return Decision(policy.answer_overrun, outcome, "symbolic")  # type: ignore[arg-type]  # one of OVERRUN
    return undecided("unparseable_answer", "symbolic")


def _ms(start: float) -> float:
    return (time.perf_counter() - start) * 1000
