"""Kinds of lists, sets, intervals, tuples, families and matrices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from verify_pairs.made import Made, Rng, frac, proper


def _number_list(r: Rng) -> Made:
    a, b = r.sample(range(10, 999), 2)
    return Made(
        f"{a}, {b}",
        (f"{b}, {a}", f"{a} and {b}", f"\\{{{a}, {b}\\}}", f"{a}\\text{{ and }}{b}", f"{a}; {b}", f"x={a}, x={b}"),
        (f"{a}", f"{a}, {b}, {a + b}", f"{a}, {b + 1}", f"{a}{b}", f"({b}, {a})", f"{a}+{b}"),
    )


def _interval(r: Rng) -> Made:
    a = r.randrange(-9, 5)
    b = a + r.randrange(1, 9)
    equal = (
        f"[{a},{b})",
        f"\\left[{a}, {b}\\right)",
        f"{a}\\le x<{b}",
        f"x\\in[{a},{b})",
        f"\\{{x\\mid {a}\\leq x<{b}\\}}",
        f"{b}>x\\ge{a}",
        f"x\\ge {a} \\text{{ and }} x<{b}",
    )
    return Made(
        f"[{a}, {b})",
        equal,
        (f"({a},{b})", f"[{a},{b}]", f"({a},{b}]", f"[{a},{b + 1})", f"{a}<x<{b}", f"x<{b}", f"{a}"),
    )


def _ray(r: Rng) -> Made:
    a = r.randrange(-9, 9)
    return Made(
        f"({a},\\infty)",
        (
            f"x>{a}",
            f"({a},+\\infty)",
            f"{a}<x",
            f"x \\in ({a}, \\infty)",
            f"\\{{x|x>{a}\\}}",
            f"\\left({a},\\infty\\right)",
        ),
        (f"[{a},\\infty)", f"x\\ge {a}", f"x<{a}", f"(-\\infty,{a})", f"({a + 1},\\infty)"),
    )


def _union(r: Rng) -> Made:
    a = r.randrange(-9, 0)
    b = r.randrange(1, 9)
    equal = (
        f"({b},\\infty)\\cup(-\\infty,{a})",
        f"x<{a} \\text{{ or }} x>{b}",
        f"x > {b} or x < {a}",
        f"(-\\infty,{a}) \\cup ({b}, +\\infty)",
        f"\\mathbb{{R}}\\setminus[{a},{b}]",
    )
    return Made(
        f"(-\\infty,{a})\\cup({b},\\infty)",
        equal,
        (f"(-\\infty,{a}]\\cup[{b},\\infty)", f"({a},{b})", f"(-\\infty,{a})", f"(-\\infty,{b})\\cup({a},\\infty)"),
    )


def _punctured(r: Rng) -> Made:
    a = r.randrange(1, 9)
    return Made(
        f"(-\\infty,{a})\\cup({a},\\infty)",
        (f"x\\ne {a}", f"x \\neq {a}", f"\\mathbb{{R}}\\setminus\\{{{a}\\}}", f"({a},\\infty)\\cup(-\\infty,{a})"),
        ("\\mathbb{R}", f"x\\ne -{a}", f"x={a}", "(-\\infty,\\infty)"),
    )


def _set(r: Rng) -> Made:
    a, b, c = r.sample(range(-20, 20), 3)
    return Made(
        f"\\{{{a},{b},{c}\\}}",
        (
            f"\\{{{c},{a},{b}\\}}",
            f"{b}, {c}, {a}",
            f"\\{{{a},{b},{c},{a}\\}}",
            f"\\left\\{{ {a}, {b}, {c} \\right\\}}",
            f"{a}, {b} \\text{{ and }} {c}",
        ),
        (f"\\{{{a},{b}\\}}", f"\\{{{a},{b},{c},50\\}}", f"({a},{b},{c})", f"{a}", f"\\{{{a},{b},{c + 41}\\}}"),
    )


def _tuple(r: Rng) -> Made:
    a, b = r.sample(range(-20, 20), 2)
    return Made(
        f"({a},{b})",
        (
            f"({a}, {b})",
            f"\\left({a},{b}\\right)",
            f"({a}.0,{b})",
            f"\\left( {a},\\, {b} \\right)",
            f"({a},\\frac{{{2 * b}}}{{2}})",
            f"x={a}, y={b}",
        ),
        (f"({b},{a})", f"[{a},{b}]", f"\\{{{a},{b}\\}}", f"({a},{b},0)", f"({a},{b + 1})", f"{a}"),
    )


def _triple(r: Rng) -> Made:
    a, b = r.sample(range(-9, 9), 2)
    q = proper(r)
    return Made(
        f"({a},{b},{frac(q)})",
        (f"({a}, {b}, {frac(q, 'dfrac')})", f"({a},{b},{q.numerator}/{q.denominator})"),
        (f"({b},{a},{frac(q)})", f"({a},{b})", f"({a},{b},{frac(-q)})"),
    )


def _points(r: Rng) -> Made:
    a, b, c, d = r.sample(range(-9, 9), 4)
    return Made(
        f"({a},{b}),({c},{d})",
        (
            f"({c},{d}),({a},{b})",
            f"({a},{b}) \\text{{ and }} ({c},{d})",
            f"\\{{({a},{b}),({c},{d})\\}}",
            f"({a}, {b}); ({c}, {d})",
        ),
        (f"({b},{a}),({c},{d})", f"({a},{b})", f"({a},{b},{c},{d})", f"({a},{d}),({c},{b})"),
    )


def _plus_minus(r: Rng) -> Made:
    a, n = r.randrange(1, 9), r.choice([2, 3, 5, 6, 7])
    equal = (
        f"{a}+\\sqrt{{{n}}}, {a}-\\sqrt{{{n}}}",
        f"{a}-\\sqrt{n},{a}+\\sqrt{n}",
        f"x={a}\\pm\\sqrt{{{n}}}",
        f"\\{{{a}+\\sqrt{{{n}}},{a}-\\sqrt{{{n}}}\\}}",
        f"{a} ± √{n}",
    )
    return Made(
        f"{a}\\pm\\sqrt{{{n}}}",
        equal,
        (f"{a}+\\sqrt{{{n}}}", f"-{a}\\pm\\sqrt{{{n}}}", f"{a}\\pm\\sqrt{{{n + 3}}}", f"\\pm\\sqrt{{{n}}}"),
    )


def _signs(r: Rng) -> Made:
    n = r.randrange(2, 50)
    return Made(
        f"\\pm {n}",
        (f"{n}, -{n}", f"-{n},{n}", f"{n} or -{n}", f"x=\\pm {n}", f"±{n}"),
        (str(n), f"-{n}", f"\\pm {n + 1}", f"{n * n}"),
    )


def _family(r: Rng) -> Made:
    d, k = r.choice([3, 4, 5, 6]), r.choice([1, 2])
    period = "\\pi" if k == 1 else "2\\pi"
    equal = (
        f"x=\\frac{{\\pi}}{{{d}}}+{period.replace('pi', 'pi n')}, n\\in\\mathbb{{Z}}",
        f"x=\\frac{{{1 + d * k}\\pi}}{{{d}}}+{'' if k == 1 else 2}m\\pi, m \\in \\mathbb{{Z}}",
        f"\\frac{{\\pi}}{{{d}}}+{'' if k == 1 else 2}k\\pi\\ (k\\in\\mathbb{{Z}})",
    )
    return Made(
        f"x=\\frac{{\\pi}}{{{d}}}+{'' if k == 1 else 2}k\\pi,\\ k\\in\\mathbb{{Z}}",
        equal,
        (
            f"x=\\frac{{\\pi}}{{{d}}}+{3 * k}k\\pi,\\ k\\in\\mathbb{{Z}}",
            f"x=-\\frac{{\\pi}}{{{d}}}+{'' if k == 1 else 2}k\\pi,\\ k\\in\\mathbb{{Z}}",
            f"\\frac{{\\pi}}{{{d}}}",
        ),
    )


def _matrix(r: Rng) -> Made:
    a, b, c, d = r.sample(range(-9, 10), 4)
    body = f"{a}&{b}\\\\{c}&{d}"
    equal = (
        f"\\begin{{bmatrix}}{body}\\end{{bmatrix}}",
        f"\\begin{{pmatrix}} {a} & {b} \\\\ {c} & {d} \\end{{pmatrix}}",
        f"\\left(\\begin{{array}}{{cc}}{body}\\end{{array}}\\right)",
    )
    return Made(
        f"\\begin{{pmatrix}}{body}\\end{{pmatrix}}",
        equal,
        (
            f"\\begin{{pmatrix}}{a}&{c}\\\\{b}&{d}\\end{{pmatrix}}",
            f"\\begin{{pmatrix}}{a}&{b}\\\\{c}&{d + 1}\\end{{pmatrix}}",
            f"\\begin{{pmatrix}}{a}\\\\{b}\\\\{c}\\\\{d}\\end{{pmatrix}}",
        ),
    )


def _vector(r: Rng) -> Made:
    a, b, c = r.sample(range(-9, 10), 3)
    return Made(
        f"\\begin{{pmatrix}}{a}\\\\{b}\\\\{c}\\end{{pmatrix}}",
        (f"\\begin{{bmatrix}}{a}\\\\{b}\\\\{c}\\end{{bmatrix}}", f"({a},{b},{c})"),
        (
            f"\\begin{{pmatrix}}{a}&{b}&{c}\\end{{pmatrix}}",
            f"({b},{a},{c})",
            f"\\begin{{pmatrix}}{a}\\\\{b}\\\\{c + 1}\\end{{pmatrix}}",
        ),
    )


def _hedge(r: Rng) -> Made:
    n = r.randrange(2, 99)
    return Made(
        str(n),
        (f"{n}",),
        (
            f"{n} or {n + 1}",
            f"{n}, {n + 1}",
            f"{n}={n + 1}",
            f"x={n}, y={n + 1}",
            f"{n}\\pm 1",
            f"\\{{{n},{n + 1}\\}}",
            f"{n} \\text{{ or }} {n + 3}",
            f"{n - 1}<x<{n + 1}",
        ),
    )


KINDS: Final[dict[str, Callable[[Rng], Made]]] = {
    "number_list": _number_list,
    "interval": _interval,
    "ray": _ray,
    "union": _union,
    "punctured": _punctured,
    "set": _set,
    "tuple": _tuple,
    "triple": _triple,
    "points": _points,
    "plus_minus": _plus_minus,
    "signs": _signs,
    "family": _family,
    "matrix": _matrix,
    "vector": _vector,
    "hedge": _hedge,
}
