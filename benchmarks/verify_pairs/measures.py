"""Kinds of values with units, currencies and degrees."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Final

from verify_pairs.made import Made, Rng, frac


def _length_unit(r: Rng) -> Made:
    n = r.randrange(2, 500)
    return Made(
        f"{n}\\text{{ cm}}",
        (
            str(n),
            f"{n} cm",
            f"{n}cm",
            f"{n}\\,\\mathrm{{cm}}",
            f"{n} centimeters",
            f"{n * 10}\\text{{ mm}}",
            f"{n / 100}\\text{{ m}}",
        ),
        (f"{n} m", f"{n}\\text{{ cm}}^2", f"{n + 1}\\text{{ cm}}", f"{n} inches", f"{n} kg"),
    )


def _speed_unit(r: Rng) -> Made:
    n = r.randrange(20, 130)
    return Made(
        f"{n}\\text{{ km/h}}",
        (
            f"{n} km/h",
            f"{n} kilometers per hour",
            f"{n} km per hour",
            f"{n}\\text{{ kilometers/hour}}",
            f"{n}\\frac{{\\text{{km}}}}{{\\text{{h}}}}",
            str(n),
        ),
        (f"{n} mph", f"{n} m/s", f"{n} km", f"{n + 5} km/h"),
    )


def _area_unit(r: Rng) -> Made:
    n = r.randrange(3, 90)
    return Made(
        f"{n}\\text{{ square cm}}",
        (
            f"{n}\\text{{ cm}}^2",
            f"{n} cm^2",
            f"{n}\\text{{ cm}}^{{2}}",
            f"{n} square centimeters",
            f"{n} sq cm",
            str(n),
        ),
        (f"{n} cm", f"{n}\\text{{ cm}}^3", f"{n} square meters", f"{n * n}"),
    )


def _unit_power(r: Rng) -> Made:
    n = r.randrange(3, 30)
    return Made(
        str(n * n),
        (f"{n}^2", f"{n * n}\\text{{ cm}}^2", f"{n}\\times{n}"),
        (f"{n}\\text{{ cm}}^2", f"{n}\\text{{ cm}}^{{2}}", f"{n} m^2"),
    )


def _time_unit(r: Rng) -> Made:
    n = r.randrange(2, 30)
    return Made(
        f"{n} hours",
        (f"{n * 60} minutes", f"{n} h", f"{n} hrs", str(n), f"{n}\\text{{ hours}}", f"{n - 1} hours and 60 minutes"),
        (f"{n} minutes", f"{n} days", f"{n + 1} hours", f"{n * 60} hours"),
    )


def _noun(r: Rng) -> Made:
    n, noun, other = r.randrange(2, 90), *r.sample(["apples", "books", "students", "marbles", "chickens", "tickets"], 2)
    return Made(
        str(n),
        (f"{n} {noun}", f"{n}\\text{{ {noun}}}", f"{n} \\text{{{noun}}}"),
        (f"{n + 1} {noun}", f"{n} {noun} and {n + 2} {other}", f"{noun}"),
    )


def _currency(r: Rng) -> Made:
    n = r.randrange(2, 900)
    return Made(
        f"\\${n}",
        (str(n), f"${n}.00", f"\\${n}.00", f"{n} dollars", f"{n}\\text{{ dollars}}", f"{n * 100} cents", f"USD {n}"),
        (f"€{n}", f"\\${n + 1}", f"{n} cents", f"\\${n}0"),
    )


def _degrees(r: Rng) -> Made:
    n = r.choice([15, 20, 30, 36, 40, 45, 50, 60, 72, 75, 80, 100, 120, 135])
    return Made(
        f"{n}^\\circ",
        (str(n), f"{n}°", f"{n}^{{\\circ}}", f"{n} degrees", f"{n}\\degree", f"{frac(Fraction(n, 180))}\\pi"),
        (f"{n + 1}^\\circ", f"{180 - n + 1}^\\circ", f"{n}\\pi", f"-{n}^\\circ"),
    )


KINDS: Final[dict[str, Callable[[Rng], Made]]] = {
    "length_unit": _length_unit,
    "speed_unit": _speed_unit,
    "area_unit": _area_unit,
    "unit_power": _unit_power,
    "time_unit": _time_unit,
    "noun": _noun,
    "currency": _currency,
    "degrees": _degrees,
}
