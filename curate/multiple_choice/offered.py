"""Decides whether a run of labels offers answers to choose from, or numbers sub-questions, conditions or steps.

The answer decides if it names a label or repeats an option; otherwise the words before and after the run decide.
"""

from __future__ import annotations

import re

from curate.multiple_choice.cues import ALONE, ASKS, CLOSED_ZH, CONDITIONS, COUNTS, STEPS, WITH_LABELS
from curate.multiple_choice.labels import are_binary, named_labels, squashed
from curate.multiple_choice.option_runs import FIGURE, LOOSE, STRONG, WRAP, OptionRun


def offers_options(text: str, run: OptionRun, answer: str) -> bool:
    """Whether a run of labels offers answers to choose from; `answer` is a `plain_answer`, "" where unknown."""
    stem = text[: run.start]
    is_cued = ALONE.search(text) is not None or CLOSED_ZH.search(stem) is not None
    asks_on = _asks_on(run) and not _comes_first(run, stem, answer)
    is_named = named_labels(answer, run) != ()
    if len(run.labels) > 2 and not asks_on and _OF_THE_OTHERS.search(run.contents[-1]):
        return True
    if run.shape in LOOSE and not _is_plain_list(run, stem, is_named=is_named):
        return False
    if is_named:
        return not _is_also_a_value(run, stem, answer, is_cued=is_cued, asks_on=asks_on)
    if asks_on or _are_questions(run) or (len(run.labels) < 3 and not _is_pair_of_options(run, stem, answer, is_cued)):
        return False
    if answer and squashed(answer) in {squashed(content) for content in run.contents}:
        return True
    if re.search(r"\band\W*$|[且和]\W*$", run.contents[-2]):
        return False
    if run.shape in ("dash", "bare"):
        return not answer and _is_put_to_choice(stem) and _are_short(run)
    return _text_offers(text, run, answer, is_cued=is_cued)


def _text_offers(text: str, run: OptionRun, answer: str, *, is_cued: bool) -> bool:
    """Whether the text presents a run as options, if the run asks for nothing and the answer does not decide."""
    stem = text[: run.start]
    if run.alphabet not in STRONG:
        counts_them = (COUNTS.search(stem) is not None and not _are_numbers(run)) or _counts_claims(run, stem)
        return not counts_them and (is_cued or (not answer and _are_offered(text, run)))
    if is_cued or _TABLE_HEAD.search(stem):
        return is_cued
    return not CONDITIONS.search(stem) and (WITH_LABELS.search(stem) is not None or _stands_apart(text, run))


_OF_THE_OTHERS = re.compile(
    r"^\W*(?:none|all|both|neither|any|not any) of (?:these|those|them|the (?:above|others?|options|choices|given))\b|"
    r"^\W*(?:can ?not|can't|could not) be (?:determined|inferred)|^\W*insufficient (?:data|information)|以上|无法确定"
    "|不能确定",
    re.IGNORECASE,
)
_TABLE_HEAD = re.compile(
    r"^(?!.*(?:option|choice|answer|letter|选项|答案)).*\n[ \t]*\|?(?:[ \t]*:?-{2,}:?[ \t]*\|?)+\s*\Z",
    re.IGNORECASE | re.MULTILINE,
)
_ENDS = re.compile(r"[.?!:。？！：]\W*$")


def _is_plain_list(run: OptionRun, stem: str, *, is_named: bool) -> bool:
    """Whether labels without punctuation precede short values, below the question that these answer."""
    if not _are_short(run):
        return False
    is_behind_question = is_named and _ENDS.search(stem) is not None
    return is_behind_question or (_is_put_to_choice(stem) and run.shape == "bare")


_OR = re.compile(r"(?:\bor|或者?|还是)\W*$", re.IGNORECASE)
_REMARK = re.compile(r"\s*[（(][^()（）]{4,}[)）][\s.。．]*$")
_BLANK = re.compile(r"[（(【][\s~　]*[)）】]|_{2,}|\\uline\{[\s~]*\}")
_OWED = re.compile(rf"{_BLANK.pattern}|\s{WRAP}{WRAP}(?:\s|$)|[=＝]\s*[;；.。]?\s*$")  # what a sub-question leaves open
_ORDERS = (
    "(?:find|compute|calculate|evaluate|simplify|solve|factor|expand|differentiate|integrate|convert|count|determine|list|"
    "计算|解|化简|求|因式分解)"
)
_ORDER = re.compile(
    rf"(?:^|[.。!?\n]\s*)\W*{_ORDERS}"
    r"(?:[^.?!。？\n]{0,40}[:：]|(?:\s+(?:each|the following)\b[^.?!\n]{0,40})?)\s*$",
    re.IGNORECASE,
)
_SEVERAL = re.compile(
    r"\b(?:each|every|these|those|below|all of|expressions|questions|parts|equations|respectively)\b"
    r"|\bfollowing(?! (?:sequence|equation|expression|figure|diagram|table|pattern|series|list|number)\b)"
    r"|下列|以下|各|分别|下面",
    re.IGNORECASE,
)


def _are_offered(text: str, run: OptionRun) -> bool:
    """Whether labels that also number sub-questions offer answers, decided by the text alone.

    They do after a blank or an unfinished sentence, with an "or" before the last one, and below a single question if
    every label precedes a short value.
    """
    stem = _REMARK.sub("", text[: run.start])
    if CONDITIONS.search(stem) or _ORDER.search(stem) or any(_OWED.search(content) for content in run.contents):
        return False
    if _is_put_to_choice(stem) or (_OR.search(run.contents[-2]) and "?" in text[run.start :]):
        return True
    if (
        run.shape == "line"
        or len(run.labels) < 3
        or not _are_short(run)
        or any("=" in content for content in run.contents)
    ):
        return False
    last = re.split(r"(?<=[.。!！])\s+|\n", stem.strip())[-1]
    asks_one_thing = ASKS.search(last) is not None and not _SEVERAL.search(last)
    # a stem that asks nothing, or is unfinished, is completed by the options
    return (
        asks_one_thing or _BLANK.search(stem) is not None or ASKS.search(stem) is None or stem.rstrip()[-1:].isalnum()
    )


_NUMBER = re.compile(r"[\W_]*(?:\\[dt]?frac)?[{\\\s]*\d[\d\s.,/{}\\^$+%-]*[\u4e00-\u9fff]{0,2}\W*")


def _are_numbers(run: OptionRun) -> bool:
    """Whether a number with its measure word follows every label: a possible count, not a statement."""
    return len(run.labels) > 2 and all(_NUMBER.fullmatch(content.strip()) for content in run.contents)


def _are_short(run: OptionRun) -> bool:
    """Whether only a short value follows each label."""
    return all(len(content.strip()) < 40 for content in run.contents) and not run.tail.strip()


_HEADING = re.compile(r"^\W*(?:answer )?(?:options?|choices?|选项|备选答案?)\s*[:：]?\s*$", re.IGNORECASE)


def _comes_first(run: OptionRun, stem: str, answer: str) -> bool:
    """Whether short options open the text and the question follows them."""
    is_short = all(len(content) < 60 for content in run.contents)
    return (
        not re.search(r"\w", _HEADING.sub("", stem))
        and is_short
        and run.alphabet in STRONG
        and (not answer or named_labels(answer, run) != ())
    )


_CLAIM = re.compile(
    r"[=<>≤≥≠]|\\(?:[lgn]eq?|[lg]t)(?![a-z])|\b(?:is|are|has|have|can|does)\b|[是有为能]", re.IGNORECASE
)


def _are_claims(run: OptionRun) -> bool:
    """Whether at least half of the labelled texts are statements, which can be true and counted."""
    return 2 * sum(_CLAIM.search(content) is not None for content in run.contents) >= len(run.contents)


def _counts_claims(run: OptionRun, stem: str) -> bool:
    last = re.split(r"(?<=[.。!！?？])\s*", stem.strip().rstrip("?？"))[-1]
    return _HOW_MANY.search(last) is not None and _are_claims(run)


_HOW_MANY = re.compile(r"\bhow many\b|\b(?:find|what is|give) the (?:\w+ )?number of\b|多少|几", re.IGNORECASE)


def _is_also_a_value(run: OptionRun, stem: str, answer: str, *, is_cued: bool, asks_on: bool) -> bool:
    """Whether an answer that reads as a label may also be a value: a bare number, a variable, a name in the stem."""
    if run.alphabet in STRONG:
        return run.shape not in ("paren", "half", "word", "quoted") and asks_on and not is_cued
    if answer.isdecimal():
        is_listed = CONDITIONS.search(stem) is not None and (_are_claims(run) or STEPS.search(stem) is not None)
        is_count = _counts_claims(run, stem) or is_listed
        return asks_on or _are_questions(run) or len(run.labels) < 3 or is_count
    return _are_questions(run) or (asks_on and not is_cued)


def _is_pair_of_options(run: OptionRun, stem: str, answer: str, is_cued: bool) -> bool:
    """Whether a run of two labels offers options, which requires an unambiguous stem or answer."""
    if run.alphabet not in STRONG:
        return False
    if are_binary(run.contents):
        return True
    if answer:
        return is_cued or squashed(answer) in {squashed(content) for content in run.contents}
    return (
        is_cued
        or _is_put_to_choice(stem)
        or (run.shape in ("dot", "paren", "half", "colon") and _fills_lines(stem, run))
    )


def _fills_lines(stem: str, run: OptionRun) -> bool:
    """Whether every option is on a short line of its own, below the stem."""
    lines = [stem, *run.contents[:-1]]
    return all(line.rstrip(" ").endswith("\n") for line in lines) and all(len(it.strip()) < 60 for it in run.contents)


_LAYS_DOWN = re.compile(r"\W*(?:let|suppose|assume|given|consider|set|start|take|设|令|已知|假设|若)\b", re.IGNORECASE)
_MENTION = re.compile(rf"(?:[\s,.;:!?，。；、()（）{{}}$|*&\\~_{WRAP}]|\[|\]|\b(?:and|or)\b|[和与或])*", re.IGNORECASE)


def has_contents(run: OptionRun) -> bool:
    """Whether text follows every label but perhaps one; `(A), (B) or (C)` only mentions them."""
    num_empty = sum(_MENTION.fullmatch(content.replace(FIGURE, "x")) is not None for content in run.contents)
    return num_empty == 0 or (num_empty == 1 and len(run.labels) > 3)


def _are_questions(run: OptionRun) -> bool:
    """Whether the labels number sub-questions or steps: at least half of them ask for or assume something."""
    num_such = sum(
        ASKS.search(content.strip()) is not None or _LAYS_DOWN.match(content) is not None for content in run.contents
    )
    return 2 * num_such >= len(run.labels)


def _asks_on(run: OptionRun) -> bool:
    """Whether a question follows the list, so that the list belongs to the stem."""
    first, _, rest = run.contents[-1].strip().partition("\n")
    later = re.split(r"(?<=[.;。；!?？])\s*|[,，]\s*(?=其中|则|问|求|试)", first)[1:]
    behind = ALONE.sub("", " ".join([*later, rest, run.tail]))
    return ASKS.search(behind.strip()) is not None


_RUNS_ON = re.compile(
    r"\b(?:at|to|of|from|in|on|by|and|or|with|through|points?|cent(?:er|re)s?|circles?|lines?|vert(?:ex|ices)|sides?|angles?|"
    r"than|towns?|cit(?:y|ies)|players?|teams?|is|are|let|that|,)\s*[$\s]*$",
    re.IGNORECASE,
)


def _stands_apart(text: str, run: OptionRun) -> bool:
    """Whether the labels are outside running text, unlike the points in `a line from A. It meets B. Then C.`."""
    if run.shape in ("paren", "half", "word", "line"):
        return True
    return not any(_RUNS_ON.search(text, max(0, label.start - 20), label.start) for label in run.labels[1:])


_OPEN_END = re.compile(
    r"[?？]\W*$|(?:[=＝:：]|\b(?:is|are|equals?|be|was|were|by|of)|[是为有则]|[（(【]\s*[)）】]|_{2,}|\\uline\{\s*\}[\s\w]{0,20})"
    r"[\s.。．$:：)）]*$"
)


def _is_put_to_choice(stem: str) -> bool:
    """Whether a stem ends in a question or in the middle of a sentence, so that the text after it must answer it."""
    return _OPEN_END.search(stem) is not None
