"""Turn a multiple-choice problem into an open question: the stem alone, answered by the right option's content.

Only where that is the same problem: the right option is known, its content is a value that `verify` can check, and the
stem neither points at the options ("which of the following", "closest to", 下列) nor needs them to be answered.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from curate.choice_cues import ALONE, CLOSED_ZH
from curate.guessable import Guessable, named_labels, plain_answer, squashed
from curate.option_runs import FIGURE, OptionRun, masked


@dataclass(frozen=True)
class OpenQuestion:
    """The rewritten problem's prompt and ground truth."""

    prompt: str
    ground_truth: str


def open_question(
    prompt: str, ground_truth: str | None, choices: Sequence[str] | None, how: Guessable
) -> OpenQuestion | None:
    """The open question behind a problem that `guessable` found, or None where it cannot stand without its options."""
    if how.reason != "multiple_choice":
        return None
    content = _right_content(prompt, ground_truth, choices, how.run)
    stem = _stem(prompt, how.run)
    if content is None or stem is None or not _is_value(content) or _needs_options(stem):
        return None
    return OpenQuestion(_completed(stem), content)


_LABEL = re.compile(r"^\s*[(（\[]?[A-Ja-j1-9][)）\].．、:：]\s*(?=\S)")


def _right_content(
    prompt: str, ground_truth: str | None, choices: Sequence[str] | None, run: OptionRun | None
) -> str | None:
    """The text of the right option, markup kept; None where it is not exactly one."""
    answer = plain_answer(ground_truth)
    if choices is not None and len(choices) > 1:
        contents = [_LABEL.sub("", choice).strip() for choice in choices]
        names = [chr(ord("A") + index) for index in range(len(contents))]
        if answer.strip("()").upper() in names:
            return contents[names.index(answer.strip("()").upper())]
    elif run is not None:
        contents = _contents(prompt, run)
        if len(named := named_labels(answer, run)) == 1:
            return contents[run.names.index(named[0])]
    else:
        return None
    same = [content for content in contents if answer and squashed(content) == squashed(answer)]
    return same[0] if len(same) == 1 else None


def _contents(prompt: str, run: OptionRun) -> list[str]:
    """What stands behind each label in the prompt itself: `masked` keeps positions."""
    starts = [label.end for label in run.labels]
    ends = [*(label.start for label in run.labels[1:]), len(prompt)]
    contents = [prompt[start:end] for start, end in zip(starts, ends, strict=True)]
    contents[-1] = contents[-1].strip("\n ").split("\n", 1)[0]
    return [_trimmed(content) for content in contents]


_SPACE_BEFORE = re.compile(r"^(?:[\s$}*~,]|\\(?:q?quad|[ ,;!]))+")
_SPACE_BEHIND = re.compile(
    r"(?:[\s$*~,;；，。．、]|\\(?:q?quad(?![a-z])|[ ,;!]|\\)|(?<=\S)\\?(?:text|textbf|mathrm|mathbf)\{\s*|(?<!\d)\.)+$"
)


def _trimmed(content: str) -> str:
    """An option's content without the spacing, separators and dangling markup around it; its own `$` balanced."""
    text = _SPACE_BEHIND.sub("", _SPACE_BEFORE.sub("", content.strip())).strip().removesuffix("\\")
    while text.endswith("}") and text.count("}") > text.count("{"):
        text = text[:-1].rstrip()
    return f"${text}$" if "\\" in text and "$" not in text else text


def _stem(prompt: str, run: OptionRun | None) -> str | None:
    """The prompt without its options; None where it is not simply what stands before them."""
    if run is None:
        return prompt.strip()
    stem = prompt[: run.start].rstrip()
    stem = re.sub(r"(?:\\(?:textbf|text|mathrm|mathbf|q?quad)\{?|\\\[|\\\(|\*\*|[\s{(（\[])+$", "", stem)
    if stem.count("$") % 2:
        stem = stem[:-1].rstrip() if stem.endswith("$") else stem + "$"
    tail = f"{run.contents[-1].strip().partition(chr(10))[2]} {run.tail}"
    tail = ALONE.sub("", tail)
    return stem if stem and len(tail.split()) < 6 else None


_NO_VALUE = re.compile(
    r"\b(?:none|all|both|neither|either|only|any|cannot|can't|not|above|below|more than|less than|at least|at most|"
    r"between|and|or|approximately|about|insufficient|determined)\b|以上|都|无法|不能|不确定|均|其他|[①②③④⑤]|\bI{1,3}\b",
    re.IGNORECASE,
)


def _is_value(content: str) -> bool:
    """Whether an option's content is one value that `verify` can check, not prose about the other options."""
    from curate.verify import check_truth

    if not content or FIGURE in masked(content) or _NO_VALUE.search(content):
        return False
    words = re.findall(r"[A-Za-z]{3,}", re.sub(r"\\[A-Za-z]+", " ", content))
    has_value = re.search(r"[\d∞π∅]|\\(?:pi|infty|emptyset|varnothing)|[a-z]\s*[+\-^]", content) is not None
    return has_value and len(words) <= 3 and check_truth(content, kind="math") is None


_POINTS_AT_OPTIONS = re.compile(
    r"\b(?:which|following|these|those|above|below|options?|choices?|alternatives?|statements?|letter|closest|nearest|"
    r"approximate\w*|about|roughly|estimate|best|could|might|may|can be|possible|except|not|cannot|necessarily|always|"
    r"example|one of|true|false|correct|expression|equivalent|same as|graph)\b"
    r"|下列|以下|选项|哪|可能|可以|不是|不等|错误|正确|最接近|大约|估计|其中|符合|满足",
    re.IGNORECASE,
)


def _needs_options(stem: str) -> bool:
    """Whether a stem cannot be answered, or has other right answers, once its options are gone."""
    last = re.split(r"(?<=[.。!！?？])\s+", stem.strip())[-1]
    return (
        ALONE.search(stem) is not None
        or CLOSED_ZH.search(stem) is not None
        or _POINTS_AT_OPTIONS.search(last) is not None
    )


_BLANK = re.compile(r"[(（](?:\s|\\q?quad|　|~|\xa0)*[)）]")
_IS_COMPLETE = re.compile(r"[.。?？!！]\W*$|_{2,}\W*$")


def _completed(stem: str) -> str:
    """The stem as a question that asks by itself: a blank where the options were to fill one in."""
    if _BLANK.search(stem):
        return _BLANK.sub("____", stem)
    if _IS_COMPLETE.search(stem):
        return stem
    return f"{stem.rstrip(' :：,，')} ____."
