"""The checker: find the answer, compare it with the ground truth, and hand what needs symbolic work to the workers.

Every pair is first decided in this process, by means bounded in time; what is left goes to a killable worker. Decisions
are remembered, so a group of completions with the same answer costs one comparison.
"""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from curate.verify.compare import Rules, compare
from curate.verify.extract import Extraction, extract
from curate.verify.grammar import parse
from curate.verify.nodes import Node, TooLargeError, UnreadableError
from curate.verify.normalise import canonical, clean
from curate.verify.policy import Policy
from curate.verify.pool import Outcome, ask_many
from curate.verify.verdict import OVERRUN, Decision, Item, Verdict, correct, undecided, wrong
from curate.verify.words import (
    is_letter_alone,
    is_phrase,
    is_prose,
    num_words,
    option_letter,
    same_words,
    spoken_number,
)

_ASKS_TO_ROUND: Final = re.compile(
    r"\bround(?:ed|ing)?\b|\bnearest\b|\bapproximat|\bdecimal places?\b|\bsignificant (?:figures?|digits?)\b|"
    r"\bestimate\b|保留|精确到|四舍五入|约(?:等于|为)|近似",
    re.IGNORECASE,
)
_NAMES_BASE: Final = re.compile(r"\bbase[- $_{]*\d|\bbinary\b|\boctal\b|\bhexadecimal\b|进制", re.IGNORECASE)
_ADVANCED: Final = re.compile(
    r"\\(?:int|iint|oint|sum|prod|lim|partial|nabla|infty|mathrm\{d\}|frac\{d|det|operatorname)"
)
_FIGURES: Final = re.compile(r"[0-9]+")
_SPACED_LIST: Final = re.compile(r"(?!\d{1,3}(?: \d{3})+$)-?\d+(?:\.\d+)?(?: -?\d+(?:\.\d+)?){2,}")
_MAX_TEXT: Final = 60
_MANY_WORDS: Final = 5
_DEFAULT: Final = Policy()
_SYMBOLIC: Final = undecided("unparseable_answer", "symbolic")  # the mark of a pair that the workers should see


def verify(
    completion: str,
    ground_truth: str,
    *,
    kind: str = "math",
    policy: Policy = _DEFAULT,
    question: str | None = None,
    tests: str | None = None,
) -> Verdict:
    """Decide whether a completion answers a problem. Never raises on what a model or a dataset wrote.

    kind: `math` compares the final answer with `ground_truth`; `code` runs the program against `tests` in the sandbox;
        `agent` has no verifier here and is undecided.
    """
    return verify_many([Item(completion, ground_truth, kind, question, tests)], policy=policy)[0]


def verify_many(items: Sequence[Item], *, policy: Policy = _DEFAULT, workers: int | None = None) -> list[Verdict]:
    """Verdicts for many pairs, in order. One bad pair never loses the others; may be called from any thread.

    workers: how many symbolic workers may run at a time; as many as cores when None.
    """
    verdicts: list[Verdict | None] = [None] * len(items)
    owed: dict[tuple[str, str], list[int]] = {}
    _programs(items, verdicts, policy, workers)
    for index, item in enumerate(items):
        if item.kind == "code":
            continue
        verdict, pair = _first(item, policy)
        verdicts[index] = verdict
        if pair is not None:
            owed.setdefault(pair, []).append(index)
    if owed:
        _symbolic(owed, verdicts, policy, workers)
    return [verdict for verdict in verdicts if verdict is not None]


def check_truth(ground_truth: str, *, kind: str = "math", policy: Policy = _DEFAULT) -> str | None:
    """None where a ground truth can be checked against, else the reason code why not."""
    if kind != "math":
        return None if kind == "code" else "no_verifier"
    cleaned = clean(ground_truth)
    if not canonical(cleaned):
        return "unparseable_ground_truth"
    if len(cleaned) > policy.max_chars:
        return "too_long"
    try:
        _parsed(cleaned, policy)
    except TooLargeError:
        return "too_long"
    except UnreadableError:
        is_word = is_prose(cleaned) and len(cleaned) <= _MAX_TEXT
        return None if is_word or _ADVANCED.search(cleaned) else "unparseable_ground_truth"
    return None


def decide(truth: str, answer: str, policy: Policy = _DEFAULT, question: str | None = None) -> Decision:
    """Compare two bare answers in this process; what needs a worker comes back as undecided, stage `symbolic`."""
    rules = Rules(policy, *_asked(question))
    return _decide(truth, answer, rules)


@lru_cache(maxsize=10_000)
def _asked(question: str | None) -> tuple[bool, bool]:
    if not question:
        return False, False
    return _ASKS_TO_ROUND.search(question) is not None, _NAMES_BASE.search(question) is not None


@lru_cache(maxsize=100_000)
def _decide(truth: str, answer: str, rules: Rules) -> Decision:
    clean_t, key_t = _keyed(truth)
    clean_a, key_a = _keyed(answer)
    if not key_t:
        return undecided("unparseable_ground_truth", "exact")
    if not key_a:
        return wrong("no_answer", "extract")
    if key_t == key_a:
        return correct("exact", "exact")
    if len(clean_a) > rules.policy.max_chars:
        return wrong("too_long", "limits")
    if len(clean_t) > rules.policy.max_chars:
        return undecided("unparseable_ground_truth", "limits")
    return _literally(clean_t, clean_a, rules) or _parsed_decision(clean_t, clean_a, rules)


@lru_cache(maxsize=50_000)
def _keyed(text: str) -> tuple[str, str]:
    cleaned = clean(text[:20_000]) if len(text) > 20_000 else clean(text)
    return cleaned, canonical(cleaned)


def _literally(truth: str, answer: str, rules: Rules) -> Decision | None:
    """Long figures, option letters and words, before anything is parsed."""
    if _FIGURES.fullmatch(truth) and _FIGURES.fullmatch(answer):
        same = truth.lstrip("0") == answer.lstrip("0")
        return correct("exact", "exact") if same else wrong("different", "exact")
    if is_letter_alone(truth):
        letter = option_letter(answer)
        if letter is None and len(answer) == 1 and not rules.policy.is_case_sensitive:
            letter = answer.upper()
        truth_letter = option_letter(truth)
        if letter is not None:
            return correct("text", "text") if letter == truth_letter else wrong("different", "text")
    if (
        same_words(truth, answer, is_case_sensitive=rules.policy.is_case_sensitive)
        and is_prose(truth)
        and is_prose(answer)
    ):
        return correct("text", "text")
    return None


def _parsed_decision(truth: str, answer: str, rules: Rules) -> Decision:
    try:
        tree_t = _parsed(truth, rules.policy)
    except TooLargeError:
        return undecided("unparseable_ground_truth", "limits")
    except UnreadableError:
        return _unread_truth(truth, answer)
    try:
        tree_a = _parsed(answer, rules.policy)
        return compare(tree_t, tree_a, rules)
    except (TooLargeError, RecursionError):
        return wrong("too_long", "limits")
    except UnreadableError:
        return _unread_answer(tree_t, truth, answer, rules)


def _unread_truth(truth: str, answer: str) -> Decision:
    if _ADVANCED.search(truth) or _ADVANCED.search(answer):
        return _SYMBOLIC
    if is_prose(truth):
        return wrong("different", "text")
    return undecided("unparseable_ground_truth", "exact")


def _unread_answer(tree: Node, truth: str, answer: str, rules: Rules) -> Decision:
    number = spoken_number(answer)
    if number is not None:
        return compare(tree, _parsed(number, rules.policy), rules)
    if (_ADVANCED.search(answer) or _ADVANCED.search(truth)) and num_words(answer) < _MANY_WORDS:
        return _SYMBOLIC
    return wrong("different", "text")


@lru_cache(maxsize=50_000)
def _tree(cleaned: str, max_depth: int, max_digits: int) -> Node | str | Exception:
    if _SPACED_LIST.fullmatch(cleaned):
        cleaned = cleaned.replace(" ", ", ")
    if is_phrase(cleaned):
        return Node("text", (), None, cleaned)
    try:
        return parse(cleaned, max_depth=max_depth, max_digits=max_digits)
    except RecursionError:
        return TooLargeError("nested too deep")
    except (TooLargeError, UnreadableError) as error:
        return error.with_traceback(None)


def _parsed(cleaned: str, policy: Policy) -> Node:
    tree = _tree(cleaned, policy.max_depth, policy.max_digits)
    if isinstance(tree, Exception):
        raise tree
    return tree  # type: ignore[return-value]  # never a str


def _programs(items: Sequence[Item], verdicts: list[Verdict | None], policy: Policy, workers: int | None) -> None:
    """Run the programs among the items, several at a time, and put their verdicts in place."""
    indexes = [index for index, item in enumerate(items) if item.kind == "code"]
    if indexes:
        from curate.verify.code import verify_programs

        for index, verdict in zip(indexes, verify_programs([items[i] for i in indexes], policy, workers), strict=True):
            verdicts[index] = verdict


def _first(item: Item, policy: Policy) -> tuple[Verdict, tuple[str, str] | None]:
    """The verdict of this process, and the cleaned pair for the workers where it is not the last word."""
    start = time.perf_counter()
    if item.kind != "math":
        return Verdict("undecided", "no_verifier", "extract", None, _ms(start)), None
    found = Extraction((item.completion,), "bare") if item.is_bare else extract(item.completion, policy)
    if not _keyed(item.ground_truth)[1]:
        return Verdict(
            "undecided", "unparseable_ground_truth", "exact", found.answers[-1] if found.answers else None, _ms(start)
        ), None
    if found.reason is not None:
        return Verdict("wrong", found.reason, "extract", None, _ms(start)), None
    decision = _weigh(found, item, policy)
    pair = None
    if decision == _SYMBOLIC:
        pair = (_keyed(item.ground_truth)[0], _keyed(found.answers[-1])[0])
    return Verdict(decision.verdict, decision.reason, decision.stage, found.answers[-1], _ms(start)), pair


def _weigh(found: Extraction, item: Item, policy: Policy) -> Decision:
    """The decision on the last answer, unless an earlier one contradicts it."""
    answer = found.answers[-1]
    decision = decide(item.ground_truth, answer, policy, item.question)
    if found.how == "bare" and not item.is_bare and decision.verdict == "wrong" and is_prose(_keyed(answer)[0]):
        return wrong("no_answer", "extract")
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
    cleaned, key = _keyed(answer)
    return bool(key) and not (how == "claim" and is_prose(cleaned))


def _symbolic(
    owed: dict[tuple[str, str], list[int]], verdicts: list[Verdict | None], policy: Policy, workers: int | None
) -> None:
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
