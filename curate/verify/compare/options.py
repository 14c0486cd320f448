"""Compares choices such as B, (B) and B. 12: by the letter and, where both sides give it, by the content."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Final

from curate.verify.compare.single_values import Rules
from curate.verify.verdict import Decision, correct, wrong
from curate.verify.vocabulary.words import is_letter_alone, option_and_content, option_letter, starts_with_words

Decide = Callable[[str, str, Rules], Decision]
_OTHER_THAN_LETTER: Final = re.compile(r"\d|(?<![A-Za-z])[A-J] ?=")  # B1, A=B: not the option B
_MARKUP: Final = re.compile(
    r"\\(?:textbf|text|mathrm|mathbf|textrm)\s*\{\s*(?=\()|(?<=\))\s*\}|\\q?quad|\\[ ,;]|~|\*\*"
)
_LABEL: Final = re.compile(r"\(([A-J])\)|(?<![A-Za-z\\({])([A-J])[.):、](?=\s|\$|\d|\\)")
_MIN_OPTIONS: Final = 2
_DIFFERENT: Final = wrong("different", "text")


def same_option(truth: str, answer: str, rules: Rules, decide: Decide) -> Decision | None:
    """Compare a choice by its letter, else by the content that the truth gives; None if the answer names no choice.

    Two contents must agree too: before `4`, the letter of `A: 4` may be a name.
    """
    ours, theirs = option_and_content(truth), option_and_content(answer)
    letter = theirs[0] if theirs else option_letter(answer)
    single = answer.strip("()")
    if letter is None and len(single) == 1 and single.isalpha() and not rules.policy.is_case_sensitive:
        letter = single.upper()
    if letter is None:
        if ours is None and _OTHER_THAN_LETTER.search(answer):
            return _DIFFERENT
        return decide(ours[1], answer, rules) if ours else None
    if letter != (ours[0] if ours else option_letter(truth)):
        return _DIFFERENT
    if ours is None or theirs is None or starts_with_words(ours[1], theirs[1]) or starts_with_words(theirs[1], ours[1]):
        return correct("text", "text")
    return decide(ours[1], theirs[1], rules)


def by_option(truth: str, answer: str, question: str) -> tuple[str, str] | None:
    """The pair to compare where one side is the letter of an option that the question offers, the other its content."""
    offered = options(question)
    for side, other, is_truth in ((truth, answer, True), (answer, truth, False)):
        letter = option_letter(side) if is_letter_alone(side) else None
        if letter in offered and not (is_letter_alone(other) or option_and_content(other)):
            return (offered[letter], other) if is_truth else (other, offered[letter])
    return None


@lru_cache(maxsize=10_000)
def options(question: str) -> dict[str, str]:
    """The contents of a question's options by letter, from A without a gap and all different; empty without any."""
    plain = _MARKUP.sub(" ", question)
    found = [(match[1] or match[2], match.start(), match.end()) for match in _LABEL.finditer(plain)]
    start = next((i for i in range(len(found) - 1, -1, -1) if found[i][0] == "A"), len(found))
    run = found[start:]
    if len(run) < _MIN_OPTIONS or [letter for letter, *_ in run] != list("ABCDEFGHIJ"[: len(run)]):
        return {}
    ends = [begin for _, begin, _ in run[1:]] + [len(plain)]
    contents = [plain[end:stop].strip(" ,;.\n$") for (_, _, end), stop in zip(run, ends, strict=True)]
    return dict(zip("ABCDEFGHIJ", contents, strict=False)) if all(contents) and len({*contents}) == len(run) else {}
