"""Operations on balls: no tower, factorial or exponential is computed whose magnitude does not fit."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Final

from curate.verify.nodes import Node, TooLargeError
from curate.verify.values.balls import Arithmetic, Ball, UndefinedError, magnitude
from curate.verify.values.exact import NotExactError, binomial, factorial, fraction

MAX_MAGNITUDE: Final = 2_000_000  # bits before the point; more is refused


def _add(ev: Arithmetic, balls: list[Ball], _: Node) -> Ball:
    total = balls[0].mid
    error = balls[0].error
    for ball in balls[1:]:
        total = total + ball.mid
        error = max(error, ball.error, magnitude(total) - ev.bits) + 1
    return Ball(total, error)


def _mul(ev: Arithmetic, balls: list[Ball], _: Node) -> Ball:
    a = balls[0]
    for b in balls[1:]:
        mid = a.mid * b.mid
        errors = (magnitude(a.mid) + b.error, magnitude(b.mid) + a.error, a.error + b.error, magnitude(mid) - ev.bits)
        a = Ball(mid, max(errors) + 2)
    return a


def _div(ev: Arithmetic, balls: list[Ball], _: Node) -> Ball:
    a, b = balls[0], ev.nonzero(balls[1])
    mid = a.mid / b.mid
    size = magnitude(a.mid) - magnitude(b.mid) + 1
    error = max(a.error - magnitude(b.mid), size + ev.relative(b), magnitude(mid) - ev.bits) + 3
    return Ball(mid, error)


def _deg(ev: Arithmetic, balls: list[Ball], _: Node) -> Ball:
    return ev.made(balls[0].mid * ev.ctx.pi / 180, ev.relative(balls[0])) if balls[0].mid else balls[0]


def _pct(ev: Arithmetic, balls: list[Ball], _: Node) -> Ball:
    return ev.made(balls[0].mid / 100, ev.relative(balls[0])) if balls[0].mid else balls[0]


def _neg(_: Arithmetic, balls: list[Ball], __: Node) -> Ball:
    return Ball(-balls[0].mid, balls[0].error)


def _pow(ev: Arithmetic, balls: list[Ball], node: Node) -> Ball:
    base, exponent = balls
    if exponent.mid == 0 and exponent.error < -(10**8):
        return ev.rational(Fraction(1))
    if magnitude(base.mid) <= base.error + 2:
        return _zero_power(ev, base, exponent)
    integer = _as_int(ev, node.args[1], exponent)
    if integer is not None and abs(integer) < 10_000:
        _check_size(abs(integer) * max(abs(magnitude(base.mid)), 1))
        return ev.made(base.mid**integer, ev.relative(base) + abs(integer).bit_length())
    if (root := _odd_root(node.args[1])) and _is_negative(base):
        top, index = root
        positive = _pow(ev, [Ball(-base.mid, base.error), exponent], node)
        return Ball(positive.mid * (-1) ** (top % 2), positive.error) if index % 2 else positive
    log = _log(ev, [base], node)
    product = _mul(ev, [log, exponent], node)
    return _exp(ev, [product], node)


def _odd_root(exponent: Node) -> tuple[int, int] | None:
    """(p, q) of an exponent p/q with odd q: the real root of a negative number."""
    try:
        value = fraction(exponent)
    except (NotExactError, TooLargeError):
        return None
    return (value.numerator, value.denominator) if value.denominator % 2 and value.denominator > 1 else None


def _zero_power(ev: Arithmetic, base: Ball, exponent: Ball) -> Ball:
    if ev.ctx.im(exponent.mid) == 0 and ev.ctx.re(exponent.mid) > 0:
        power = min(float(ev.ctx.re(exponent.mid)), 10.0)
        return Ball(ev.ctx.mpf(0), math.floor(base.error * power) + 2 if base.error < 0 else base.error)
    raise UndefinedError


def _as_int(ev: Arithmetic, node: Node, ball: Ball) -> int | None:
    if node.op == "num" and node.value is not None:
        return node.value.numerator if node.value.denominator == 1 else None
    if ev.ctx.im(ball.mid) == 0 and abs(magnitude(ball.mid)) < 40 and ball.error < -40:
        nearest = int(ev.ctx.nint(ev.ctx.re(ball.mid)))
        return nearest if magnitude(ball.mid - nearest) <= ball.error + 2 else None
    return None


def _is_negative(ball: Ball) -> bool:
    return not hasattr(ball.mid, "_mpc_") and ball.mid < 0


def _check_size(bits: int) -> None:
    if bits > MAX_MAGNITUDE:
        raise TooLargeError("power")


def _root(ev: Arithmetic, balls: list[Ball], node: Node) -> Ball:
    index = _as_int(ev, node.args[0], balls[0])
    base = balls[1]
    if index is None or not 1 <= index <= 10_000:
        return _pow(ev, [base, _div(ev, [ev.rational(Fraction(1)), balls[0]], node)], Node("pow", (node.args[1], node)))
    if magnitude(base.mid) <= base.error + 2:
        return Ball(ev.ctx.mpf(0), base.error // index + 1)
    if index % 2 and _is_negative(base):
        return ev.made(-ev.ctx.root(-base.mid, index), ev.relative(base))
    return ev.made(ev.ctx.root(base.mid, index) if index != 2 else ev.ctx.sqrt(base.mid), ev.relative(base))


def _exp(ev: Arithmetic, balls: list[Ball], _: Node) -> Ball:
    if magnitude(balls[0].mid) > 21:
        raise TooLargeError("exponential")
    return ev.made(ev.ctx.exp(balls[0].mid), balls[0].error)


def _log(ev: Arithmetic, balls: list[Ball], _: Node) -> Ball:
    ball = ev.nonzero(balls[0])
    mid = ev.ctx.log(ball.mid)
    return Ball(mid, max(ev.relative(ball), magnitude(mid) - ev.bits) + 2)


def _log_base(ev: Arithmetic, balls: list[Ball], node: Node) -> Ball:
    base = balls[1] if len(balls) > 1 else ev.rational(Fraction(10))
    return _div(ev, [_log(ev, balls[:1], node), _log(ev, [base], node)], node)


def _lg(ev: Arithmetic, balls: list[Ball], node: Node) -> Ball:
    return _log_base(ev, balls[:1], node)


def _smooth(name: str) -> Callable[[Arithmetic, list[Ball], Node], Ball]:
    """A function whose derivative is at most 1 in size, but for poles and branch points."""

    def apply(ev: Arithmetic, balls: list[Ball], _: Node) -> Ball:
        if magnitude(balls[0].mid) > 200:
            raise TooLargeError(name)
        ball = balls[0]
        try:
            mid = getattr(ev.ctx, name)(ball.mid)  # the name is from the table below, never from the text
        except (ZeroDivisionError, ValueError):
            raise UndefinedError from None
        if ev.ctx.isnan(mid) or ev.ctx.isinf(mid) or magnitude(mid) > ev.bits // 2:
            raise UndefinedError
        slack = 2 * max(magnitude(mid), 0)  # tan' = 1 + tan^2, and likewise at the other poles
        is_branched = name in ("asin", "acos", "acosh", "atanh")
        error = (
            ball.error // 2 if is_branched and abs(abs(ball.mid) - 1) < 2.0 ** (ball.error // 2) else ball.error
        ) + slack
        if name in ("sinh", "cosh"):
            error = ball.error + max(magnitude(mid), 0)
        elif is_branched:
            error += 20
        return Ball(mid, max(error, magnitude(mid) - ev.bits) + 3)

    return apply


def _abs(_: Arithmetic, balls: list[Ball], __: Node) -> Ball:
    return Ball(abs(balls[0].mid), balls[0].error + 1)


def _floor(ev: Arithmetic, balls: list[Ball], node: Node) -> Ball:
    mid = balls[0].mid
    if hasattr(mid, "_mpc_") or balls[0].error > -20:
        raise UndefinedError
    nearest = ev.ctx.nint(mid)
    is_whole = magnitude(mid - nearest) <= balls[0].error + 2
    value = nearest if is_whole else (ev.ctx.floor if node.name == "floor" else ev.ctx.ceil)(mid)
    return Ball(value, -(10**9))


def _fact(ev: Arithmetic, balls: list[Ball], node: Node) -> Ball:
    number = _as_int(ev, node.args[0], balls[0])
    if number is not None and 0 <= number <= 20_000:
        return ev.rational(factorial(Fraction(number), node.name))
    if node.name == "!!" or magnitude(balls[0].mid) > 17:
        raise TooLargeError("factorial")
    if number is not None:
        raise UndefinedError
    return ev.made(ev.ctx.gamma(balls[0].mid + 1), balls[0].error + 20)


def _binom(ev: Arithmetic, balls: list[Ball], node: Node) -> Ball:
    top, bottom = (_as_int(ev, arg, ball) for arg, ball in zip(node.args, balls, strict=True))
    if top is not None and bottom is not None:
        try:
            return ev.rational(binomial(Fraction(top), Fraction(bottom)))
        except NotExactError:
            raise UndefinedError from None
    if max(magnitude(ball.mid) for ball in balls) > 17:
        raise TooLargeError("binomial")
    return ev.made(ev.ctx.binomial(balls[0].mid, balls[1].mid), max(ball.error for ball in balls) + 40)


def _extreme(_: Arithmetic, balls: list[Ball], node: Node) -> Ball:
    if any(hasattr(ball.mid, "_mpc_") for ball in balls):
        raise UndefinedError
    choose = max if node.name == "max" else min
    return choose(balls, key=lambda ball: ball.mid)


def _reciprocal(name: str) -> Callable[[Arithmetic, list[Ball], Node], Ball]:
    inner = _smooth(name)

    def apply(ev: Arithmetic, balls: list[Ball], node: Node) -> Ball:
        return _div(ev, [ev.rational(Fraction(1)), inner(ev, balls, node)], node)

    return apply


OPERATIONS: Final[dict[str, Callable[[Arithmetic, list[Ball], Node], Ball]]] = {
    "add": _add,
    "mul": _mul,
    "div": _div,
    "neg": _neg,
    "pow": _pow,
    "root": _root,
    "fact": _fact,
    "binom": _binom,
    "deg": _deg,
    "pct": _pct,
    "fn exp": _exp,
    "fn ln": _log,
    "fn log": _log_base,
    "fn lg": _lg,
    "fn abs": _abs,
    "fn floor": _floor,
    "fn ceil": _floor,
    "fn max": _extreme,
    "fn min": _extreme,
    **{f"fn {name}": _smooth(name) for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh", "asin", "acos", "atan")},
    **{f"fn arc{name}": _smooth(f"a{name}") for name in ("sin", "cos", "tan")},
    "fn cot": _reciprocal("tan"),
    "fn sec": _reciprocal("cos"),
    "fn csc": _reciprocal("sin"),
    "fn coth": _reciprocal("tanh"),
}
