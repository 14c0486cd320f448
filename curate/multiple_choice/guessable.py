"""Decides whether a problem's answer can be guessed from a closed list.

Such a list is options, true/false, yes/no, or alternatives in the stem. `guessable(prompt, ground_truth, choices)`
returns how, or None for an open question. Labels alone do not decide: (a), (1) and ① also number sub-questions,
conditions and statements. They are options if the answer names a label or repeats an option, or if the stem offers them
("which of the following", 下列…的是); if the question follows the list, the list belongs to the stem. Kimi k1.5 (arXiv
2501.12599, section 2.1) keeps such problems out of RL.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from curate.multiple_choice.alternatives import alternatives
from curate.multiple_choice.cues import (
    ALONE,
    ASKED_ANSWERS,
    ASKS_BINARY,
    BINARY,
    BINARY_ANSWERS,
    CLOSED_ZH,
    COUNTS,
    LETTERS_ARE_THE_TOPIC,
    STANDS_FOR,
)
from curate.multiple_choice.labels import are_binary, named_labels, squashed
from curate.multiple_choice.offered import has_contents, offers_options
from curate.multiple_choice.option_runs import WRAP, OptionRun, masked, option_runs


@dataclass(frozen=True)
class Guessable:
    """How a problem can be guessed.

    reason: `multiple_choice` or `true_false`.
    shape: the kind of evidence: `choices_column`, alphabet and shape of the labels such as `upper_paren`, `no_labels`,
        `option_less`, `alternatives` or `binary`.
    matched: the labels or words found.
    run: the labelled options in the prompt, if any.
    """

    reason: str
    shape: str
    matched: str
    run: OptionRun | None = None


def guessable(prompt: str, ground_truth: str | None, choices: Sequence[str] | None) -> Guessable | None:
    """How the problem's answer can be guessed, or None for an open question.

    `ground_truth` and `choices` may be None; then the prompt alone decides.
    """
    text, answer = masked(prompt), plain_answer(ground_truth)
    if (how := _binary(text, answer, choices)) is not None:
        return how
    is_named = _OPTION_WORD.match(ground_truth or "") is not None
    for run in option_runs(text):
        if has_contents(run) and ((is_named and named_labels(answer, run)) or offers_options(text, run, answer)):
            reason = "true_false" if are_binary(run.contents) else "multiple_choice"
            return Guessable(reason, f"{run.alphabet}_{run.shape}", " ".join(run.names), run)
    if choices is not None and len(choices) > 1:
        return Guessable("multiple_choice", "choices_column", f"{len(choices)} choices")
    return _without_labels(text, answer)


_OPTION_WORD = re.compile(r"\W*(?:the )?(?:correct )?(?:option|choice|选项)\b", re.IGNORECASE)
_TAG = re.compile(r"</?answer>", re.IGNORECASE)
_BOX = re.compile(r"\\boxed\s*\{(.*)\}", re.DOTALL)
_LEAD_IN = re.compile(
    r"^(?:the )?(?:correct |final )?(?:answer|option|choice)(?: is\b)?\s*[:：]?\s+|^(?:答案|故选|选项?)\s*[:：]?\s*",
    re.IGNORECASE,
)


def plain_answer(ground_truth: str | None) -> str:
    r"""A ground truth without markup, box, lead-in and final stops: `**B)**` is `B)`, `\\text{(C)}` is `(C)`."""
    text = _BOX.sub(r"\1", _TAG.sub("", masked(ground_truth or "").replace(WRAP, "")))
    text = _LEAD_IN.sub("", text.strip(" $\n")).strip(" \n$*`.。，,")
    num_open = text.count("}") - text.count("{")  # from the markup that `masked` removed
    return text.removesuffix("}" * max(num_open, 0)).strip(" \n$*`.。，,")


_ANGLES: Final = re.compile(r"\b(?:acute|obtuse|left|angles?|triangles?)\b", re.IGNORECASE)


def _binary(text: str, answer: str, choices: Sequence[str] | None) -> Guessable | None:
    word = re.split(r"[,.;，。；:：]", answer.lower())[0].strip(" \"'“”()（）")
    if word in BINARY_ANSWERS and not (word == "right" and _ANGLES.search(text)):
        return Guessable("true_false", "binary", word)
    if word in ASKED_ANSWERS and ASKS_BINARY.search(text):
        return Guessable("true_false", "binary", word)
    if choices is not None and are_binary([plain_answer(choice) for choice in choices]):
        return Guessable("true_false", "binary", " / ".join(choices))
    cue = BINARY.search(text)
    if cue is not None and answer.lower() in ("", "t", "f", "y", "n", "0", "1", "a", "b"):
        return Guessable("true_false", "binary", cue[0].strip())
    return None


_LETTERS: Final = re.compile(r"\(?[A-H]\)?|[A-E](?:\s*[,，、]?\s*[A-E])+")


def _without_labels(text: str, answer: str) -> Guessable | None:
    cue = ALONE.search(text) or CLOSED_ZH.search(text) or STANDS_FOR.search(text)
    if (
        cue is not None
        and not COUNTS.search(text[: cue.start()][-40:] + cue[0])
        and not _lists_others(text, cue, answer)
    ):
        return Guessable("multiple_choice", "no_labels", cue[0].strip()[:80])
    is_segment = re.fullmatch("[A-Z]{2}", answer) is not None and _SEGMENTS.search(text) is not None
    if _LETTERS.fullmatch(answer) and not LETTERS_ARE_THE_TOPIC.search(text) and not is_segment:
        letters = re.findall("[A-H]", answer)
        # "A beat B" names A as well
        names = [*letters, *("B" for letter in letters if letter == "A")]
        if letters == sorted(set(letters)) and not any(_names_something(text, name) for name in names):
            return Guessable("multiple_choice", "option_less", answer)
    if (words := alternatives(text, answer)) is not None:
        return Guessable("multiple_choice", "alternatives", words[:80])
    return None


_RANGE: Final = re.compile(
    r"(?<![A-Za-z\\])A(?:\$?\s*(?:to|through|[-–—…]|,?\s*\.\.\.,?)\s*\$?|, B,? .{1,8})([C-Z])(?![A-Za-z])"
)
_WHO: Final = re.compile(
    r"\bwho\b|\b(?:which|what) (?:vertex|corner|point|side|team|player|person|town|city)\b", re.IGNORECASE
)


def _lists_others(text: str, cue: re.Match[str], answer: str) -> bool:
    """Whether `choices:` only introduces a list of things to count, none of which is the answer."""
    is_list = cue[0].endswith((":", "：")) and answer != "" and not _LETTERS.fullmatch(answer)
    return is_list and squashed(answer) not in squashed(text[cue.end() :])


_SEGMENTS: Final = re.compile(
    r"\b(?:segment|side|edge|line|arc|angle|ray|chord|diagonal|diameter)s?\b|线段|边|弧|直线", re.IGNORECASE
)


def _names_something(text: str, letter: str) -> bool:
    """Whether a letter occurs in the text as a name; the article in `A car` does not.

    Points are also named in `ABCD` and `A to F`.
    """
    article = r"(?!\s+[a-z]{2})" if letter == "A" else ""
    if re.search(rf"(?<![A-Za-z\\]){letter}(?![A-Za-z]){article}", text):
        return True
    if any(letter < last for last in _RANGE.findall(text)):
        return True
    return (
        _WHO.search(text) is not None and re.search(rf"(?<![A-Za-z])[A-Z]*{letter}[A-Z]*(?![A-Za-z])", text) is not None
    )
