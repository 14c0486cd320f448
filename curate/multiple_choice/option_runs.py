r"""Finds runs of labelled options in a problem's text: `(A) 16 (B) 18`, `a) .. b) ..`, `①..②..`, `\\textbf{(A)}\\ 16`.

A run is a series of labels of one shape that starts at the alphabet's first letter and has no gap. `offered` decides
whether it offers answers to choose from, or lists sub-questions, conditions or statements. All matching is done on
`masked(text)`, which has the length of the text, so that positions are valid in the text itself.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Final

FIGURE: Final = "\ue000"  # replaces every character of a drawing or a listing: content, but no text
WRAP: Final = "\ue001"  # replaces markup that only formats a label, such as \textbf{ or **

ALPHABETS: Final = {
    "upper": "ABCDEFGHIJ",
    "lower": "abcdefghij",
    "digit": ("1", "2", "3", "4", "5", "6", "7", "8", "9", "10"),
    "circled": "①②③④⑤⑥⑦⑧⑨⑩",
    "circled_letter": "ⒶⒷⒸⒹⒺⒻ",
    "roman": ("i", "ii", "iii", "iv", "v", "vi", "vii", "viii"),
    "ROMAN": ("I", "II", "III", "IV", "V", "VI", "VII", "VIII"),
    "roman_sign": "ⅠⅡⅢⅣⅤ",
    "cyrillic": "АБВГДЕ",
    "cyrillic_lower": "абвгде",
    "greek": "ΑΒΓΔΕΖ",
    "greek_lower": "αβγδε",
    "kana": "アイウエオ",
    "hangul": "가나다라마",
    "arabic": "أبجده",
    "stems": "甲乙丙丁戊",
    "upper_f": "FGHJK",  # every second question of some American tests
    "upper_p": "PQRST",
}
STRONG: Final = ("upper", "cyrillic", "greek", "circled_letter")  # alphabets that rarely number anything but options
LOOSE: Final = ("bare", "dressed", "equals")  # shapes of labels that may also be names in running text

_SAME_LENGTH: Final = (
    (
        re.compile(r"\[asy\].*?(?:\[/asy\]|\Z)|\\begin\{(tikzpicture|asy)\}.*?\\end\{\1\}|```.*?(?:```|\Z)", re.DOTALL),
        FIGURE,
    ),
    (re.compile(r"!\[[^\]\n]*\]\([^)\n]*\)|<img\b[^>]*>|\\includegraphics(?:\[[^\]]*\])?\{[^}]*\}"), FIGURE),
    (re.compile(r"\\begin\{(?:enumerate|itemize|array|tabular)\}(?:\[[^\]\n]*\])?|\\end\{\w+\}"), "\n"),
    (re.compile(r"<br\s*/?>|</?(?:p|li|ul|ol|div)>|\\item(?![a-z])|\\\\(?:\[[^\]\n]*\])?"), "\n"),
    (re.compile(r"\\(?:text|textbf|textit|textrm|textsf|mathrm|mathbf|mathsf|mbox|emph|underline)\s*\{"), WRAP),
    (
        re.compile(
            r"\{\s*\\(?:bf|rm|it|sf)(?![a-z])|\\(?:bf|rm|left|right|displaystyle|math(?:rm|bf|sf))(?![a-z])|\*\*"
            r"|(?<!_)__(?!_)|</?(?:[bi]|strong|em)>"
        ),
        WRAP,
    ),
    (re.compile(r"\\q?quad(?![a-z])|\\hspace\*?\{[^}]*\}|\\[ ,;:!]|[~&\t\u3000\xa0]"), " "),
    (re.compile(r"[\"'](?<=[\[,\s].)(?=[A-J][.):])"), " "),
)
# *A*, `A`, \fbox{A}, \(A\): delimiters on both sides of a label, which mean something else elsewhere
_DRESSED: Final = re.compile(r"(?:[*`](?<![\w*`].)|\\(?:fbox|boxed)\{|\\[(\[])([A-Ja-j])(?:[*`](?![\w*`])|\}|\\[)\]])")
_CIRCLED: Final = re.compile(r"\\textcircled\s*\{\s*(?:\\[a-z]+\s*)?([1-9A-F])\s*\}")
_MARKUP: Final = re.compile(r"[\\\[<*_~&`!\t\u3000\xa0]")  # without one of these there is nothing to replace
_FOLD: Final = {
    **{code: code - 0xFEE0 for code in (*range(0xFF10, 0xFF1A), *range(0xFF21, 0xFF3B), *range(0xFF41, 0xFF5B))},
    **{first + place: ord("①") + place for first in (0x2474, 0x2488) for place in range(10)},  # ⑴ ⒈
    **{first + place: ord("Ⓐ") + place for first in (0x249C, 0x24D0) for place in range(6)},  # ⒜ ⓐ
}
_OPEN, _CLOSE = r"[(（\[［【〔<]", r"[)）\]］】〕>]"
_W = rf"[{WRAP}\s}}]*"
_CORE: Final = {
    "upper": r"[A-J]",
    "lower": r"[a-j]",
    "digit": r"(?:10|[1-9])",
    "circled": r"[①-⑩]",
    "roman": r"(?:viii|vii|vi|iv|v|iii|ii|i)",
    "ROMAN": r"(?:VIII|VII|VI|IV|V|III|II|I)",
}
# no word, command, sub- or superscript may touch a label, but a digit may precede one (`A.1B.2`)
_LETTER = "A-Za-zА-яΑ-ωァ-ヶ가-힣ء-ي"
_BEFORE = rf"(?<![{_LETTER}\\_^'’.])"


def _shapes(core: str, alphabet: str) -> dict[str, str]:
    """The shapes of an alphabet's labels, as patterns with a group around the label itself."""
    if alphabet.startswith("circled"):
        return {"circled": f"({core})"}
    apart = r"(?![0-9])" if alphabet == "digit" else ""
    glued = r"(?<![(（])" if alphabet == "upper" else r"(?<![0-9(（])"
    bullet = r"(?:[-*•]\s+|\|[ \t]*(?=[^|\n]*\|[^|\n]*\|?[ \t]*$))?"  # a table row only if it has one more cell
    half = rf"(?<![(（\[{_LETTER}0-9\\_^'’.+\-=])"
    return {
        "paren": rf"(?:{_BEFORE}|(?<=\d)){_OPEN}{_W}\$?{_W}({core}){_W}\$?\.?{_W}{_CLOSE}",
        "half": rf"{half}{_W}({core})[.]?[{WRAP}}}]*[)）\]］】]",
        "word": rf"(?<![A-Za-z])(?:[Oo]ption|[Cc]hoice|选项)\s*{_OPEN}?({core}){_CLOSE}?\s*[.:：．、)）-]?",
        "dot": rf"{glued}{_BEFORE}({core})[{WRAP}}}]*\s?[.．、。]{apart}(?!\.)",
        "colon": rf"(?<![0-9(（]){_BEFORE}({core})[{WRAP}}}]*\s?[:：]{apart}",
        "line": rf"^[ \t]*{bullet}[{WRAP}]*({core})[{WRAP}}}]*(?:\s*[-–—|]+>?\s+|[ \t]+)(?=[^\s=&])",
        "quoted": rf"(?<!\w)[\"']({core})[\"']\s*[:：]",
    } | (_loose_shapes(core) if alphabet == "upper" else {})


def _loose_shapes(core: str) -> dict[str, str]:
    """Shapes that also occur in running text and formulas: see `LOOSE`."""
    return {
        "bare": rf"(?<![\w\\^.+\-=/])({core})[ \t]+(?=[^\s=+\-*/<>,.])",
        "dash": rf"(?<![\w\\^.+\-=/–—])({core})(?:\s?[-–—/]\s?(?=[\w$\\(])|\s?(?:[-=]>|[→⇒])\s?(?=\S))",
        "dressed": rf"{WRAP}({core})[{WRAP}}}]+[ \t]*(?=[^\s=+\-*/<>,.{WRAP}])",
        "equals": rf"(?<![\w\\^.+\-=/])({core})\s?=\s?(?=[\w$\\(.-])",
    }


@cache
def _label(alphabet: str, shape: str) -> re.Pattern[str]:
    core = _CORE.get(alphabet, f"[{''.join(ALPHABETS[alphabet])}]")
    return re.compile(_shapes(core, alphabet)[shape], re.MULTILINE)


@cache
def _second(alphabet: str) -> re.Pattern[str]:
    """Possible places of the second label: most texts have none, so this cheap search excludes them."""
    second, third = ALPHABETS[alphabet][1:3]
    if alphabet.startswith("circled"):
        return re.compile(second)
    # text between the labels: `A 1 B 2 C 3`
    between = rf"|(?<![A-Za-z\\]){second}[ \t].*[ \t]{third}[ \t]" if alphabet == "upper" else ""
    ends = "[.．、。:：)）\\]］】〕>\\-–—|/" + (f"=→⇒{WRAP}}}]" if alphabet == "upper" else "]")
    return re.compile(rf"(?<![A-Za-z\\]){second}[\s{WRAP}}}$\"']*{ends}|^\W*{second}[ \t]{between}", re.MULTILINE)


_ANY_SECOND: Final = re.compile(
    rf"(?:[Bb2БбΒβイ나ب乙GQ]|ii|II)(?:[\s{WRAP}}}$\"']*[.．、。:：)）\]］】〕>\-–—|/]|[ \t])|B\s?[=→⇒}}{WRAP}]|[②ⒷⅡ]"
)
_PART: Final = re.compile(r"\b(?:part|step|case|stage|phase)s?[ \t]*\Z", re.IGNORECASE)  # Part (a), Case (i)
_NUMBERED: Final = re.compile(r"[A-Za-z]{2,}[ \t]*\Z")  # Row 1: Step 2: Case II. are names, not labels


@dataclass(frozen=True)
class Label:
    """One label in the text: its name in the alphabet, where it starts, and where its content starts."""

    name: str
    start: int
    end: int


@dataclass(frozen=True)
class OptionRun:
    """Consecutive labels of one shape; `contents` are the texts after them, `tail` is the text after the last one."""

    alphabet: str
    shape: str
    labels: tuple[Label, ...]
    contents: tuple[str, ...]
    tail: str

    @property
    def names(self) -> tuple[str, ...]:
        """The labels' names, e.g. `("A", "B", "C")`."""
        return tuple(label.name for label in self.labels)

    @property
    def start(self) -> int:
        """The position of the run in the text: the stem is before it."""
        return self.labels[0].start


def masked(text: str) -> str:
    """The text with drawings, label markup and LaTeX spacing replaced, character for character."""
    if _MARKUP.search(text) is None:
        return text
    text = _DRESSED.sub(
        lambda match: WRAP * (match.start(1) - match.start()) + match[1] + WRAP * (match.end() - match.end(1)), text
    )
    text = _CIRCLED.sub(_circled, text)
    for pattern, stand_in in _SAME_LENGTH:
        text = pattern.sub(lambda match, to=stand_in: to * len(match[0]), text)  # type: ignore[misc]  # `to` is bound here
    return text


def _circled(match: re.Match[str]) -> str:
    name = match[1]
    sign = ALPHABETS["circled"][int(name) - 1] if name.isdecimal() else chr(ord("Ⓐ") + ord(name) - ord("A"))
    return WRAP * (len(match[0]) - 1) + sign


def folded(text: str) -> str:
    """The text with variants of labels replaced, character for character: Ａ is A, ⑴ is ①, ⒜ is Ⓐ."""
    return text.translate(_FOLD)


def option_runs(text: str) -> list[OptionRun]:
    """All runs of two or more labels in a text, longest first; `text` is already `masked`."""
    even = folded(text)
    if _ANY_SECOND.search(even) is None:
        return []
    runs = [
        _run(text, alphabet, shape, labels)
        for alphabet, letters in ALPHABETS.items()
        if letters[1] in even and _second(alphabet).search(even)
        for shape in _shapes("", alphabet)
        if (labels := _consecutive(_found(even, alphabet, shape), alphabet))
    ]
    return sorted(runs, key=lambda run: (-len(run.labels), run.alphabet not in STRONG, run.start))


def _found(text: str, alphabet: str, shape: str) -> list[Label]:
    matches = list(_label(alphabet, shape).finditer(text))
    if shape == "half":
        matches = [match for match in matches if not _closes_a_bracket(text, match.start())]
    elif shape == "paren":
        matches = [match for match in matches if not _PART.search(text, max(0, match.start() - 20), match.start())]
    elif shape in ("dot", "colon") and alphabet in ("digit", "roman", "ROMAN"):
        matches = [match for match in matches if not _NUMBERED.search(text, max(0, match.start() - 20), match.start())]
    return [Label(match[1], match.start(), match.end()) for match in matches]


def _closes_a_bracket(text: str, position: int) -> bool:
    """Whether a bracket is open before `position` on its line, as in `(b - c)`, where c is no label."""
    before = text[max(0, position - 40) : position].rpartition("\n")[2]
    return max(before.rfind(mark) for mark in "(（") > max(before.rfind(mark) for mark in ")）]")


def _consecutive(labels: list[Label], alphabet: str) -> tuple[Label, ...]:
    """The longest run of labels from the first letter, the last of equally long ones; () if none has two."""
    letters = ALPHABETS[alphabet]
    best: tuple[Label, ...] = ()
    for position, label in enumerate(labels):
        if label.name != letters[0]:
            continue
        run = [label]
        for later in labels[position + 1 :]:
            if len(run) < len(letters) and later.name == letters[len(run)]:
                run.append(later)
        if len(run) >= max(2, len(best)):
            best = tuple(run)
    return best


_BREAK = re.compile(r"\n\s*\n")


def _run(text: str, alphabet: str, shape: str, labels: tuple[Label, ...]) -> OptionRun:
    ends = [*(label.start for label in labels[1:]), len(text)]
    contents = [text[label.end : end] for label, end in zip(labels, ends, strict=True)]
    parts = _BREAK.split(contents[-1].strip("\n "), maxsplit=1)
    tail = parts[1] if len(parts) > 1 else ""
    contents[-1] = parts[0]
    return OptionRun(alphabet, shape, labels, tuple(contents), tail)
