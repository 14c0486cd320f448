"""Rules for everyday notations: times, money, ratios, units, fractions in words, ordinals, labels."""

from __future__ import annotations

import re
from typing import Final

from curate.verify.spelling.notations import Rule
from curate.verify.vocabulary.spoken import CHINESE, number_in_words

_SI: Final = r"(?:[munpkcMG]?(?:m|g|s|N|J|W|V|A|K|L|Pa|Hz|mol|eV)|h|hr|min)"
_POWER: Final = r"(?:\^ ?\{? ?-? ?\d ?\}?)?"
_COMPOUND_UNIT: Final = re.compile(rf"(?<=[\d}}\)]) ?({_SI}{_POWER}(?:(?: ?/ ?| |\\cdot |\*){_SI}{_POWER})+)$")
_FRACTION_UNIT: Final = re.compile(
    r"\\frac ?\{ ?(km|m|cm|mi|miles?|ft|kg|g|J) ?\} ?\{ ?(h|hr|hour|s|sec|min|day|m|L|kg|K) ?\}$"
)
_HALVES: Final = {"morning": "am", "afternoon": "pm", "evening": "pm", "night": "pm"}
_FULL_HOUR: Final = re.compile(r"^(1?\d) ?(?:\\text\{ ?)?([apAP])\.? ?[mM]\b\.?\}?$")
_SPELLED_TIME: Final = re.compile(
    r"^(?:(\d+) ?h(?:(?:ou)?rs?)?\.?,? ?)?(\d+) ?m(?:in(?:ute)?s?)?\.?(?:,? ?(\d+) ?s(?:ec(?:ond)?s?)?\.?)?$"
)
_LABEL: Final = r"(?:答案?|解|(?i:(?:the )?(?:final )?answer(?: is)?))"
_WORDS: Final = {
    **dict(zip("one two three four five".split(), range(1, 6), strict=True)),
    "a": 1,
    "half": 2,
    "third": 3,
    "quarter": 4,
    "fourth": 4,
    "fifth": 5,
    "sixth": 6,
    "eighth": 8,
}


def _spoken_fraction(match: re.Match[str]) -> str:
    top, bottom = (_WORDS[word.lower()] for word in match.groups())
    return rf"\frac{{{top}}}{{{bottom}}}"


def _in_full(match: re.Match[str]) -> str:
    """Hours, minutes and seconds written in one word; a single 5m may be five metres."""
    parts = [f"{figures} {unit}" for figures, unit in zip(match.groups(), ("h", "min", "s"), strict=True) if figures]
    return " ".join(parts) if len(parts) > 1 else match[0]


def _chinese_fraction(match: re.Match[str]) -> str:
    """A fraction in Chinese words, which name the denominator first."""
    bottom, top = (number_in_words(word) for word in match.groups())
    return rf"\frac{{{top}}}{{{bottom}}}" if top and bottom else match[0]


def _chinese_relation(match: re.Match[str]) -> str:
    """The relation sign of a comparison in Chinese words; "not greater" means at most."""
    is_greater = (match[2] == "大") != bool(match[1])
    return (">" if is_greater else "<") if not (match[1] or match[3]) else ("\\ge " if is_greater else "\\le ")


def _and_a_half(match: re.Match[str]) -> str:
    figures = match[1] if match[1].isdigit() else number_in_words(match[1])
    return rf"{figures}\frac{{1}}{{2}}" if figures else match[0]


def _from_points(match: re.Match[str]) -> str:
    """Figures grouped by points, with a decimal comma."""
    whole = (match[1] or match[2]).replace(".", "")
    return f"{whole}.{match[3]}" if match[3] else whole


EVERYDAY: Final[tuple[Rule, ...]] = (
    # {x: 3, y: -2}: a solution as Python prints it; 250{km/h}: the remains of \text
    (
        ":",
        re.compile(r"^(?:[a-z] ?[:=] ?-?\d[\d./]*(?:, ?(?=[a-z])|$)){2,}"),
        lambda m: m[0].replace(":", "="),
    ),
    ("{", re.compile(r"(?<=\d)\{([A-Za-z]+/[A-Za-z]+)\}$"), r"\\text{ \1}"),
    ("{", re.compile(r"(?<=\d) ?\{ ?\\circ ?\}"), r"^\\circ "),
    # 3 to 4, 1 to 2 to 4: ratios; 5 out of 36
    (
        "to",
        re.compile(r"^\d+(?:\.\d+)?(?: ?(?:\\text\{ ?to ?\}|to) ?\d+(?:\.\d+)?)+$"),
        lambda m: re.sub(r" ?(?:\\text\{ ?to ?\}|to) ?", ":", m[0]),
    ),
    (" ", re.compile(r"^(\d+) ?(?:\\text\{ ?)?(?:out of|in) ?\}? ?(\d+)$"), r"\\frac{\1}{\2}"),
    # 3:30 p.m., 3:30 in the morning, 3:30 o'clock, 12 noon
    (":", re.compile(r"(?<=\d) ?(?:\\text\{ ?)?([apAP])\.? ?[mM]\b\.?\}?$"), lambda m: rf"\text{{{m[1].lower()}m}}"),
    (
        ":",
        re.compile(r"(?<=\d) ?(?:\\text\{ ?)?(?:in the (morning|afternoon|evening)|at (night)) ?\}?$"),
        lambda m: rf"\text{{{_HALVES[m[1] or m[2]]}}}",
    ),
    ("clock", re.compile(r"^(1?\d) ?(?:\\text\{ ?)?o'clock ?\}?"), r"\1\\text{ oclock}"),
    ("clock", re.compile(r"(?<=\d) ?(?:\\text\{ ?)?o'clock ?\}?"), ""),
    *((sign, _FULL_HOUR, lambda m: rf"{m[1]}\text{{{m[2].lower()}m}}") for sign in "mM"),
    # a dozen, one and a half, half an hour
    ("a ", re.compile(r"^an? (?=(?:dozen|hundred|thousand|million|billion)\b)"), "1 "),
    ("and a half", re.compile(r"^(\w+) and a half(?= |$)"), _and_a_half),
    ("half", re.compile(r"^(?:a )?half(?: (?:of )?(?:an?|the) (?=[a-z])|$)"), r"\\frac{1}{2} "),
    # 2h45m, 1 hr 5 min 20 sec, $18 a day
    ("m", _SPELLED_TIME, _in_full),
    (
        " a",
        re.compile(r"(?<=[\dA-Za-z}]) an? (?=(?:day|week|month|year|hour|minute|second|night|person|piece|pound)\}?$)"),
        " per ",
    ),
    ("noon", re.compile(r"^(?:12(?::00)? ?)?(?:\\text\{ ?)?noon ?\}?$"), r"12:00\\text{pm}"),
    ("midnight", re.compile(r"^(?:12(?::00)? ?)?(?:\\text\{ ?)?midnight ?\}?$"), r"12:00\\text{am}"),
    # figures in groups of three, with Swiss and programmers' separators; 20,00 euros
    ("'", re.compile(r"^(-?\d{1,3}(?:'\d{3})+)(?=\D|$)"), lambda m: m[1].replace("'", "")),
    ("_", re.compile(r"^(-?\d{1,3}(?:_\d{3})+)$"), lambda m: m[1].replace("_", "")),
    # 1.234.567 and 1.234,56: the points can only group
    (".", re.compile(r"^(-?\d{1,3}(?:\.\d{3}){2,})$|^(-?\d{1,3}(?:\.\d{3})+),(\d+)$"), _from_points),
    ("euro", re.compile(r"(?<=\d),(\d\d)(?= ?\\euro| euro)"), r".\1"),
    # US$ 5, Rs. 5
    ("US", re.compile(r"^US ?(?:\\\$)? ?(?=\d)"), r"\\$"),
    ("Rs", re.compile(r"^(?:\\text\{ ?)?Rs\.? ?\}? ?(?=\d)"), r"\\rupee "),
    # 30^o, 30 \deg, no limit
    ("^", re.compile(r"(?<=\d) ?\^ ?(?:\{ ?)?(?:\\text\{ ?)?[oO] ?\}{0,2}(?![A-Za-z])"), r"^\\circ "),
    ("\\deg", re.compile(r"(?<=\d) ?\\deg(?:rees?)?(?![A-Za-z])"), r"^\\circ "),
    ("exists", re.compile(r"^\\nexists ?$"), "does not exist"),
    # degrees and minutes of an angle
    (
        "circ",
        re.compile(
            r"(\d+) ?\^ ?\{? ?\\circ ?\}? ?(\d+) ?(?:'|\^ ?\{? ?\\prime ?\}?)(?: ?(\d+(?:\.\d+)?) ?(?:''|\"))?$"
        ),
        lambda m: rf"({m[1]}+\frac{{{m[2]}}}{{60}}+\frac{{{m[3] or 0}}}{{3600}})^\circ ",
    ),
    # x^2 + constant
    ("const", re.compile(r"\+ ?(?:\\text\{ ?)?const(?:ant|\.)? ?\}?$"), "+C"),
    # sq. cm, 5 ft. 3 in.
    (".", re.compile(r"(?<=[\d {])(sq|cu|ft|in|hrs?|mins?|secs?|lbs?|oz|yds?|mi|yrs?)\.(?=[ }]|$)"), r"\1"),
    # units: m/s^2, kg m^{-3}
    ("", _COMPOUND_UNIT, lambda m: rf"\text{{ {m[1]}}}" if re.search(r"/|-", m[1]) else m[0]),
    ("\\frac", _FRACTION_UNIT, r"\\text{ \1/\2}"),
    # 7th, 21^{st}
    ("t", re.compile(r"(?<=\d) ?(?:\^ ?\{? ?)?(?:\\text\{)?(?:st|th)\b\}{0,2}"), ""),
    ("d", re.compile(r"(?<=\d) ?(?:\^ ?\{? ?)?(?:\\text\{)?(?:nd|rd)\b\}{0,2}"), ""),
    # one half, two thirds; 四分之三, 百分之25, 3比4
    (
        " ",
        re.compile(
            r"^(?:(one|a|two|three|four|five) )(half|third|quarter|fourth|fifth|sixth|eighth)s?$", re.IGNORECASE
        ),
        _spoken_fraction,
    ),
    ("分之", re.compile(r"百分之(\d+(?:\.\d+)?)"), r"\1%"),
    ("分之", re.compile(rf"([{CHINESE}]+)分之([{CHINESE}]+)"), _chinese_fraction),
    ("于", re.compile(r"(?:(不)?(大|小)于(等于)?)(?= ?-?[\d\\])"), _chinese_relation),
    ("比", re.compile(r"(?<=\d) ?比 ?(?=\d)"), ":"),
    # a lead-in to an answer
    ("", re.compile(r"^(?:=|\\(?:Rightarrow|implies|therefore|to)(?![A-Za-z])) ?(?=[^=])"), ""),
    # a label before the answer
    (":", re.compile(rf"^(?:{_LABEL} ?: ?|\\text\{{ ?{_LABEL} ?(?:: ?\}}|\}} ?:) ?)"), ""),
)
