"""Kinds of equations and expressions in variables."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Final

from verify_pairs.made import Made, Rng, frac


def _assignment(r: Rng) -> Made:
    n = r.randrange(-50, 50) or 7
    return Made(
        f"x={n}",
        (str(n), f"x = {n}", f"{n}=x", f"x={n}.0", f"x = {n - 3} + 3 = {n}"),
        (f"y={n}", f"x={n + 1}", f"x={-n}", f"x={n},x={n + 2}", f"x={n}={n + 1}"),
    )


def _line(r: Rng) -> Made:
    a, b, c = (r.randrange(1, 9) for _ in range(3))
    equal = (
        f"{2 * a}x+{2 * b}y={2 * c}",
        f"{a}x+{b}y-{c}=0",
        f"{b}y={c}-{a}x",
        f"y=-{frac(Fraction(a, b))}x+{frac(Fraction(c, b))}",
        f"{c}={a}x+{b}y",
    )
    return Made(
        f"{a}x+{b}y={c}",
        equal,
        (f"{a}x-{b}y={c}", f"{a}x+{b}y={c + 1}", f"{a}x+{b}y=-{c}", f"{a}x+{b + 1}y={c}", f"{c}"),
    )


def _explicit_line(r: Rng) -> Made:
    m, c = r.randrange(2, 9), r.randrange(1, 9)
    return Made(
        f"y={m}x+{c}",
        (f"y={c}+{m}x", f"{m}x+{c}", f"{m}x-y+{c}=0", f"f(x)={m}x+{c}", f"y-{m}x={c}"),
        (f"y={m}x-{c}", f"y=-{m}x+{c}", f"x={m}y+{c}", f"y={m}x", f"y={m + 1}x+{c}"),
    )


def _circle(r: Rng) -> Made:
    a, b, n = (r.randrange(1, 9) for _ in range(3))
    equal = (
        f"(y+{b})^2+(x-{a})^2={n}",
        f"x^2-{2 * a}x+y^2+{2 * b}y+{a * a + b * b - n}=0".replace("+-", "-"),
        f"2(x-{a})^2+2(y+{b})^2={2 * n}",
    )
    return Made(
        f"(x-{a})^2+(y+{b})^2={n}",
        equal,
        (f"(x+{a})^2+(y+{b})^2={n}", f"(x-{a})^2+(y+{b})^2={n + 1}", f"(x-{a})^2-(y+{b})^2={n}"),
    )


def _ellipse(r: Rng) -> Made:
    a, b = r.sample([2, 3, 5, 7], 2)
    return Made(
        f"\\frac{{x^2}}{{{a * a}}}+\\frac{{y^2}}{{{b * b}}}=1",
        (f"{b * b}x^2+{a * a}y^2={a * a * b * b}", f"\\frac{{y^2}}{{{b * b}}}+\\frac{{x^2}}{{{a * a}}}=1"),
        (
            f"\\frac{{x^2}}{{{b * b}}}+\\frac{{y^2}}{{{a * a}}}=1",
            f"\\frac{{x^2}}{{{a * a}}}-\\frac{{y^2}}{{{b * b}}}=1",
            f"\\frac{{x^2}}{{{3 * a * a}}}+\\frac{{y^2}}{{{3 * b * b}}}=1",
        ),
    )


def _plane(r: Rng) -> Made:
    a, b, c, d = (r.randrange(1, 30) for _ in range(4))
    return Made(
        f"{a}x-{b}y+{c}z-{d}=0",
        (f"-{a}x+{b}y-{c}z+{d}=0", f"{a}x-{b}y+{c}z={d}", f"{2 * a}x-{2 * b}y+{2 * c}z-{2 * d}=0"),
        (f"{a}x+{b}y+{c}z-{d}=0", f"{a}x-{b}y+{c}z+{d}=0", f"{a}x-{b}y+{c + 1}z-{d}=0"),
    )


def _polynomial(r: Rng) -> Made:
    a, b, c = (r.randrange(2, 9) for _ in range(3))
    equal = (f"{c}-{b}x+{a}x^3", f"{a}x^{{3}} - {b}x + {c}", f"x({a}x^2-{b})+{c}", f"{c}+{a}x^3-{b}x")
    return Made(
        f"{a}x^3-{b}x+{c}",
        equal,
        (f"{a}x^3+{b}x+{c}", f"{a}x^2-{b}x+{c}", f"{a}y^3-{b}y+{c}", f"{a}x^3-{b}x-{c}", f"{a}x^3-{b}x"),
    )


def _factored(r: Rng) -> Made:
    a, b = r.sample(range(1, 9), 2)
    return Made(
        f"(x+{a})(x-{b})",
        (f"x^2+{a - b}x-{a * b}".replace("+-", "-"), f"(x-{b})(x+{a})", f"x^2-{b}x+{a}x-{a * b}"),
        (f"(x-{a})(x-{b})", f"(x+{a})(x+{b})", f"x^2-{a * b}", f"x^2+{a - b + 1}x-{a * b}".replace("+-", "-")),
    )


def _rational_function(r: Rng) -> Made:
    a = r.randrange(1, 9)
    return Made(
        f"\\frac{{1}}{{x-{a}}}",
        (f"-\\frac{{1}}{{{a}-x}}", f"\\frac{{x+{a}}}{{x^2-{a * a}}}", f"(x-{a})^{{-1}}", f"1/(x-{a})"),
        (f"\\frac{{1}}{{{a}-x}}", f"\\frac{{1}}{{x+{a}}}", f"\\frac{{1}}{{x}}-{a}", f"1/x-{a}"),
    )


def _sum_formula(r: Rng) -> Made:
    k = r.randrange(1, 5)
    return Made(
        f"\\frac{{n(n+{k})}}{{2}}",
        (f"\\frac{{n^2+{k}n}}{{2}}", f"\\frac12 n(n+{k})", f"n(n+{k})/2"),
        (f"\\frac{{n(n-{k})}}{{2}}", f"n(n+{k})", f"\\frac{{n+{k}}}{{2}}"),
    )


def _power_of_two(r: Rng) -> Made:
    k = r.randrange(1, 6)
    return Made(
        f"2^{{n+{k}}}",
        (f"{2**k}\\cdot 2^n", f"2^n\\cdot {2**k}", f"2^{{{k}+n}}"),
        (f"2^n+{2**k}", f"2^{{n-{k}}}", f"2^{{{k + 1}n+1}}"),
    )


def _floor(r: Rng) -> Made:
    a, b = r.choice([(2, 3), (2, 5), (3, 4), (3, 5), (4, 5)])
    return Made(
        f"\\lfloor\\frac{{{a}n}}{{{b}}}\\rfloor+1",
        (f"1+\\left\\lfloor \\frac{{{a}n}}{{{b}}}\\right\\rfloor", f"\\lfloor\\frac{{{a}n+{b}}}{{{b}}}\\rfloor"),
        (
            f"\\frac{{{a}n}}{{{b}}}+1",
            f"\\lceil\\frac{{{a}n}}{{{b}}}\\rceil+1",
            f"\\lfloor\\frac{{{a}n}}{{{b}}}\\rfloor",
        ),
    )


KINDS: Final[dict[str, Callable[[Rng], Made]]] = {
    "assignment": _assignment,
    "line": _line,
    "explicit_line": _explicit_line,
    "circle": _circle,
    "ellipse": _ellipse,
    "plane": _plane,
    "polynomial": _polynomial,
    "factored": _factored,
    "rational_function": _rational_function,
    "sum_formula": _sum_formula,
    "power_of_two": _power_of_two,
    "floor": _floor,
}
