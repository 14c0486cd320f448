"""Parses units: `60 km/h` is `60 kilometers per hour`, 5 km is 5000 m, and 12 cm is not 12 m.

A unit phrase becomes a scale and a product of base units to integer powers. An unknown word ("apples") is a base unit
of its own, in the singular; "units" counts as no unit.
"""

from __future__ import annotations

import re
from fractions import Fraction
from functools import lru_cache
from typing import Final, NamedTuple

from curate.verify.nodes import UnreadableError

_TABLE: Final = """
m 1 m meter metre|km 1000 m kilometer kilometre kms|cm 1/100 m centimeter centimetre cms
mm 1/1000 m millimeter millimetre|dm 1/10 m decimeter decimetre
nm 1/1000000000 m nanometer nanometre|inch 127/5000 m in inche|ft 381/1250 m foot feet
yd 1143/1250 m yard|mi 201168/125 m mile|g 1 g gram gramme gm|kg 1000 g kilogram kilo kgs
mg 1/1000 g milligram|lb 45359237/100000 g pound lbs|oz 45359237/1600000 g ounce|ton 1 ton tonne
s 1 s second sec|min 60 s minute|h 3600 s hour hr|day 86400 s day|week 604800 s week
month 1 month month|yr 1 year year|ms 1/1000 s millisecond|L 1 L liter litre l ell
mL 1/1000 L milliliter millilitre ml|gal 1 gallon gallon|qt 1/4 gallon quart|pt 1/8 gallon pint
dollar 1 dollar dollar buck usd|cent 1/100 dollar cent|euro 1 euro euro eur|pounds 1 gbp sterling gbp
yuan 1 yuan yuan rmb cny|rad 1 rad radian|N 1 N newton|J 1 J joule|kJ 1000 J kilojoule kj|W 1 W watt
kW 1000 W kilowatt kw|Pa 1 Pa pascal|Hz 1 Hz hertz|K 1 K kelvin|mol 1 mol mole|V 1 V volt
A 1 A ampere amp|eV 1 eV electronvolt|ohm 1 ohm|degreeC 1 degreeC celsius centigrade|degreeF 1 degreeF fahrenheit
inr 1 inr rupee rs|krw 1 krw won|rub 1 rub ruble|jpy 1 jpy yen|cal 1 cal calorie|kcal 1000 cal kilocalorie
atm 1 atm atmosphere|T 1 T tesla|C 1 C coulomb|F 1 F farad|Gm 1000000000 m|um 1/1000000 m micrometer micron
MHz 1000000 Hz megahertz
kHz 1000 Hz kilohertz|GHz 1000000000 Hz gigahertz|kPa 1000 Pa kilopascal|MPa 1000000 Pa megapascal
MW 1000000 W megawatt|mW 1/1000 W milliwatt|MJ 1000000 J megajoule|kN 1000 N kilonewton kn
keV 1000 eV|MeV 1000000 eV|GeV 1000000000 eV
mA 1/1000 A milliampere|mV 1/1000 V millivolt|kV 1000 V kilovolt kv|kohm 1000 ohm|mmol 1/1000 mol
angstrom 1/10000000000 m ångström angstroms|AU 149597870700 m au|kWh 3600000 J|H 1 H henry|Wb 1 Wb weber|M 1 M molar
bar 1 bar|torr 1 torr mmHg
米 1 m|厘米 1/100 m|千米 1000 m|公里 1000 m|毫米 1/1000 m|分米 1/10 m
克 1 g|千克 1000 g|公斤 1000 g|吨 1 ton|秒 1 s|分钟 60 s|分 60 s|小时 3600 s|时 3600 s|天 86400 s|元 1 yuan
升 1 L|毫升 1/1000 L
"""
_PREFIX: Final = {"square": 2, "sq": 2, "cubic": 3, "cu": 3, "平方": 2, "立方": 3}
# derived units as a scale and powers of base units
_DERIVED: Final = {
    "N": (Fraction(1000), (("g", 1), ("m", 1), ("s", -2))),
    "J": (Fraction(1000), (("g", 1), ("m", 2), ("s", -2))),
    "W": (Fraction(1000), (("g", 1), ("m", 2), ("s", -3))),
    "Pa": (Fraction(1000), (("g", 1), ("m", -1), ("s", -2))),
    "Hz": (Fraction(1), (("s", -1),)),
    "L": (Fraction(1, 1000), (("m", 3),)),
    "C": (Fraction(1), (("A", 1), ("s", 1))),
    "V": (Fraction(1000), (("g", 1), ("m", 2), ("s", -3), ("A", -1))),
    "ohm": (Fraction(1000), (("g", 1), ("m", 2), ("s", -3), ("A", -2))),
    "F": (Fraction(1, 1000), (("g", -1), ("m", -2), ("s", 4), ("A", 2))),
    "T": (Fraction(1000), (("g", 1), ("s", -2), ("A", -1))),
    "H": (Fraction(1000), (("g", 1), ("m", 2), ("s", -2), ("A", -2))),
    "Wb": (Fraction(1000), (("g", 1), ("m", 2), ("s", -2), ("A", -1))),
    "M": (Fraction(1000), (("mol", 1), ("m", -3))),
    "eV": (Fraction(1602176634, 10**25), (("g", 1), ("m", 2), ("s", -2))),
    "cal": (Fraction(4184), (("g", 1), ("m", 2), ("s", -2))),
    "atm": (Fraction(101325000), (("g", 1), ("m", -1), ("s", -2))),
    "bar": (Fraction(10**8), (("g", 1), ("m", -1), ("s", -2))),
    "torr": (Fraction(101325000, 760), (("g", 1), ("m", -1), ("s", -2))),
}
# prefixes of the SI: symbols before symbols, words before words
_PREFIXES: Final = {
    "f": -15, "p": -12, "n": -9, "u": -6, "m": -3, "c": -2, "k": 3, "M": 6, "G": 9, "T": 12,
    "femto": -15, "pico": -12, "nano": -9, "micro": -6, "milli": -3, "centi": -2, "kilo": 3, "mega": 6, "giga": 9,
}  # fmt: skip
_SYMBOLS: Final = frozenset("m g s A V W J N C F T H L M Pa Hz eV mol bar Wb cal".split())
_NAMES: Final = frozenset(
    "meter metre gram second ampere volt watt joule newton coulomb farad tesla henry liter litre pascal hertz mole bar "
    "electronvolt ohm molar weber calorie".split()
)
_COMPOUND: Final = {"mph": "mile/hour", "kmh": "km/h", "kph": "km/h", "fps": "ft/s", "cc": "cm^3", "sqft": "square ft"}
_NOTHING: Final = frozenset(
    "unit units u one of the a an total in all each about exactly only approximately roughly".split()
)
_GENERIC: Final = ("unit", "units")
_FILLER: Final = frozenset("of the a an in total each different possible distinct 个 有 共".split())
_HIGH_POWER: Final = re.compile(r"\d{3}$")
_MONEY: Final = frozenset("dollar euro gbp yuan inr krw rub jpy".split())
# a phrase with one of these is no unit: it revokes the answer, or adds another
_TEMPERATURE: Final = re.compile(r"\bdegrees? (celsius|centigrade|fahrenheit)\b", re.IGNORECASE)
_NO_UNIT: Final = frozenset(
    "or and not any if when unless either neither maybe perhaps possibly is are was were be but else otherwise than "
    "least most more less fewer except without wrong correct incorrect never no never between to for where "
    "since because yes true false instead rather".split()
)


def _load() -> dict[str, tuple[Fraction, str]]:
    known: dict[str, tuple[Fraction, str]] = {}
    for entry in re.split(r"[|\n]", _TABLE):
        if entry.strip():
            name, scale, base, *aliases = entry.split()
            for alias in (name, *aliases):
                known[alias] = (Fraction(scale), base)
    return known


_KNOWN: Final = _load()


class Unit(NamedTuple):
    """A scale and base units with their powers, sorted by name; `powers` empty means no unit.

    below: the part of the scale after "per".
    """

    scale: Fraction
    powers: tuple[tuple[str, int], ...]
    below: Fraction = Fraction(1)


NO_UNIT: Final = Unit(Fraction(1), ())


def is_unit_word(word: str) -> bool:
    """Whether a word is in the table of units."""
    return _look_up(word) is not None or word.lower() in _COMPOUND or word.lower() in ("units", "unit", *_PREFIX)


@lru_cache(maxsize=10_000)
def parse_unit(phrase: str) -> Unit:
    """Parse a phrase such as `km/h`, `square inches` or `meters per second`; raises `UnreadableError` on a sentence."""
    scale, below, powers, sign = Fraction(1), Fraction(1), dict[str, int](), 1
    power = 1
    for word in _unit_words(phrase):
        if word == "/":
            sign = -1
            continue
        name, _, exponent = (part.strip() for part in word.partition("^"))
        if name.lower() in _PREFIX:
            power = _PREFIX[name.lower()]
            continue
        if name.lower() in ("squared", "cubed") and powers:
            last = list(powers)[-1]
            factor = 2 if name.lower() == "squared" else 3
            scale, powers[last] = scale**factor, powers[last] * factor
            continue
        if name == "in" and (exponent or power != 1 or sign < 0):
            name = "inch"
        is_area = name.lower() in _GENERIC and (power != 1 or exponent)  # square units, not cubic units
        is_article = name != "A" and (name.lower() in _NOTHING or name.lower() in _FILLER)
        if not is_area and (name.isdigit() or is_article):
            power = 1
            continue
        for prefix, chinese in (("平方", 2), ("立方", 3)):
            if name.startswith(prefix):
                name, power = name.removeprefix(prefix), chinese
        unit_scale, base = _look_up(name) or (Fraction(1), _singular(name))
        total = sign * power * (int(exponent) if exponent else 1)
        more, parts = _DERIVED.get(base, (Fraction(1), ((base, 1),)))
        scale *= (unit_scale * more) ** total
        below *= (unit_scale * more) ** total if sign < 0 else 1
        for part, times in parts:
            powers[part] = powers.get(part, 0) + total * times
        power = 1
    return Unit(scale, tuple(sorted((name, power) for name, power in powers.items() if power)), below)


def _unit_words(phrase: str) -> list[str]:
    """The words of a phrase with their powers, and a slash for "per"."""
    phrase = _COMPOUND.get(phrase.strip().lower(), phrase.strip())
    phrase = "inch" if phrase == "in" else _TEMPERATURE.sub(r"\1", phrase)
    phrase = re.sub(r"\\text\{|[{}()]|\\", " ", phrase).replace("^ ", "^")
    phrase = re.sub(r"\s*\bper\b\s*|\s*/\s*|每", " / ", re.sub(r"[·⋅*]", " ", phrase))
    words = re.findall(r"[^\W\d_]+(?:\s*\^\s*-?\d+)?|/|\d+", phrase)
    if len(words) > 8 or not _NO_UNIT.isdisjoint(word.lower() for word in words):
        raise UnreadableError("a sentence, not a unit")
    if words and words[0].lower() in ("squared", "cubed"):
        raise UnreadableError("a power of the value")
    if any(word.isdigit() or word.endswith(("^0", "^ 0")) or _HIGH_POWER.search(word) for word in words):
        raise UnreadableError("another number, or a zero or high power")
    return words


def without_rate(unit: Unit, other: Unit) -> Unit:
    """The unit without its rate if it is money per day or piece and the other side is plain money: $18 per day."""
    above = tuple((name, power) for name, power in unit.powers if power > 0)
    is_bare_money = len(other.powers) == 1 and other.powers[0][0] in _MONEY
    return Unit(unit.scale / unit.below, above) if is_bare_money and above != unit.powers else unit


def do_conflict(a: Unit, b: Unit) -> bool:
    """Whether two units are both given and cannot measure the same thing. A shared head noun is no conflict."""
    if not a.powers or not b.powers or a.powers == b.powers:
        return False
    for unit, other in ((a, b), (b, a)):
        if is_generic(unit):
            return len(other.powers) != 1 or other.powers[0][1] != unit.powers[0][1]
    unknown_a, unknown_b = ({name for name, _ in u.powers if name not in _BASES} for u in (a, b))
    return not unknown_a & unknown_b


def is_generic(unit: Unit) -> bool:
    """Whether a unit is only a power: square units."""
    return len(unit.powers) == 1 and unit.powers[0][0] == "unit"


_IRREGULAR: Final = {
    "people": "person",
    "children": "child",
    "men": "man",
    "women": "woman",
    "mice": "mouse",
    "geese": "goose",
    "teeth": "tooth",
    "dice": "die",
    "vertices": "vertex",
}
_IN_CAPITALS: Final = ("KM", "CM", "MM", "KG", "ML", "FT", "HR", "KW", "KJ", "KN", "KV")
_IN_ANY_CASE: Final = frozenset(
    "km cm kg ml ft hr hrs min sec lb lbs oz yd gal usd eur cny rmb day kw kj kn kv".split()
)
_MIN_WORD: Final = 4  # below, the case of a letter may tell units apart: mW and MW
_BASES: Final = frozenset(base for _, base in _KNOWN.values())


def _look_up(word: str) -> tuple[Fraction, str] | None:
    is_product = word.isupper() and len(word) == 2 and word not in _IN_CAPITALS  # GM, MS: letters of a formula
    is_symbol = len(word) < _MIN_WORD and word not in _IN_CAPITALS and word.lower() not in _IN_ANY_CASE
    forms = (word, word.lower(), _singular(word))
    if is_product or is_symbol:
        forms = (word, word, word if is_product else word.removesuffix("s"))
    for form in forms:
        if form in _KNOWN:
            return _KNOWN[form]
    return _prefixed(word)


def _prefixed(word: str) -> tuple[Fraction, str] | None:
    """A unit with a prefix that the table lacks: `nF`, `microcoulombs`."""
    if word.isupper() and len(word) == 2:
        return None  # GM: letters of a formula
    for prefix, power in _PREFIXES.items():
        rest = word.removeprefix(prefix)
        is_symbol = len(prefix) == 1
        if rest in (word, "") or is_symbol != (len(rest) < _MIN_WORD):
            continue
        if (is_symbol and rest in _SYMBOLS) or (not is_symbol and _singular(rest) in _NAMES):
            scale, base = _KNOWN[rest if is_symbol else _singular(rest)]
            return scale * Fraction(10) ** power, base
    return None


def _singular(word: str) -> str:
    word = word.lower()
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("ches", "shes", "xes", "sses")):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith("ss") and len(word) > 2 else word
