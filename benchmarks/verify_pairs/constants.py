"""Kinds of irrational and complex constants."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

from verify_pairs.made import Made, Rng, frac, proper


def _complex(r: Rng) -> Made:
    a, b = r.randrange(1, 20), r.randrange(2, 20)
    return Made(
        f"{a}+{b}i",
        (f"{b}i+{a}", f"{a} + {b} i", f"{a}+{b}\\mathrm{{i}}", f"{a}.0 + {b}.0i", f"-i({a}i-{b})", f"{a}+i{b}"),
        (f"{a}-{b}i", f"-{a}+{b}i", f"{b}+{a + 1}i", f"{a + b}", f"{a}+{b}"),
    )


def _surd(r: Rng) -> Made:
    a, n = r.randrange(2, 9), r.choice([2, 3, 5, 7])
    return Made(
        f"{a}\\sqrt{{{n}}}",
        (
            f"\\sqrt{{{a * a * n}}}",
            f"{a}\\sqrt{n}",
            f"\\frac{{{a * n}}}{{\\sqrt{{{n}}}}}",
            f"{a}*sqrt({n})",
            f"{a}√{n}",
            f"{a}\\cdot {n}^{{1/2}}",
        ),
        (
            f"\\sqrt{{{a * n}}}",
            f"{a + 1}\\sqrt{{{n}}}",
            f"-{a}\\sqrt{{{n}}}",
            f"{a * math.sqrt(n):.3f}",
            f"{a}\\sqrt[3]{{{n}}}",
        ),
    )


def _surd_sum(r: Rng) -> Made:
    n = r.choice([2, 3, 5, 6, 7])
    a = r.randrange(1, 9)
    return Made(
        f"\\sqrt{{{n}}}-{a}",
        (f"-{a}+\\sqrt{n}", f"\\frac{{{n}-{a * a}}}{{\\sqrt{{{n}}}+{a}}}", f"\\sqrt{{{n}}} - {a}"),
        (f"{a}-\\sqrt{{{n}}}", f"\\sqrt{{{n}}}+{a}", f"\\sqrt{{{n}-{a}}}", f"{math.sqrt(n) - a:.4f}"),
    )


def _nested_surd(r: Rng) -> Made:
    a, b = r.sample([2, 3, 5, 7], 2)
    return Made(
        f"\\sqrt{{{a}}}+\\sqrt{{{b}}}",
        (f"\\sqrt{{{a + b}+2\\sqrt{{{a * b}}}}}", f"\\sqrt{{{b}}}+\\sqrt{{{a}}}"),
        (f"\\sqrt{{{a + b}}}", f"\\sqrt{{{a + b}-2\\sqrt{{{a * b}}}}}", f"\\sqrt{{{a}}}-\\sqrt{{{b}}}"),
    )


def _cube_root(r: Rng) -> Made:
    n = r.choice([2, 3, 5, 6, 7])
    return Made(
        f"\\sqrt[3]{{{n * n}}}",
        (f"{n}^{{2/3}}", f"\\left({n}^{{\\frac13}}\\right)^2", f"\\frac{{{n}}}{{\\sqrt[3]{{{n}}}}}"),
        (f"\\sqrt{{{n * n + 1}}}", f"{n}^{{3/2}}", f"\\sqrt[3]{{{n}}}"),
    )


def _pi(r: Rng) -> Made:
    q = proper(r)
    n, d = q.numerator, q.denominator
    return Made(
        f"\\frac{{{n}\\pi}}{{{d}}}",
        (f"{frac(q)}\\pi", f"{n}\\pi/{d}", f"{n}π/{d}", f"\\frac{{{n}}}{{{d}}} \\pi", f"\\pi\\cdot{frac(q)}"),
        (f"-\\frac{{{n}\\pi}}{{{d}}}", f"\\frac{{{n}}}{{{d}\\pi}}", frac(q), f"{float(q) * math.pi:.4f}"),
    )


def _trig(r: Rng) -> Made:
    k = r.randrange(1, 6)
    c = "" if k == 1 else str(k)
    return Made(
        f"\\cos {2 * k}x",
        (
            f"1-2\\sin^2 {c}x" if k == 1 else f"1-2\\sin^2({k}x)",
            f"2\\cos^2({k}x)-1",
            f"\\cos({2 * k}x)",
            f"\\cos^2({k}x)-\\sin^2({k}x)",
        ),
        (f"1+2\\sin^2({k}x)", f"2\\cos({k}x)", f"\\sin({2 * k}x)", f"-\\cos({2 * k}x)"),
    )


def _trig_value(r: Rng) -> Made:
    name, angle, value = r.choice(
        [
            ("sin", 60, "\\frac{\\sqrt3}{2}"),
            ("cos", 45, "\\frac{\\sqrt2}{2}"),
            ("tan", 30, "\\frac{\\sqrt3}{3}"),
            ("sin", 15, "\\frac{\\sqrt6-\\sqrt2}{4}"),
        ]
    )
    return Made(
        value,
        (f"\\{name} {angle}^\\circ", f"\\{name}\\frac{{\\pi}}{{{180 // angle}}}", f"\\{name}({angle}^{{\\circ}})"),
        (f"\\{name} {angle + 1}^\\circ", f"-\\{name} {angle}^\\circ", f"\\{name} {angle}"),
    )


def _log(r: Rng) -> Made:
    n, k = r.choice([2, 3, 5, 7]), r.randrange(2, 6)
    return Made(
        f"\\ln {n**k}",
        (f"{k}\\ln {n}", f"{k}\\ln({n})", f"\\ln({n**k})", f"\\ln {n ** (k + 1)} - \\ln {n}", f"\\log_e {n**k}"),
        (f"{n}\\ln {k + 7}", f"\\ln {n}", f"\\log_2 {n**k}", f"{math.log(n**k):.4f}", f"\\ln^{{{k}}} {n}"),
    )


def _log_base(r: Rng) -> Made:
    b, n = r.sample([2, 3, 5, 7, 11], 2)
    return Made(
        f"\\log_{b} {n}",
        (f"\\frac{{\\ln {n}}}{{\\ln {b}}}", f"\\frac{{1}}{{\\log_{n} {b}}}", f"\\log_{{{b}}}({n})"),
        (f"\\log_{n} {b}", f"\\log_{b} {n + 1}", f"\\frac{{\\ln {b}}}{{\\ln {n}}}"),
    )


def _exponential(r: Rng) -> Made:
    k = r.randrange(2, 9)
    return Made(
        f"e^{{{k}}}-{k}",
        (f"-{k}+e^{k}", f"\\exp({k})-{k}", f"exp({k}) - {k}", f"\\mathrm{{e}}^{{{k}}}-{k}"),
        (f"e^{{{k}}}+{k}", f"{k}e-{k}", f"e^{{-{k}}}-{k}", f"{math.exp(k) - k:.3f}"),
    )


KINDS: Final[dict[str, Callable[[Rng], Made]]] = {
    "complex": _complex,
    "surd": _surd,
    "surd_sum": _surd_sum,
    "nested_surd": _nested_surd,
    "cube_root": _cube_root,
    "pi": _pi,
    "trig": _trig,
    "trig_value": _trig_value,
    "log": _log,
    "log_base": _log_base,
    "exponential": _exponential,
}
