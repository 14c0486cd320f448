"""Finds the labels of a run that an answer names, and compares answers with options.

`squashed` reduces the spellings of one short answer to one form; every comparison of an answer with an option uses it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from unicodedata import normalize

from curate.multiple_choice.cues import BINARY_ANSWERS
from curate.multiple_choice.option_runs import WRAP, OptionRun, folded

_BETWEEN = re.compile(r"[\s,，、;；&()（）\[\].:：/\"'“”]+|(?<![a-z])(?:and|or|only|和|与|或)(?![a-z])")
_HEADED = re.compile(r"\W*(\w+)\s*[).:．、）\]]\s*(.+)", re.DOTALL)


def named_labels(answer: str, run: OptionRun) -> tuple[str, ...]:
    """The labels of `run` that an answer names: `("A", "C")` for `A, C` or `AC`; () if it names none.

    `B) 18` names B where 18 is the text of B.
    """
    answer = folded(answer)
    # the answer B also names Ⓑ
    names = {form.lower(): name for name in run.names for form in (name, normalize("NFKC", name))}
    parts = [part for part in _BETWEEN.split(answer.lower()) if part]
    if parts and all(part in names for part in parts):
        return tuple(names[part] for part in parts)
    if len(parts) == 1 and run.alphabet in ("upper", "circled", "circled_letter") and _is_ascending(parts[0]):
        return tuple(names[mark] for mark in parts[0]) if all(mark in names for mark in parts[0]) else ()
    head = _HEADED.match(answer)
    if head is not None and (name := names.get(head[1].lower())) is not None:
        return (name,) if squashed(run.contents[run.names.index(name)]) == squashed(head[2]) else ()
    return ()


_DRESS = re.compile(rf"[{WRAP}$}}{{*`\s]+|\\(?=[()\[\]])|\\(?:text|mathrm|left|right)(?![a-z])")


def squashed(text: str) -> str:
    """The text in a form that all spellings of one short answer share, to compare an answer with an option."""
    return _DRESS.sub("", re.sub(r"\\[dt]frac", r"\\frac", text.lower())).strip(".,;。；，、|()（）")


def are_binary(contents: Sequence[str]) -> bool:
    """Whether the options are exactly two binary answers: true and false, or yes and no."""
    return len(contents) == 2 and all(squashed(content) in BINARY_ANSWERS for content in contents)


def _is_ascending(letters: str) -> bool:
    return len(letters) > 1 and list(letters) == sorted(set(letters))
