"""Decides on two bare answers in this process, in bounded time, cheapest comparison first.

The order is: equal strings, long figures, option letters and words, then the grammar and the comparison of trees.
Notation outside the grammar that a worker may parse (sums, integrals) is returned as `SYMBOLIC`. Decisions are cached,
so a group of completions with the same answer costs one comparison.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from curate.verify.compare.answers import compare
from curate.verify.compare.asked import asked
from curate.verify.compare.collections import GROUPS
from curate.verify.compare.kinds.congruences import congruence, remainder, same_classes
from curate.verify.compare.kinds.dates import date
from curate.verify.compare.kinds.labels import same_label
from curate.verify.compare.kinds.logic import same_formula
from curate.verify.compare.kinds.single_values import Rules
from curate.verify.compare.options import same_option
from curate.verify.compare.reading import SIGNS, is_advanced, keyed, parsed
from curate.verify.nodes import Node, TooLargeError, UnreadableError, num, walk
from curate.verify.policy import Policy
from curate.verify.spelling.notations import programmed
from curate.verify.values.equality import equal
from curate.verify.values.work import count, limited
from curate.verify.verdict import Decision, correct, undecided, wrong
from curate.verify.vocabulary.opposites import contradict, without_direction
from curate.verify.vocabulary.words import (
    differ_in_case,
    is_letter_alone,
    is_phrase,
    is_prose,
    is_yes_or_no,
    num_words,
    option_and_content,
    same_words,
    spoken_number,
)

SYMBOLIC: Final = undecided("unparseable_answer", "symbolic")  # marks a pair for the workers
_SIZE: Final = re.compile(r"[\\$({ ]*(?:\||\\lvert|\\left)")  # starts with bars
_FIGURES: Final = re.compile(r"[0-9]+")
_DECIMAL: Final = re.compile(r"-?\d+\.(?:\d{1,2}|\d{4,})")  # with three places the comma groups thousands
_MULTIPLE: Final = re.compile(r"\d+\.\d+ ?x")  # 1.5x as much
_CHEMICAL: Final = re.compile(r"(?:formula|nuclide|orbital) ")  # as the normaliser writes them
_LETTER: Final = re.compile(r"[A-Za-z]")
_ISO_DATE: Final = re.compile(r"[12]\d{3}-\d\d-\d\d")
_EULER: Final = re.compile(r"(?<![\d.A-Za-z\\])(\d+)e(?=[+-]\d+(?![\d.]))")
_CAPITALS: Final = re.compile(r"[A-Z]{2,}")
_ROMAN: Final = re.compile(r"(?=[IVX]{2,}|[MDCLXVI]{4,})M{0,3}(?:CM|CD|D?C{0,3})(?:XC|XL|L?X{0,3})(?:IX|IV|V?I{0,3})")
_MANY_WORDS: Final = 5
_NONE: Final = num(0)


def decide(truth: str, answer: str, policy: Policy, question: str | None = None) -> Decision:
    """Compare two bare answers in this process; a pair that needs a worker is undecided with stage `symbolic`."""
    decision = _decide(truth, answer, _rules(policy, question))
    if question and decision.verdict == "correct" and decision.reason != "exact" and _is_restated(answer, question):
        return wrong("different", "text")
    return decision


def _is_restated(answer: str, question: str) -> bool:
    """Whether an answer such as |x|=5 only repeats a part of the question."""
    return _SIZE.match(answer) is not None and keyed(answer).key in keyed(question).key


def _rules(policy: Policy, question: str | None) -> Rules:
    return Rules(policy, *asked(question)) if question else Rules(policy)


def _decide(truth: str, answer: str, rules: Rules) -> Decision:
    """The decision, whose work counts each time, so that a memo changes no verdict."""
    decision, us = _worked_out(truth, answer, rules)
    count(us)
    return decision


@lru_cache(maxsize=20_000)
def _worked_out(truth: str, answer: str, rules: Rules) -> tuple[Decision, float]:
    """The decision and its work."""
    clean_t, clean_a = keyed(truth).cleaned, keyed(answer).cleaned
    if (decision := _as_texts(truth, answer, rules)) is not None:
        return decision, 0.0
    with limited() as work:
        decision = _literally(clean_t, clean_a, rules) or _parsed_decision(clean_t, clean_a, rules)
    if decision.verdict == "correct" or (other := _other_reading(truth, clean_t, clean_a)) is None:
        return decision, work.us
    again, us = _worked_out(*other, rules)
    return again, work.us + us


def _as_texts(truth: str, answer: str, rules: Rules) -> Decision | None:
    """The decision on empty, equal, contradictory and too long texts; None for others."""
    (clean_t, key_t), (clean_a, key_a) = keyed(truth), keyed(answer)
    if not key_t:
        return undecided("unparseable_ground_truth", "exact")
    if not key_a:
        return wrong("no_answer", "extract")
    if truth != answer and contradict(truth, answer):
        return wrong("different", "text")
    if key_t == key_a:
        return correct("exact", "exact")
    if len(clean_a) > rules.policy.max_chars:
        return wrong("too_long", "limits")
    if len(clean_t) > rules.policy.max_chars:
        return undecided("unparseable_ground_truth", "limits")
    if (value := programmed(truth)) is not None and not rules.names_base and _FIGURES.fullmatch(clean_a):
        return correct("exact", "exact") if clean_a.lstrip("0") == value else wrong("different", "exact")
    return None


def _other_reading(truth: str, clean_t: str, clean_a: str) -> tuple[str, str] | None:
    """The pair in another reading: the content of a choice, a value without its direction, 2e-1 as 2e - 1."""
    if (chosen := option_and_content(clean_a)) and not option_and_content(clean_t):
        return truth, chosen[1]  # (B) 12 against 12
    if (plain := without_direction(clean_t, clean_a)) is not None:
        return truth, plain
    if any("e" in text and _EULER.search(text) for text in (clean_t, clean_a)):
        return _EULER.sub(r"\1 e", clean_t), _EULER.sub(r"\1 e", clean_a)
    return None


def _literally(truth: str, answer: str, rules: Rules) -> Decision | None:
    """Compare long figures, option letters and words without parsing; None if undecided."""
    if _FIGURES.fullmatch(truth) and _FIGURES.fullmatch(answer) and not rules.policy.has_tolerance:
        same = truth.lstrip("0") == answer.lstrip("0")
        return correct("exact", "exact") if same else wrong("different", "exact")
    if _DECIMAL.fullmatch(truth) and answer == truth.replace(".", ","):
        return correct("exact", "exact")  # 0,75: a decimal comma
    if _MULTIPLE.fullmatch(answer) and _MULTIPLE.fullmatch(f"{truth}x"):
        return _decide(truth, answer.rstrip("x "), rules)
    if (classes := congruence(truth)) is not None:
        same = (theirs := congruence(answer)) is not None and same_classes(classes, theirs)
        return correct("set", "set") if same else _against_classes(truth, answer, rules)
    if (value := remainder(answer)) is not None:
        return _decide(truth, value, rules)
    if (is_same := same_formula(truth, answer)) is not None:
        return correct("symbolic", "symbolic") if is_same else wrong("different", "symbolic")
    if (is_same := _same_name(truth, answer)) is not None:
        return correct("text", "text") if is_same else wrong("different", "text")
    if is_letter_alone(truth) or option_and_content(truth) is not None:
        return same_option(truth, answer, rules, _decide)
    if same_words(truth, answer, is_case_sensitive=rules.policy.is_case_sensitive) and (
        is_yes_or_no(truth) or (is_prose(truth) and is_prose(answer))
    ):
        return correct("text", "text")
    return None


def _same_name(truth: str, answer: str) -> bool | None:
    """Whether two dates, formulas, Roman numerals or names of segments are the same; None for other texts."""
    if (wanted := date(truth)) is not None:
        return wanted == date(answer) or same_words(truth, answer)
    if _ISO_DATE.fullmatch(answer):
        return False
    if _CHEMICAL.match(truth) and (_CHEMICAL.match(answer) or not _LETTER.search(answer)):
        return truth == answer
    if _ROMAN.fullmatch(truth) and _CAPITALS.fullmatch(answer):
        return truth == answer
    return False if differ_in_case(truth, answer) else same_label(truth, answer)


def _against_classes(truth: str, answer: str, rules: Rules) -> Decision:
    """Compare an answer that is no class with a truth such as `17 mod 5`, which may be the class or the number."""
    value = remainder(truth)
    if value is None or congruence(answer) is not None:
        return wrong("different", "set")
    return _decide(value, answer, rules)


def _parsed_decision(truth: str, answer: str, rules: Rules) -> Decision:
    try:
        tree_t = parsed(truth, rules.policy)
    except TooLargeError:
        return undecided("unparseable_ground_truth", "limits")
    except UnreadableError:
        return _unread_truth(truth, answer)
    try:
        tree_a = parsed(answer, rules.policy)
        return compare(tree_t, tree_a, rules)
    except (TooLargeError, RecursionError):
        return (
            wrong("too_long", "limits") if _is_manageable(tree_t) else undecided("unparseable_ground_truth", "limits")
        )
    except UnreadableError:
        return _unread_answer(tree_t, truth, answer, rules)


def _is_manageable(tree: Node) -> bool:
    """Whether the values of a truth by themselves are within the limits, so that the answer exceeds them."""
    parts = tree.args if tree.op in (*GROUPS, "rel") else (tree,)
    try:
        with limited():
            for part in parts:
                equal(part, _NONE)
    except (TooLargeError, RecursionError):
        return False
    except UnreadableError:
        return True
    return True


def _unread_truth(truth: str, answer: str) -> Decision:
    if _is_symbolic(truth, answer):
        return SYMBOLIC
    if is_prose(truth) or _in_words(answer) or (SIGNS.fullmatch(truth) and SIGNS.fullmatch(answer)):
        return wrong("different", "text")
    return undecided("unparseable_ground_truth", "exact")


def _is_symbolic(truth: str, answer: str) -> bool:
    """Whether a pair needs the workers: it has sums, integrals or the like, and neither side is plain words."""
    return (is_advanced(truth) or is_advanced(answer)) and not (_in_words(truth) or _in_words(answer))


def _in_words(text: str) -> bool:
    """Whether a text is a few words, such as "the set of even numbers", but no number in words."""
    return is_phrase(text) and spoken_number(text) is None


def _unread_answer(tree: Node, truth: str, answer: str, rules: Rules) -> Decision:
    number = spoken_number(answer)
    if number is not None and number != answer:
        return _parsed_decision(truth, number, rules)
    if _is_symbolic(truth, answer) and num_words(answer) < _MANY_WORDS:
        return SYMBOLIC
    if any(node.name == "ldots" or (node.op == "text" and node is not tree) for node in walk(tree)):
        return undecided("unparseable_ground_truth", "exact")
    return wrong("different", "text")
