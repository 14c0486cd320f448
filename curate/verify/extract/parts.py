"""Splits an answer to several questions: `(a) 5 (b) 6`, `Mean: 5; Variance: 2`, `height 5 cm, width 6 cm`."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

_ENUMERATED: Final = (
    re.compile(
        r"(?:^|(?<=[\s,;.$}]))\$?\(\s*(?:\\(?:text|mathrm|textbf)\{)?([a-z]|[A-F]|[ivx]{1,4}|\d)\}?\s*\)\$?[:.]?(?=\s|\$|\\|[-\d])"
    ),
    re.compile(r"(?:^|(?<=[\s,;.$}]))(?:\*\*)?([a-h]|[A-F]|[ivx]{1,4}|\d)\)(?=\s)"),
    re.compile(r"(?:^|\n)[ \t]*(?:\*\*)?([a-h]|[A-F]|[ivx]{1,4}|\d)\.(?=\s)"),
    re.compile(r"(?:^|(?<=[\s,;.]))(?:part|question)\s+\(?([a-zA-Z]|\d)\)?\s*[:.)=]", re.IGNORECASE),
)
_SEQUENCES: Final = ("abcdefgh", "123456789", ("i", "ii", "iii", "iv", "v", "vi", "vii", "viii"))
_NAMED: Final = re.compile(
    r"(?:the\s+)?(?P<name>[A-Za-z][A-Za-z_-]+(?: [A-Za-z][A-Za-z_-]+){0,3}?)\s*"
    r"(?P<sign>[:=]|\bis\b|\s)\s*(?P<value>[-+$\\(\[\d.].*)",
    re.IGNORECASE | re.DOTALL,
)
_UNNAMED: Final = (
    "and",
    "or",
    "where",
    "with",
    "for",
    "at",
    "to",
    "from",
    "approximately",
    "about",
    "exactly",
    "total of",
)
_TEXT: Final = re.compile(r"\\(?:text|mathrm|textbf)\s*\{([^{}]*)\}")
_BREAK: Final = re.compile(r"\s*(?:;|,\s+|\n|(?<=\s)and\s)\s*")
_MAX_CHARS: Final = 1_000


class Part(NamedTuple):
    """A label and what stands behind it."""

    label: str
    content: str


def labelled_parts(text: str) -> tuple[Part, ...]:
    """The parts of a text with two or more labels; empty if it has none."""
    if len(text) > _MAX_CHARS:
        return ()
    return _enumerated(text) or _named(text)


def pieces(text: str) -> tuple[str, ...]:
    """The text split at commas, semicolons, lines and "and" outside brackets."""
    plain = _TEXT.sub(lambda found: found[1], text).strip().strip("$").strip()
    found, start, depth, index = [], 0, 0, 0
    while index < len(plain):
        depth += (plain[index] in "([{") - (plain[index] in ")]}")
        if depth == 0 and (gap := _BREAK.match(plain, index)) is not None and gap.end() > index:
            found.append(plain[start:index])
            start = index = gap.end()
            continue
        index += 1
    return tuple(piece for piece in (*found, plain[start:]) if piece.strip())


def _enumerated(text: str) -> tuple[Part, ...]:
    """The parts behind labels that count from the first, in any order, with nothing before them."""
    for pattern in _ENUMERATED:
        marks = list(pattern.finditer(text))
        labels = [mark[1].lower() for mark in marks]
        counted = any(sorted(labels) == sorted(sequence[: len(labels)]) for sequence in _SEQUENCES)
        if len(marks) < 2 or not counted or text[: marks[0].start()].strip(" $*\n"):
            continue
        ends = [*(mark.start() for mark in marks[1:]), len(text)]
        contents = [text[mark.end() : end].strip().strip(",;.").strip() for mark, end in zip(marks, ends, strict=True)]
        if all(contents):
            return tuple(Part(*pair) for pair in zip(labels, contents, strict=True))
    return ()


def _named(text: str) -> tuple[Part, ...]:
    found = [_NAMED.fullmatch(piece.strip()) for piece in pieces(text)]
    matched = [match for match in found if match is not None]
    if len(matched) < 2 or len(matched) < len(found):
        return ()
    parts = tuple(Part(" ".join(match["name"].lower().split()), match["value"].strip(" .")) for match in matched)
    names = [part.label for part in parts]
    is_clear = len(set(names)) == len(names) and not any(name.split()[0] in _UNNAMED for name in names)
    return parts if is_clear else ()
