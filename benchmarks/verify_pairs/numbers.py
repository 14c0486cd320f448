"""Kinds of numbers: whole, fractional, decimal, grouped, huge, tiny."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Final

from verify_pairs.made import Made, Rng, frac, proper


def _integer(r: Rng) -> Made:
    n = r.randrange(2, 10**6)
    equal = (
        f"{n:,}",
        f"{n}.0",
        f" {n} ",
        f"\\text{{{n}}}",
        f"x={n}",
        f"{n}.",
        f"+{n}",
        f"\\mathbf{{{n}}}",
        f"{n:,}".replace(",", "{,}"),
    )
    return Made(str(n), equal, (str(n + 1), str(-n), f"{n}0", f"{n}.5", f"0.{n}", f"{n}, {n + 1}", str(n)[::-1] + "1"))


def _negative(r: Rng) -> Made:
    n = r.randrange(2, 999)
    return Made(
        f"-{n}",
        (f"−{n}", f"- {n}", f"-{n}.0", f"(-{n})", f"-({n})"),
        (str(n), f"-{n + 1}", f"-{n}0", f"--{n}", f"-\\frac{{1}}{{{n}}}"),
    )


def _fraction(r: Rng) -> Made:
    q = proper(r)
    k = r.randrange(2, 9)
    equal = (
        frac(q, "dfrac"),
        f"{q.numerator}/{q.denominator}",
        f"\\frac{{{q.numerator * k}}}{{{q.denominator * k}}}",
        f"{{{q.numerator}}}/{{{q.denominator}}}",
    )
    return Made(
        frac(q),
        (*equal, f"\\tfrac{{{q.numerator}}}{{{q.denominator}}}"),
        (frac(1 / q), frac(-q), frac(q / 2), f"{float(q):.3f}", str(q.numerator)),
    )


def _bare_fraction(r: Rng) -> Made:
    a, b = r.sample([1, 2, 3, 5, 7], 2)
    q = Fraction(a, b + 2) if b == 1 else Fraction(a, b)
    if q.denominator == 1:
        q = Fraction(1, 3)
    n, d = q.numerator, q.denominator
    return Made(
        f"\\frac{n}{d}" if n < 10 and d < 10 else frac(q),
        (f"\\frac{{{n}}}{{{d}}}", f"\\frac{n}{{{d}}}", f"\\dfrac{{{n}}}{d}"),
        (f"\\frac{d}{n}", f"{n}{d}", str(n)),
    )


def _mixed(r: Rng) -> Made:
    q, whole = proper(r), r.randrange(1, 20)
    total = whole + q
    equal = (
        f"{whole}{frac(q)}",
        f"{whole} {q.numerator}/{q.denominator}",
        f"{whole}\\ {frac(q)}",
        f"{total.numerator}/{total.denominator}",
        f"{whole}+{frac(q)}",
    )
    return Made(frac(total), equal, (str(whole), frac(whole * q), f"{whole + 1}{frac(q)}", f"-{whole}{frac(q)}"))


def _decimal(r: Rng) -> Made:
    n = r.randrange(1, 400) * 2 + 1
    q = Fraction(n, 8)
    return Made(
        f"{float(q)}",
        (f"{float(q):.4f}", frac(q), f"{float(q)}00", f"{n}/8", f"{float(q * 100)}\\%"),
        (f"{float(q + 1)}", f"{float(q) + 0.001}", f"{float(q) * 10}", f"{float(-q)}"),
    )


def _repeating(r: Rng) -> Made:
    d = r.randrange(1, 9)
    q = Fraction(d, 9)
    e = 9 if q == Fraction(1, 3) else d
    return Made(
        frac(q),
        (f"0.\\overline{{{d}}}", f"0.\\dot{{{d}}}", f"0.{d}\\overline{{{d}}}", f"0.({d})"),
        (f"0.{d}", f"0.{str(d) * 6}", f"0.\\overline{{{d}0}}", f"{e}.\\overline{{{d}}}"),
    )


def _percent(r: Rng) -> Made:
    p = r.randrange(1, 100)
    return Made(
        f"{p}\\%",
        (f"{p}%", str(p), f"{p / 100:.2f}", frac(Fraction(p, 100)), f"{p} percent", f"{p}\\text{{ percent}}"),
        (f"{p + 1}%", str(p * 100 + 1), f"{p / 1000:.3f}", f"-{p}%"),
    )


def _thousands(r: Rng) -> Made:
    n = r.randrange(10**4, 10**9)
    grouped = f"{n:,}"
    equal = (
        str(n),
        grouped.replace(",", "{,}"),
        grouped.replace(",", "\\,"),
        grouped.replace(",", " "),
        grouped.replace(",", ",\\!"),
        f"{grouped}.00",
    )
    return Made(
        grouped,
        equal,
        (
            grouped.replace(",", ".", 1).replace(",", ""),
            grouped.replace(",", ", "),
            str(n + 1000),
            str(n)[:-1],
            grouped + ",000",
        ),
    )


def _time(r: Rng) -> Made:
    h, m = r.randrange(1, 12), r.randrange(10, 59)
    return Made(
        f"{h}:{m}",
        (f"{h}{{:}}{m}", f"{h}：{m}", f"\\text{{{h}:{m}}}", f"{h:02d}:{m}", f"{h}:{m} PM"),
        (f"{h}:{m + 1}", f"{h + 1}:{m}", f"{h}.{m}", f"{m}:{h}", f"{h}{m}"),
    )


def _ratio(r: Rng) -> Made:
    a, b = r.sample([2, 3, 5, 7], 2)
    k = r.randrange(2, 6)
    return Made(
        f"{a}:{b}",
        (f"{a} : {b}", f"{a * k}:{b * k}", f"\\frac{{{a}}}{{{b}}}", f"{a}/{b}", f"{a} to {b}", f"{a}\\colon {b}"),
        (f"{b}:{a}", f"{a}:{b + 1}", f"{a}{b}", f"{a}", f"{a}:{b}:1"),
    )


def _long_ratio(r: Rng) -> Made:
    a, b, c = r.sample([2, 3, 5, 7, 9], 3)
    return Made(
        f"{a}:{b}:{c}",
        (f"{2 * a}:{2 * b}:{2 * c}", f"{a} : {b} : {c}"),
        (f"{a}:{c}:{b}", f"{a}:{b}", f"{a}:{b}:{c + 1}", f"{c}:{b}:{a}"),
    )


def _base(r: Rng) -> Made:
    b = r.randrange(3, 8)
    digits = str(r.randrange(1, b)) + "".join(str(r.randrange(b)) for _ in range(3))
    return Made(
        f"{digits}_{b}",
        (f"{digits}_{{{b}}}", f"({digits})_{b}", f"({digits})_{{{b}}}", f"{digits}_{{\\text{{{b}}}}}"),
        (f"{digits}_{b + 1}", f"{digits}1_{b}", str(int(digits, b)), f"{digits[::-1]}1_{b}"),
    )


def _big_integer(r: Rng) -> Made:
    n = r.randrange(10**25, 10**40)
    return Made(str(n), (f"{n:,}", f"{n - 1}+1", f"{n}.0"), (str(n + 1), str(n - 1), f"{n:.15e}", str(n)[:-1]))


def _big_power(r: Rng) -> Made:
    n, k = r.choice([2, 3, 5]), r.randrange(50, 700)
    return Made(
        f"{n}^{{{2 * k}}}",
        (f"{n * n}^{{{k}}}", f"{n}^{{{2 * k - 1}}}\\cdot {n}", f"\\left({n}^{{{k}}}\\right)^2"),
        (f"{n}^{{{2 * k - 1}}}", f"{n}^{{{2 * k}}}+1", f"{n + 1}^{{{2 * k}}}"),
    )


def _tiny_power(r: Rng) -> Made:
    n, k = r.choice([2, 3, 5]), r.randrange(50, 400)
    return Made(
        f"{n}^{{-{k}}}",
        (f"\\frac{{1}}{{{n}^{{{k}}}}}", f"\\left(\\frac{{1}}{{{n}}}\\right)^{{{k}}}"),
        (f"{n}^{{-{k - 1}}}", "0", f"{n}^{{{k}}}", f"-{n}^{{-{k}}}"),
    )


def _scientific(r: Rng) -> Made:
    m, e = r.randrange(11, 99), r.randrange(4, 12)
    return Made(
        f"{m / 10}\\times 10^{{{e}}}",
        (
            f"{m / 10}e{e}",
            f"{m / 10}\\cdot 10^{{{e}}}",
            str(m * 10 ** (e - 1)),
            f"{m / 10}×10^{e}",
            f"{m}\\times10^{{{e - 1}}}",
        ),
        (f"{m / 10}\\times 10^{{{e - 1}}}", f"{m / 10}\\times 10^{{-{e}}}", f"{(m + 1) / 10}\\times 10^{{{e}}}"),
    )


def _factorial(r: Rng) -> Made:
    n = r.randrange(5, 12)
    return Made(
        str(math.factorial(n)),
        (f"{n}!", f"{n}\\cdot {n - 1}!", f"\\frac{{{n + 1}!}}{{{n + 1}}}"),
        (f"{n + 1}!", f"{n}", f"{n}!!", f"({n}-1)!"),
    )


def _tiny_factorial(r: Rng) -> Made:
    n = r.randrange(800, 3000)
    return Made(
        f"\\frac{{1}}{{{n}!}}",
        (f"\\frac{{{n + 1}}}{{{n + 1}!}}", f"1/{n}!", f"({n}!)^{{-1}}"),
        (f"\\frac{{1}}{{{n + 1}!}}", f"\\frac{{1}}{{{n + 2}!}}", "0"),
    )


def _binomial(r: Rng) -> Made:
    n = r.randrange(6, 30)
    k = r.randrange(2, n // 2)
    equal = (
        f"\\binom{{{n}}}{{{k}}}",
        f"\\dbinom{{{n}}}{{{n - k}}}",
        f"{{{n} \\choose {k}}}",
        f"C({n},{k})",
        f"C_{{{n}}}^{{{k}}}",
        f"\\frac{{{n}!}}{{{k}!{n - k}!}}",
    )
    return Made(
        str(math.comb(n, k)),
        equal,
        (f"\\binom{{{n}}}{{{k - 1}}}", f"\\binom{{{n + 1}}}{{{k}}}", f"\\frac{{{n}}}{{{k}}}", f"\\binom{{{k}}}{{{n}}}"),
    )


def _approximation(r: Rng) -> Made:
    n, d = r.choice([(1, 3), (2, 3), (1, 7), (5, 6), (4, 9), (3, 7)])
    q = Fraction(n, d)
    return Made(frac(q), (f"{n}/{d}",), (f"{float(q):.2f}", f"{float(q):.4f}", f"{float(q):.12f}", f"{float(q):.1f}"))


KINDS: Final[dict[str, Callable[[Rng], Made]]] = {
    "integer": _integer,
    "negative": _negative,
    "fraction": _fraction,
    "bare_fraction": _bare_fraction,
    "mixed": _mixed,
    "decimal": _decimal,
    "repeating": _repeating,
    "percent": _percent,
    "thousands": _thousands,
    "time": _time,
    "ratio": _ratio,
    "long_ratio": _long_ratio,
    "base": _base,
    "big_integer": _big_integer,
    "big_power": _big_power,
    "tiny_power": _tiny_power,
    "scientific": _scientific,
    "factorial": _factorial,
    "tiny_factorial": _tiny_factorial,
    "binomial": _binomial,
    "approximation": _approximation,
}
