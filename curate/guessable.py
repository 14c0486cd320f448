"""Can this problem's answer be guessed from a closed list? Options, true/false, yes/no, or the stem's own alternatives.

`guessable(prompt, ground_truth, choices)` says how, or None for an open question. Labels alone decide nothing: (a), (1)
and ① also number sub-questions, conditions and statements. What decides is who speaks of them: the answer (it names a
label or repeats an option), the stem ("which of the following", 下列…的是), or a question that goes on after the list
(then the list belongs to the stem). Kimi k1.5 (arXiv 2501.12599, section 2.1) keeps such problems out of RL.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from curate.choice_cues import (
    ALONE,
    BINARY,
    BINARY_ANSWERS,
    CLOSED_ZH,
    COUNTS,
    LETTERS_ARE_THE_TOPIC,
)
from curate.offered import has_contents, named_labels, offers_options, squashed
from curate.option_runs import WRAP, OptionRun, masked, option_runs


@dataclass(frozen=True)
class Guessable:
    """How a problem can be guessed.

    reason: `multiple_choice` or `true_false`.
    shape: what gave it away: `choices_column`, alphabet and shape of the labels such as `upper_paren`, `no_labels`,
        `option_less`, `alternatives` or `binary`.
    matched: the labels or words found.
    run: the labelled options in the prompt, where there are any.
    """

    reason: str
    shape: str
    matched: str
    run: OptionRun | None = None


def guessable(prompt: str, ground_truth: str | None, choices: Sequence[str] | None) -> Guessable | None:
    """How the problem's answer can be guessed, or None where it is an open question.

    `ground_truth` and `choices` may be None: then the prompt alone must speak.
    """
    text, answer = masked(prompt), plain_answer(ground_truth)
    if (how := _binary(text, answer, choices)) is not None:
        return how
    is_named = _SAYS_OPTION.match(ground_truth or "") is not None
    for run in option_runs(text):
        if has_contents(run) and ((is_named and named_labels(answer, run)) or offers_options(text, run, answer)):
            return Guessable("multiple_choice", f"{run.alphabet}_{run.shape}", " ".join(run.names), run)
    if choices is not None and len(choices) > 1:
        return Guessable("multiple_choice", "choices_column", f"{len(choices)} choices")
    return _without_labels(text, answer)


_SAYS_OPTION = re.compile(r"\W*(?:the )?(?:correct )?(?:option|choice|选项)\b", re.IGNORECASE)
_BOX = re.compile(r"\\boxed\s*\{(.*)\}", re.DOTALL)
_LEAD_IN = re.compile(
    r"^(?:the )?(?:correct |final )?(?:answer|option|choice)(?: is\b)?\s*[:：]?\s+|^(?:答案|故选|选项?)\s*[:：]?\s*",
    re.IGNORECASE,
)


def plain_answer(ground_truth: str | None) -> str:
    r"""A ground truth without markup, box, lead-in and closing stops: `**B)**` is `B)`, `\\text{(C)}` is `(C)`."""
    text = _BOX.sub(r"\1", masked(ground_truth or "").replace(WRAP, ""))
    text = _LEAD_IN.sub("", text.strip(" $\n")).strip(" \n$*`.。，,")
    num_open = text.count("}") - text.count("{")  # of the markup that `masked` took away
    return text.removesuffix("}" * max(num_open, 0)).strip(" \n$*`.。，,")


def _binary(text: str, answer: str, choices: Sequence[str] | None) -> Guessable | None:
    word = re.split(r"[,.;，。；:：]", answer.lower())[0].strip(" \"'“”()（）")
    if word in BINARY_ANSWERS:
        return Guessable("true_false", "binary", word)
    if choices is not None and len(choices) == 2 and all(plain_answer(it).lower() in BINARY_ANSWERS for it in choices):
        return Guessable("true_false", "binary", " / ".join(choices))
    cue = BINARY.search(text)
    if cue is not None and answer.lower() in ("", "t", "f", "y", "n", "0", "1", "a", "b"):
        return Guessable("true_false", "binary", cue[0].strip())
    return None


_LETTERS: Final = re.compile(r"\(?[A-H]\)?|[A-E](?:\s*[,，、]?\s*[A-E])+")


def _without_labels(text: str, answer: str) -> Guessable | None:
    cue = ALONE.search(text) or CLOSED_ZH.search(text)
    if cue is not None and not COUNTS.search(text[: cue.start()][-40:] + cue[0]):
        return Guessable("multiple_choice", "no_labels", cue[0].strip()[:80])
    if _LETTERS.fullmatch(answer) and not LETTERS_ARE_THE_TOPIC.search(text):
        letters = re.findall("[A-H]", answer)
        # "A beat B" names A as well
        names = [*letters, *("B" for letter in letters if letter == "A")]
        if letters == sorted(set(letters)) and not any(_names_something(text, name) for name in names):
            return Guessable("multiple_choice", "option_less", answer)
    return _alternatives(text, answer)


def _names_something(text: str, letter: str) -> bool:
    """Whether a letter stands in the text as a name; the article in `A car` does not."""
    return re.search(rf"(?<![A-Za-z\\]){letter}(?![A-Za-z])(?!\s+[a-z]{{2}})", text) is not None


_CLOSED: Final = re.compile(
    r"(?:\b(?:which|whether|determine if|choose|select|decide|classify)\b"
    r"|(?:^|[.?!\n]\s*|,\s*)(?:is|are|was|were|does|do|did)\b)"
    r"(?P<body>[^.?!]*\s(?:or|versus)\s[^.?!]*)[.?!]",
    re.IGNORECASE,
)


_EITHER: Final = re.compile(r"\s(?:or|versus)\s", re.IGNORECASE)  # a cheap look: every `_CLOSED` has one
_LISTED: Final = re.compile(
    r"\b(?:one of|with|from|using|between)\s+(?:the\s+)?(?:following\s+)?(?:words?|terms?|symbols?|signs?|phrases?)"
    r"\s*[:：(]\s*(?P<body>[^.?!)\n]*)",
    re.IGNORECASE,
)


def _alternatives(text: str, answer: str) -> Guessable | None:
    """The stem itself lists what can be answered: "Is it odd, even, or neither?" with the answer among them."""
    want = squashed(answer)
    if len(want) < 2:
        return None
    closed = _CLOSED.finditer(text.replace("...", "…")) if _EITHER.search(text) else ()
    for match in (*closed, *_LISTED.finditer(text)):
        items = {squashed(item) for item in re.split(r"[,:()]|\bor\b|\bversus\b|\bit\b", match["body"])} - {""}
        if len(items) > 1 and any(item == want or (len(want) > 2 and item.endswith(want)) for item in items):
            return Guessable("multiple_choice", "alternatives", match[0].strip()[:80])
    return None
