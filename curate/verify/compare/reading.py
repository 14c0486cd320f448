"""Reads a bare answer: cleaned text with its key, and its tree or the reason for having none.

Both are cached, so that a ground truth and a frequent answer are parsed once.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, Literal, NamedTuple

from curate.verify.compare.kinds.congruences import congruence
from curate.verify.compare.kinds.logic import is_formula
from curate.verify.extract.parts import labelled_parts
from curate.verify.extract.truths import answer_in
from curate.verify.grammar.parser import parse
from curate.verify.nodes import Node, TooLargeError, UnreadableError
from curate.verify.policy import Policy
from curate.verify.spelling.normalise import canonical, clean
from curate.verify.vocabulary.words import is_phrase, is_prose, num_words, option_and_content, option_letter

DEFAULT: Final = Policy()
SIGNS: Final = re.compile(r"(?:\\[a-zA-Z]+ ?)+")  # symbols without a value, such as the suits of cards
_ADVANCED: Final = re.compile(r"\\(?:i?int|oint|sum|prod|lim|partial|nabla|det)(?![A-Za-z])|\\frac\{d\}")
_SPACED_LIST: Final = re.compile(r"(?!\d{1,3}(?: \d{3})+$)-?\d+(?:\.\d+)?(?: -?\d+(?:\.\d+)?){2,}")
_MAX_TEXT: Final = 60
_MAX_CLEANED: Final = 20_000


class Keyed(NamedTuple):
    """A text cleaned for the grammar, and its key for comparison as a string."""

    cleaned: str
    key: str


class Reading(NamedTuple):
    """The tree of a cleaned text, or whether a limit or the grammar refused it, with the error's message."""

    tree: Node | None
    failure: Literal["too_large", "unreadable"] | None = None
    message: str = ""


@lru_cache(maxsize=20_000)
def keyed(text: str) -> Keyed:
    """The cleaned text with its key; beyond 20,000 characters the raw text, for comparison as a string only."""
    if len(text) > _MAX_CLEANED:
        return Keyed(text, text.strip())
    cleaned = clean(text)
    return Keyed(cleaned, canonical(cleaned))


def parsed(cleaned: str, policy: Policy) -> Node:
    """The tree of a cleaned text under the policy's limits; raises `UnreadableError` or `TooLargeError`."""
    reading = _read(cleaned, policy.max_depth, policy.max_digits)
    if reading.tree is not None:
        return reading.tree
    raise TooLargeError(reading.message) if reading.failure == "too_large" else UnreadableError(reading.message)


@lru_cache(maxsize=20_000)
def _read(cleaned: str, max_depth: int, max_digits: int) -> Reading:
    if _SPACED_LIST.fullmatch(cleaned):
        cleaned = cleaned.replace(" ", ", ")
    if is_phrase(cleaned):
        return Reading(Node("text", (), None, cleaned))
    try:
        return Reading(parse(cleaned, max_depth=max_depth, max_digits=max_digits))
    except RecursionError:
        return Reading(None, "too_large", "nested too deep")
    except TooLargeError as error:
        return Reading(None, "too_large", str(error))
    except UnreadableError as error:
        return Reading(None, "unreadable", str(error))


def is_advanced(cleaned: str) -> bool:
    """Whether a text has sums, integrals, limits or derivatives, which only the workers parse."""
    return _ADVANCED.search(cleaned) is not None


def reads_as_answer(text: str, policy: Policy) -> bool:
    """Whether a text is only an answer: mathematics, an option letter or one word, not a sentence."""
    cleaned, key = keyed(text)
    if not key or num_words(cleaned) > 1:
        return False
    if option_letter(cleaned) is not None:
        return True
    try:
        return parsed(cleaned, policy).op != "text"
    except (TooLargeError, UnreadableError):
        return is_advanced(cleaned)


def check_truth(ground_truth: str, *, kind: str = "math", policy: Policy = DEFAULT) -> str | None:
    """None if answers can be compared with a ground truth, else the reason code."""
    if kind != "math":
        return None if kind == "code" else "no_verifier"
    ground_truth = answer_in(ground_truth)
    if parts := labelled_parts(ground_truth):
        return next((code for part in parts if (code := check_truth(part.content, policy=policy))), None)
    cleaned = clean(ground_truth)
    if not canonical(cleaned):
        return "unparseable_ground_truth"
    if len(cleaned) > policy.max_chars:
        return "too_long"
    if option_and_content(cleaned) is not None or congruence(cleaned) is not None or is_formula(cleaned):
        return None
    try:
        parsed(cleaned, policy)
    except TooLargeError:
        return "too_long"
    except UnreadableError:
        is_word = (is_prose(cleaned) and len(cleaned) <= _MAX_TEXT) or SIGNS.fullmatch(cleaned)
        return None if is_word or is_advanced(cleaned) else "unparseable_ground_truth"
    return None
