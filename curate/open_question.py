"""Turn a multiple-choice problem into an open question: the stem alone, answered by the right option's content.

Only where that is the same problem: the right option is known, its content is a value that `verify` can check, and the
stem neither points at the options ("which of the following", "closest to", 下列) nor needs them to be answered.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from curate.choice_cues import ALONE, CLOSED_ZH
from curate.guessable import Guessable, plain_answer
from curate.offered import named_labels, squashed
from curate.option_runs import FIGURE, WRAP, OptionRun, masked


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
    if not same and answer:
        from curate.verify import verify

        same = [content for content in contents if verify(rf"\boxed{{{content}}}", answer).verdict == "correct"]
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
    r"(?:[\s$*~,;；，。．、]|\\(?:q?quad(?![a-z])|[ ,;!]|\\)|\\(?:text|math)[a-z]*\s*\{|(?<!\d)\.)+$"
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
    r"between|and|or|approximately|about|insufficient|determined)\b|以上|都|无法|不能|不确定|不一定|均|其他|[或和且;；]"
    r"|[①②③④⑤]|\bI{1,3}\b",
    re.IGNORECASE,
)
_VALUE = re.compile(r"[\d∞π∅√]|\\(?:pi|infty|emptyset|varnothing|sqrt)|(?<![A-Za-z])[a-zA-Z]\s*(?:[+\-^=]|$)")


def _is_value(content: str) -> bool:
    """Whether an option's content is one value that `verify` can check: no prose but for a unit."""
    from curate.verify import check_truth

    if not content or FIGURE in masked(content) or _NO_VALUE.search(content):
        return False
    without_commands = re.sub(r"\\[A-Za-z]+", " ", content)
    num_words = len(re.findall(r"[A-Za-z]{3,}", without_commands)) + len(re.findall("[一-鿿]{1,3}", content))
    return num_words < 2 and _VALUE.search(content) is not None and check_truth(content, kind="math") is None


# Asked of the last sentence: with these, other answers than the right option's may be right, or none can be told.
_POINTS_AT_OPTIONS = re.compile(
    r"\b(?:which|following|these|those|options?|choices?|choose|select|pick|alternatives?|statements?|letter|closest|"
    r"nearest|approximate\w*|about how|roughly|estimate|best|could be|might be|may be|can be(?! (?:written|expressed))|"
    r"a possible|except|is not|are not|cannot be|necessarily|for example|one of|true|false|correct|equivalent|"
    r"same as|graph of)\b|下列|以下|选项|选出|哪|可能|可以是|不是|不等|错误|正确|最接近|大约|估计|其中|符合|满足",
    re.IGNORECASE,
)


def _needs_options(stem: str) -> bool:
    """Whether a stem cannot be answered, or has other right answers, once its options are gone."""
    last = re.split(r"(?<=[.。!！?？])\s+", _without_drawings(stem))[-1]
    found = ALONE.search(stem), CLOSED_ZH.search(stem), _POINTS_AT_OPTIONS.search(last)
    return any(match is not None for match in found)


_BLANK = re.compile(r"(?:\\uline\{[\s~]*\}|[(（](?:\s|\\q?quad|　|~|\xa0)*[)）])[\s~]*")
_IS_COMPLETE = re.compile(r"[.。?？!！][^\w=]*$|_{2,}\W*$|[.?!]\s*\([^()]*\)$")


def _completed(stem: str) -> str:
    """The stem as a question that asks by itself: a blank where the options were to fill one in."""
    if _BLANK.search(stem):
        return _balanced(_BLANK.sub("____", stem))
    if _IS_COMPLETE.search(_without_drawings(stem)):
        return stem
    text = stem.rstrip(" :：,，．.")
    if FIGURE in masked(text):
        return f"{text}\n\n(Complete the last sentence.)"
    return _balanced(f"{text} ____.")


def _balanced(text: str) -> str:
    """The text with its mathematics closed before the blank, where the options' own `$` closed it."""
    return text.replace("____", "$ ____", 1) if text.replace(r"\$", "").count("$") % 2 else text


def _without_drawings(text: str) -> str:
    return masked(text).replace(FIGURE, "").replace(WRAP, " ").strip()
