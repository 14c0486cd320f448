"""Turns a multiple-choice problem into an open question: the stem alone, answered by the right option's content.

Only if the problem stays the same: the right option is known, its content is a value that `verify` can check, and the
stem neither refers to the options ("which of the following", "closest to", 下列) nor needs them to be answered.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from string import ascii_uppercase

from curate.multiple_choice.cues import ALONE, CLOSED_ZH
from curate.multiple_choice.guessable import Guessable, plain_answer
from curate.multiple_choice.labels import named_labels, squashed
from curate.multiple_choice.option_runs import FIGURE, WRAP, OptionRun, masked


@dataclass(frozen=True)
class OpenQuestion:
    """The rewritten problem's prompt and ground truth."""

    prompt: str
    ground_truth: str


def open_question(
    prompt: str, ground_truth: str | None, choices: Sequence[str] | None, how: Guessable
) -> OpenQuestion | None:
    """The open question behind a problem that `guessable` found, or None if it needs its options."""
    if how.reason != "multiple_choice":
        return None
    has_column = choices is not None and len(choices) > 1
    contents = _contents(prompt, choices, how.run)
    content = _right_content(plain_answer(ground_truth), contents, None if has_column else how.run)
    stem = _stem(prompt, how.run)
    if content is None or stem is None or not _is_value(content) or _needs_options(stem):
        return None
    if _are_claims(contents) and not _IS_EQUATION.search(stem[-60:]):
        return None
    return OpenQuestion(_completed(stem), content)


_LABEL = re.compile(r"^\s*[(（\[]?[A-Ja-j1-9][)）\].．、:：]\s*(?=\S)")


def _right_content(answer: str, contents: Sequence[str], run: OptionRun | None) -> str | None:
    """The text of the right option with its markup; None if not exactly one option is right."""
    names = run.names if run is not None else tuple(ascii_uppercase[: len(contents)])
    named = named_labels(answer, run) if run is not None else (answer.strip("()").upper(),)
    if len(named) == 1 and named[0] in names:
        return contents[names.index(named[0])]
    same = [content for content in contents if answer and squashed(content) == squashed(answer)]
    if not same and answer:
        from curate.verify import verify

        same = [content for content in contents if verify(rf"\boxed{{{content}}}", answer).verdict == "correct"]
    return same[0] if len(same) == 1 else None


def _contents(prompt: str, choices: Sequence[str] | None, run: OptionRun | None) -> list[str]:
    """The options' texts: from the column, else after each label in the prompt itself, at its place in `masked`."""
    if choices is not None and len(choices) > 1:
        return [_LABEL.sub("", choice).strip() for choice in choices]
    if run is None:
        return []
    starts = [label.end for label in run.labels]
    ends = [*(label.start for label in run.labels[1:]), len(prompt)]
    contents = [prompt[start:end] for start, end in zip(starts, ends, strict=True)]
    contents[-1] = contents[-1].strip("\n ").split("\n", 1)[0]
    return [_trimmed(content) for content in contents]


_IS_EQUATION = re.compile(r"\bequations?\b|\bformula\b|方程|解析式|关系式|表达式", re.IGNORECASE)
_RELATION = re.compile(r"(?:[=<>≤≥≠]|\\(?:leq?|geq?|neq?|lt|gt)(?![a-z]))")


def _are_claims(contents: Sequence[str]) -> bool:
    """Whether options relate different things, as `a < b` and `ab > a^2`: then several of them may be true."""
    sides = [_RELATION.split(content, maxsplit=1) for content in contents]
    return len({squashed(side[0]) for side in sides if len(side) > 1}) > 1


_SPACE_BEFORE = re.compile(r"^(?:[\s$}*~,]|\\(?:q?quad|[ ,;!]))+")
_SPACE_BEHIND = re.compile(
    r"(?:[\s$*~,;；，。．、]|\\(?:q?quad(?![a-z])|[ ,;!]|\\)|\\(?:text|math)[a-z]*\s*\{|(?<!\d)\.)+$"
)


def _trimmed(content: str) -> str:
    """An option's content without spacing, separators and dangling markup; between `$` if it has LaTeX commands."""
    text = _SPACE_BEHIND.sub("", _SPACE_BEFORE.sub("", content.strip())).strip().removesuffix("\\")
    text = re.sub(r"(?<!\\)\$", "", text)  # the first of a pair was removed with the leading space
    while text.endswith("}") and text.count("}") > text.count("{"):
        text = text[:-1].rstrip()
    return f"${text}$" if "\\" in text else text


def _stem(prompt: str, run: OptionRun | None) -> str | None:
    """The prompt without its options; None if it is not simply the text before or after them."""
    if run is None:
        return _asked(prompt)
    stem = _asked(prompt[: run.start])
    behind = prompt[run.labels[-1].end :].strip("\n ").partition("\n")[2]
    if not stem:  # the options come first
        return _asked(behind)
    stem = re.sub(r"(?:\\(?:textbf|text|mathrm|mathbf|q?quad)\{?|\\\[|\\\(|\*\*|[\s{(（\[])+$", "", stem)
    if stem.count("$") % 2:
        stem = stem[:-1].rstrip() if stem.endswith("$") else stem + "$"
    return stem if stem and len(ALONE.sub("", _asked(behind)).split()) < 6 else None


_HEADING = re.compile(
    r"(?:^|(?<=[.?!:。？\n]))[ \t]*[*_#]*(?:(?:answer )?(?:options?|choices?)|选项|question|problem|问题)[*_]*\s*"
    r"[:：][*_]*\s*$"
    r"|^\W*(?:question|problem|问题|题目)\s*[:：]\s*",
    re.IGNORECASE,
)
_INSTRUCTION = re.compile(
    r"(?:^|(?<=[.?!。？\n]))\s*(?:please )?(?:"
    r"(?:choose|select|pick|mark|circle) the (?:single |one )?(?:correct|right) "
    r"(?:answer|option|choice|letter|response|alternative)s?"
    r"|(?:answer|respond) with (?:only )?the (?:\w+ )?(?:letter|option)"
    r"|(?:let's )?(?:think|reason|work)(?: through (?:it|this))? step by step|put your (?:final )?answer"
    r"|(?:write|give|put) (?:your |the )?(?:final )?answer (?:in|within|inside) |answer\s*[:：]"
    r")[^.?!。\n]*(?:[.?!。:：]|\n|$)",
    re.IGNORECASE,
)


def _asked(text: str) -> str:
    """The text without option headings and without sentences that only explain how to answer."""
    before = None
    while before != text:
        before, text = text, _HEADING.sub("", _INSTRUCTION.sub("", text)).strip()
    return text


_NO_VALUE = re.compile(
    r"\b(?:none|all|both|neither|either|only|any|cannot|can't|not|above|below|more than|less than|at least|at most|"
    r"between|and|or|approximately|about|insufficient|determined)\b|以上|都|无法|不能|不确定|不一定|均|其他|[或和且;；]"
    r"|[①②③④⑤]|\bI{1,3}\b",
    re.IGNORECASE,
)
_VALUE = re.compile(r"[\d∞π∅√]|\\(?:pi|infty|emptyset|varnothing|sqrt)|(?<![A-Za-z])[a-zA-Z]\s*(?:[+\-^=]|$)")


def _is_value(content: str) -> bool:
    """Whether an option's content is one value that `verify` can check: no prose except a unit."""
    from curate.verify import check_truth

    if not content or FIGURE in masked(content) or _NO_VALUE.search(content):
        return False
    without_commands = re.sub(r"\\[A-Za-z]+", " ", content)
    num_words = len(re.findall(r"[A-Za-z]{3,}", without_commands)) + len(re.findall("[一-鿿]{1,3}", content))
    return num_words < 2 and _VALUE.search(content) is not None and check_truth(content, kind="math") is None


# In the last sentence: with these words, answers other than the right option's may be right, or none is decidable.
_POINTS_AT_OPTIONS = re.compile(
    r"\b(?:which|following|these|those|options?|choices?|choose|select|pick|alternatives?|statements?|letter|closest|"
    r"nearest|approximate\w*|about how|roughly|estimate|best|could be|might be|may be|can be(?! (?:written|expressed))|"
    r"a possible|except|is not|are not|cannot be|necessarily|for example|one of|true|false|correct|equivalent|"
    r"same as|graph of)\b|\b(?:divisible by|multiples? of|factors? of|divisors? of|divides?)\W*$"
    r"|\b(?:what is|find|give|name) an?\b"
    # an indefinite subject: other answers may be right too
    r"|^\W*(?:an?|one|two|three|some|any|another)\b.*\b(?:is|are|be)\W*$"
    r"|整除|的一个|之一|下列|以下|选项|选出|哪|可能|可以是|不是|不等|错误|正确|最接近|大约|估计|其中|符合|满足",
    re.IGNORECASE,
)


def _needs_options(stem: str) -> bool:
    """Whether a stem cannot be answered, or has other right answers, without its options."""
    last = re.split(r"(?<=[.。!！?？])(?<!\.\.)\s+", _without_drawings(stem))[-1]
    found = ALONE.search(stem), CLOSED_ZH.search(stem), _POINTS_AT_OPTIONS.search(last)
    return any(match is not None for match in found)


_BLANK = re.compile(r"(?:\\uline\{[\s~]*\}|[(（](?:\s|\\q?quad|　|~|\xa0)*[)）])[\s~]*")
_IS_COMPLETE = re.compile(r"[.。?？!！][^\w=]*$|_{2,}\W*$|[.?!]\s*\([^()]*\)$")


def _completed(stem: str) -> str:
    """The stem as a complete question, with a blank in the place that the options filled."""
    if _BLANK.search(stem):
        return _balanced(_BLANK.sub("____", stem))
    if _IS_COMPLETE.search(_without_drawings(stem)):
        return stem
    text = stem.rstrip(" :：,，．.")
    if FIGURE in masked(text):
        return f"{text}\n\n(Complete the last sentence.)"
    return _balanced(f"{text} ____.")


def _balanced(text: str) -> str:
    """The text with its mathematics closed before the blank, if the options' own `$` closed it."""
    return text.replace("____", "$ ____", 1) if text.replace(r"\$", "").count("$") % 2 else text


def _without_drawings(text: str) -> str:
    return masked(text).replace(FIGURE, "").replace(WRAP, " ").strip()
