"""Compares choices such as B, (B) and B. 12: by the letter and, where both sides give it, by the content."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from curate.verify.compare.kinds.single_values import Rules
from curate.verify.verdict import Decision, correct, wrong
from curate.verify.vocabulary.words import option_and_content, option_letter, starts_with_words

Decide = Callable[[str, str, Rules], Decision]
_OTHER_THAN_LETTER: Final = re.compile(r"\d|(?<![A-Za-z])[A-J] ?=")  # B1, A=B: not the option B
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
