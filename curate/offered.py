"""Does a run of labels offer answers to choose from, or number sub-questions, conditions, statements, steps?

The answer tells it where it names a label or repeats an option; else the words before and behind the run do.
"""

from __future__ import annotations

import re

from curate.choice_cues import ALONE, ASKS, CLOSED_ZH, CONDITIONS, COUNTS, WITH_LABELS
from curate.option_runs import FIGURE, STRONG, WRAP, OptionRun

_BETWEEN = re.compile(r"[\s,，、;；&()（）\[\].:：/\"'“”]+|(?<![a-z])(?:and|or|only|和|与|或)(?![a-z])")
_HEADED = re.compile(r"\W*(\w+)\s*[).:．、）\]]\s*(.+)", re.DOTALL)


def named_labels(answer: str, run: OptionRun) -> tuple[str, ...]:
    """The labels of `run` that an answer names: `("A", "C")` for `A, C` or `AC`; () where it names none.

    `B) 18` names B where 18 is what stands behind B.
    """
    names = {name.lower(): name for name in run.names}
    parts = [part for part in _BETWEEN.split(answer.lower()) if part]
    if parts and all(part in names for part in parts):
        return tuple(names[part] for part in parts)
    if len(parts) == 1 and run.alphabet in ("upper", "circled") and _is_ascending(parts[0]):
        return tuple(names[mark] for mark in parts[0]) if all(mark in names for mark in parts[0]) else ()
    head = _HEADED.match(answer)
    if head is not None and (name := names.get(head[1].lower())) is not None:
        return (name,) if squashed(run.contents[run.names.index(name)]) == squashed(head[2]) else ()
    return ()


_DRESS = re.compile(rf"[{WRAP}$}}{{*`\s]+|\\(?=[()\[\]])|\\(?:text|mathrm|left|right)(?![a-z])")


def squashed(text: str) -> str:
    """Text reduced to what two writings of one short answer share, to compare an answer with an option."""
    return _DRESS.sub("", re.sub(r"\\[dt]frac", r"\\frac", text.lower())).strip(".,;。；，、|()（）")


def offers_options(text: str, run: OptionRun, answer: str) -> bool:
    """Whether a run of labels offers answers to choose from; `answer` is a `plain_answer`, "" where unknown."""
    stem = text[: run.start]
    is_cued = ALONE.search(text) is not None or CLOSED_ZH.search(stem) is not None
    asks_on = _asks_on(run) and not _comes_first(run, stem, answer)
    if run.shape == "bare" and not (_is_put_to_choice(stem) and _are_short(run)):
        return False
    if named_labels(answer, run):
        return not _is_also_a_value(run, answer, is_cued=is_cued, asks_on=asks_on)
    if asks_on or _are_questions(run) or (len(run.labels) < 3 and not _is_pair_of_options(run, stem, answer, is_cued)):
        return False
    if answer and squashed(answer) in {squashed(content) for content in run.contents}:
        return True
    if re.search(r"\band\W*$|[且和]\W*$", run.contents[-2]):
        return False
    if run.shape in ("dash", "bare"):
        return not answer and _is_put_to_choice(stem) and _are_short(run)
    if run.alphabet not in STRONG:
        counts_them = COUNTS.search(stem) is not None and not _are_numbers(run)
        return not counts_them and (is_cued or (not answer and _are_offered(text, run)))
    if is_cued:
        return True
    return not CONDITIONS.search(stem) and (WITH_LABELS.search(stem) is not None or _stands_apart(text, run))


_OR = re.compile(r"(?:\bor|或者?|还是)\W*$", re.IGNORECASE)
_REMARK = re.compile(r"\s*[（(][^()（）]{4,}[)）][\s.。．]*$")
_BLANK = re.compile(r"[（(【][\s~　]*[)）】]|_{2,}|\\uline\{[\s~]*\}")
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
    """Whether labels that also number sub-questions offer answers, told from the text alone.

    They do behind a blank or the middle of a sentence, before a last "or", and below one question where every one of
    them stands before a short value.
    """
    stem = _REMARK.sub("", text[: run.start])
    if CONDITIONS.search(stem) or _ORDER.search(stem) or any(_BLANK.search(content) for content in run.contents):
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
    # what asks nothing, or breaks off, is completed by what follows
    return (
        asks_one_thing or _BLANK.search(stem) is not None or ASKS.search(stem) is None or stem.rstrip()[-1:].isalnum()
    )


_NUMBER = re.compile(r"[\W_]*(?:\\[dt]?frac)?[{\\\s]*\d[\d\s.,/{}\\^$+%-]*[\u4e00-\u9fff]{0,2}\W*")


def _are_numbers(run: OptionRun) -> bool:
    """Whether a number stands behind every label, with its measure word: what a count may be, and no statement."""
    return len(run.labels) > 2 and all(_NUMBER.fullmatch(content.strip()) for content in run.contents)


def _are_short(run: OptionRun) -> bool:
    """Whether nothing but a short value stands behind any label."""
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


def _is_also_a_value(run: OptionRun, answer: str, *, is_cued: bool, asks_on: bool) -> bool:
    """Whether an answer that reads as a label may as well be a value: a bare figure, a variable, a name in the stem."""
    if run.alphabet in STRONG:
        return run.shape in ("dot", "colon", "line") and asks_on and not is_cued
    if run.alphabet == "digit" and answer.isdigit():
        return asks_on or _are_questions(run) or len(run.labels) < 3
    return _are_questions(run) or (asks_on and not is_cued)


def _is_pair_of_options(run: OptionRun, stem: str, answer: str, is_cued: bool) -> bool:
    """Whether two labels are enough: only where the stem leaves no doubt."""
    if run.alphabet not in STRONG:
        return False
    if answer:
        return is_cued or squashed(answer) in {squashed(content) for content in run.contents}
    return (
        is_cued
        or _is_put_to_choice(stem)
        or (run.shape in ("dot", "paren", "half", "colon") and _fills_lines(stem, run))
    )


def _fills_lines(stem: str, run: OptionRun) -> bool:
    """Whether every option has a short line of its own, under a stem."""
    lines = [stem, *run.contents[:-1]]
    return all(line.rstrip(" ").endswith("\n") for line in lines) and all(len(it.strip()) < 60 for it in run.contents)


_LAYS_DOWN = re.compile(r"\W*(?:let|suppose|assume|given|consider|set|start|take|设|令|已知|假设|若)\b", re.IGNORECASE)
_MENTION = re.compile(rf"(?:[\s,.;:!?，。；、()（）{{}}$|*&\\~_{WRAP}]|\[|\]|\b(?:and|or)\b|[和与或])*", re.IGNORECASE)


def has_contents(run: OptionRun) -> bool:
    """Whether something stands behind every label but perhaps one; `(A), (B) or (C)` only mentions them."""
    num_empty = sum(_MENTION.fullmatch(content.replace(FIGURE, "x")) is not None for content in run.contents)
    return num_empty == 0 or (num_empty == 1 and len(run.labels) > 3)


def _are_questions(run: OptionRun) -> bool:
    """Whether the labels number sub-questions or steps: at least half of them ask for something or lay it down."""
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
    """Whether the labels are no part of running text, as the points are in `a line from A. It meets B. Then C.`."""
    if run.shape in ("paren", "half", "word", "line"):
        return True
    return not any(_RUNS_ON.search(text, max(0, label.start - 20), label.start) for label in run.labels[1:])


_OPEN_END = re.compile(
    r"[?？]\W*$|(?:[=＝:：]|\b(?:is|are|equals?|be|was|were|by|of)|[是为有则]|[（(【]\s*[)）】]|_{2,}|\\uline\{\s*\}[\s\w]{0,20})"
    r"[\s.。．$:：)）]*$"
)


def _is_put_to_choice(stem: str) -> bool:
    """Whether a stem ends in a question or in the middle of a sentence, so that what follows must answer it."""
    return _OPEN_END.search(stem) is not None


def _is_ascending(letters: str) -> bool:
    return len(letters) > 1 and list(letters) == sorted(set(letters))
