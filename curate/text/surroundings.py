r"""What stands around a problem and is no part of it: instructions, labels, contest numbers, points, sources.

`bare` takes it off: "Think step by step and put the answer in \boxed{}.", "Question: ... Answer:", "Problem 14. (AIME
2003)", "3. [5]", "(10 points)", "[i]Proposed by ...[/i]", "Answer: 12" at the end; the marks of Markdown; and the
numbers of listed conditions, which another source writes as bullets. A text that is all surroundings stays as it is.

Most texts have none of it. A look for fixed strings says which may, and only those are read by patterns, in Python:
polars keeps few compiled patterns, and all of them serve `curate.text.spelling`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Final

import polars as pl

# of an instruction to the one who answers
_CUES: Final = (
    "boxed", "tep by step", "tep-by-step", "own line", "last line", "inal answer", "逐步", "一步一步", "最终答案",
)  # fmt: skip
_CUE: Final = re.compile("|".join(_CUES) + "|without quotes", re.IGNORECASE)
_SENTENCES: Final = re.compile(r"(?<=[.!?。！？])\s+|(?<=[。！？])|\n+")
_ASKS_TO: Final = re.compile(
    r"(?i)(?:^|[,;，；]|\band\b|\bthen\b)\s*(?:please|also|remember to|make sure to|be sure to|"
    r"ensure (?:that )?|"
    r"you (?:should|must|need to|are to|may|can)|let's|let us|now|kindly|请|并|，)*\s*(?:put|write|give|provide|place|"
    r"enclose|present|output|return|state|box|express|report|think|reason|solve|work|answer|show|explain|end|finish|"
    r"conclude|format|wrap|include|break|use|the (?:last|final)|your|"
    r"do not|don't|let|a |with|在|把|将|用|给|一步|逐步|进行|推理|思考|解答|回答|最终)"
)
_CONTENT: Final = re.compile(r"[\d=]|\\(?!boxed|[()\[\]]|text|Answer)[a-zA-Z]+")
_EXAMPLE: Final = re.compile(r"\\+boxed\s*\{[^{}]*\}|\$\\?boxed\$?|<[^<>]*>")
_TASK: Final = re.compile(
    r"(?i)^\s*(?:please\s+|can you\s+|could you\s+)?(?:solve|answer|work out|consider|help me (?:solve|with)|here is|"
    r"below is|请(?:解答|回答|解决)|解答|回答)\s*(?:(?:the following|following|this|below|a|an|以下|下面|下列)\s*)"
    r"(?:(?:challenging|difficult|hard|simple|competition|grade school)\s+)?(?:(?:math(?:s|ematic(?:s|al))?|word|"
    r"reasoning|algebra|geometry|的?数学)\s*)*(?:problems?|questions?|tasks?|exercises?|puzzles?|题目?|问题)"
    r"[^.:!?\n：。]{0,40}[.:!\n：。]\s*"
)
_ROLE: Final = re.compile(r"<\|[a-z_]+\|>\s*(?:(?:user|human|assistant|system)\s*\n)?|\[/?INST\]|</?(?:think|answer)>")
_LABEL: Final = re.compile(
    r"(?i)^\s*(?:#+\s*|\*\*)?(?:math\s+)?(?:question|problem|task|exercise|prompt|input|instruction|user|"
    r"human|q|题目|问题|题)\s*(?:\*\*)?\s*[:：]\s*(?:\*\*)?"
)
_END_LABEL: Final = re.compile(
    r"(?i)(?:^|(?<=[\s.?!)$。？！）]))(?:#+\s*|\*\*)?(?:final\s+|the\s+)?(?:answer|solution|response|output|"
    r"assistant|a|ans|答案|解答|解|答)\s*(?:\*\*)?\s*[:：]\s*(?:\*\*)?\s*$"
)
_END_ANSWER: Final = re.compile(
    r"(?i)(?:(?<=[.?!)$。？！）])|\n)\s*[\[(（]?(?:\*\*)?(?:final\s+|the\s+)?(?:correct\s+)?"
    r"(?:answers?|ans|答案)\s*(?:is\b)?\s*(?:\*\*)?[:：.]\s*\S[^\n]{0,80}$"
)
_NUMBER: Final = re.compile(
    r"""(?ix)^\s*(?:\[b\]|\*\*|\#+\s*)?
    (?:(?:(?:problem|question|exercise|example|task|no\.?|q|p|题目|问题|例题?|第|练习)\s*[\#№.]?\s*\d+(?:\.\d+)*[a-z]?
        \s*题?(?:\s*[.:)\]）：、]|(?=\s*[\[(（])|\s*\n))
      |[(（\[]?\d{1,3}\s*[.)、．）\]](?=\s+[\w$\\"“(\[*])|\d{1,3}[、．]|\#\s?\d+\s*[.:]?)
    (?:\[/b\]|\*\*)?\s*"""
)
_POINTS: Final = re.compile(
    r"(?i)^\s*(?:[\[(（]\s*\d{1,3}\s*(?:points?|pts?\.?|marks?|分)\s*[\])）]|\[\s*\d{1,2}\s*\])\s*"
)
_SOURCE: Final = re.compile(
    r"^\s*[(\[（【](?=[^()\[\]（）【】]*[A-Za-z\u4e00-\u9fff])[^()\[\]（）【】]{0,60}"
    r"(?:19|20)\d\d[^()\[\]（）【】]{0,60}[)\]）】]\s*"
)
_END_POINTS: Final = re.compile(r"(?i)\s*[\[(（]\s*\d{1,3}\s*(?:points?|pts?\.?|marks?|分)\s*[\])）]\s*$")
_END_SOURCE: Final = re.compile(
    r"\s*(?:\n|(?<=[.?!$。？]))\s*[(\[（【](?=[^()\[\]（）【】]*[A-Z\u4e00-\u9fff])[^()\[\]（）【】=+]{0,50}"
    r"(?:19|20)\d\d[^()\[\]（）【】=+]{0,30}[)\]）】]\s*$"
)
_BY: Final = re.compile(
    r"(?is)\s*(?:\[i\]|\[right\]|\\emph\{|\*|_|\()\s*"
    r"(?:author|proposed|submitted|suggested|created|written|by|from|source)\b[^\n]{0,200}$"
    r"|\n\s*\[i\]\s*(?-i:[A-Z])[\w .,&'-]{2,60}(?:\[/i\])?\s*$|\n\s*\[i\]\s*$"
)
_BOLD: Final = re.compile(r"(?<![\w*])(\*{1,3})(?=[^\s*])([^*\n]*[^\s*])\1(?![\w*])")
_LINE_MARK: Final = re.compile(
    r"(?m)^[ \t>]*(?:[-*•]\s+(?=[A-Za-z$\\(\u4e00-\u9fff])|\[\*\]|\\item(?:\s*\[[^\]\n]*\])?|\$?\\bullet\s*\$?)?[ \t]*"
    r"(?:\$?\((?:\d{1,2}|[ivx]{1,4}|[a-h])\)\$?\s*(?=[\w$\\\"“\[(])|(?:\d{1,2}|[ivx]{1,4}|[a-h])[.)]\s+)?"
)
_IN_LINE_MARK: Final = re.compile(
    r"(?<=[.;:,?!])\s+(?:\$?\((?:\d{1,2}|[ivx]{1,4}|[a-h])\)\$?|(?<=[.;:?!] )\d{1,2}[.)])\s+(?=[A-Za-z$\\])"
)
_ITEM: Final = re.compile(r"\\item\s*(?:\[[^\]\n]*\])?")
_RULE: Final = re.compile(r"(?m)^[ \t]*[-*_=]{3,}[ \t]*$")
_ATTRIBUTES: Final = re.compile(r"<(?:/?[a-zA-Z][a-zA-Z0-9]*)(?:\s+[a-zA-Z-]+=[^<>]*)/?>")
_CLOSED: Final = re.compile(r"\[/(?:[bius]|size|color|url|quote|right)\]")
_PAIRED: Final = re.compile(r"\[[bius]\]|\[(?:size|color|url|quote|list)=[^\]]*\]")

_MAX_TAIL: Final = 250
# few fixed strings in one pattern are found at once; it needs to let through all that the rules change, and little else
_FEW_CUES: Final = r"boxed|tep by|tep-by|own line|last line|inal ans"
_LINES: Final = "\n(|\n-|\n*|\n•|\n1|\na|\ni|\n$|\n |\n\\bullet".split("|")
_BEGINS: Final = (
    r"^[\s#*]*(?:[\d(\[（【#]|[Pp](?:roblem|\s?\d)|[Qq](?:uestion|\s?[\d:.])|PROBLEM|QUESTION|[Ee]x(?:ercise|ample)|"
    r"[Tt]ask|No\.|[Uu]ser|[Hh]uman|[Mm]ath|[Pp]rompt|[Ii]n(?:put|struction)|[题问例第练请解回]|[Ss]olve|[Aa]nswer|[Pp]lease|"
    r"[CcWw]an you|[Cc]ould|[Hh]ere is|[Bb]elow|[Cc]onsider the f|[Ww]ork out)"
)


def bare(texts: pl.Series) -> pl.Series:
    """The texts without what stands around them; a null stays one."""
    bared = texts
    for may_hold, rule in _RULES:
        place = may_hold(bared).fill_null(value=False).arg_true()
        if len(place):
            found = [rule(text) for text in bared.gather(place)]
            kept = [new if new.strip() else old for new, old in zip(found, bared.gather(place), strict=True)]
            bared = bared.clone().scatter(place, pl.Series(kept, dtype=pl.String))
    return bared


def _without_instructions(text: str) -> str:
    text = _ROLE.sub(" ", text)
    parts = _SENTENCES.split(text)
    if len(parts) == 1:
        return text
    for part in parts:
        if (kept := _asked(part)) != part:
            text = text.replace(part, kept, 1)
    return text


@lru_cache(1 << 12)  # the rows of a pool share their instructions
def _asked(sentence: str) -> str:
    """A sentence up to where it begins to tell how to answer."""
    cue = _CUE.search(sentence)
    if cue is None:
        return sentence
    starts = [found.start() for found in _ASKS_TO.finditer(sentence) if found.start() <= cue.start()]
    for start in starts:
        if not _CONTENT.search(_EXAMPLE.sub("", sentence[start:])):
            return sentence[:start]
    return sentence


def _without_head(text: str) -> str:
    for rule in (_TASK, _LABEL, _SOURCE, _NUMBER, _POINTS, _SOURCE):
        text = rule.sub("", text, count=1)
    return text


def _without_tail(text: str) -> str:
    head, tail = text[:-_MAX_TAIL], text[-_MAX_TAIL:].rstrip()
    if "[i]" in tail or "by" in tail or "rom" in tail or "uthor" in tail:
        tail = _BY.sub("", tail, count=1)
    if tail.endswith((":", "：", "*")):
        tail = _END_LABEL.sub("", tail, count=1)
    if "nsw" in tail or "ns:" in tail or "答案" in tail:
        tail = _END_ANSWER.sub("", tail, count=1)
    if tail.endswith((")", "]", "）", "】")):
        tail = _END_SOURCE.sub("", _END_POINTS.sub("", tail, count=1), count=1)
    return head + tail


def _without_bbcode(text: str) -> str:
    if not _CLOSED.search(text):
        return text
    return _PAIRED.sub("", text[:-_MAX_TAIL] + _BY.sub("", text[-_MAX_TAIL:], count=1))


def _without_list_marks(text: str) -> str:
    if "[asy]" in text:
        return text
    return _IN_LINE_MARK.sub(" ", _LINE_MARK.sub("", _RULE.sub("", _ITEM.sub("\n", text))))


def _may_instruct(texts: pl.Series) -> pl.Series:
    return texts.str.contains(_FEW_CUES) | _holds(texts, "<|", "INST]", "逐步", "最终答案")


def _may_end_otherwise(texts: pl.Series) -> pl.Series:
    is_end = texts.str.ends_with(":") | texts.str.ends_with("：") | texts.str.ends_with(")")
    return is_end | _holds(texts, "nswer:", "nswers:", "答案", "points]", "pts]", "\n[i]")


def _may_list(texts: pl.Series) -> pl.Series:
    # strings that begin alike are looked for together: that is quick
    found = _holds(texts, "(1)", "(i)", "(a)", "[*]") | _holds(texts, "\\item") | _holds(texts, "1. ", "1) ")
    lines = _holds(texts, "\n").fill_null(value=False).arg_true()
    return found.scatter(lines, found.gather(lines) | _holds(texts.gather(lines), *_LINES)) if len(lines) else found


def _holds(texts: pl.Series, *strings: str) -> pl.Series:
    return texts.str.contains_any(list(strings))


# a look over all texts, and the rule for those that it lets through
_RULES: Final[tuple[tuple[Callable[[pl.Series], pl.Series], Callable[[str], str]], ...]] = (
    (_may_instruct, _without_instructions),
    (lambda texts: _holds(texts, "[/"), _without_bbcode),
    (lambda texts: texts.str.contains(_BEGINS), _without_head),
    (_may_end_otherwise, _without_tail),
    (lambda texts: _holds(texts, "**", " *"), lambda text: _BOLD.sub(r"\2", text)),
    (_may_list, _without_list_marks),
    (lambda texts: _holds(texts, '="'), lambda text: _ATTRIBUTES.sub(" ", text)),
)
