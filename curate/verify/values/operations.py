"""Operations on balls, which refuse a tower, factorial or exponential beyond the limits before computing it."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any, Final

from curate.verify.nodes import Node, TooLargeError
from curate.verify.values.balls import (
    Ball,
    UndefinedError,
    constant,
    error,
    finite,
    is_exactly_real,
    magnitude,
    rational,
)
from curate.verify.values.exact import NotExactError, binomial, factorial, fraction

MAX_MAGNITUDE: Final = 2_000_000  # bits before the point; more is refused
MAX_EXPONENT: Final = 21  # log2 of the largest argument of the exponential
MAX_ARGUMENT: Final = 200  # log2 of the largest argument of a function that is not a power
MAX_GAMMA: Final = 17
MAX_WHOLE: Final = 40
ONE: Final = Fraction(1)

Operation = Callable[[list[Ball], Node], Ball]


def _add(balls: list[Ball], _: Node) -> Ball:
    total = balls[0]
    for ball in balls[1:]:
        total = total + ball
    return total


def _mul(balls: list[Ball], _: Node) -> Ball:
    product = balls[0]
    for ball in balls[1:]:
        product = product * ball
    return product


def _div(balls: list[Ball], _: Node) -> Ball:
    return balls[0] / _nonzero(balls[1])


def _nonzero(ball: Ball) -> Ball:
    if ball.contains(0):
        raise UndefinedError
    return ball


def _deg(balls: list[Ball], _: Node) -> Ball:
    return balls[0] * constant("pi") / 180


def _pct(balls: list[Ball], _: Node) -> Ball:
    return balls[0] / 100


def _neg(balls: list[Ball], _: Node) -> Ball:
    return -balls[0]


def _pow(balls: list[Ball], node: Node) -> Ball:
    base, exponent = balls
    if exponent.is_zero():
        return rational(ONE)
    integer = _as_int(node.args[1], exponent)
    if base.contains(0):
        return _zero_power(base, exponent, integer)
    if integer is not None and abs(integer) < 10_000:
        _check_size(abs(integer) * max(abs(magnitude(base)), 1))
        return base**integer
    if (root := _odd_root(node.args[1])) and _is_negative(base):
        top, index = root
        positive = _pow([-base, exponent], node)
        return positive * (-1) ** (top % 2) if index % 2 else positive
    return _exp([finite(base.log()) * exponent], node)


def _odd_root(exponent: Node) -> tuple[int, int] | None:
    """(p, q) of an exponent p/q with odd q > 1, for the real root of a negative number; else None."""
    try:
        value = fraction(exponent)
    except (NotExactError, TooLargeError):
        return None
    return (value.numerator, value.denominator) if value.denominator % 2 and value.denominator > 1 else None


def _zero_power(base: Ball, exponent: Ball, integer: int | None) -> Ball:
    """A base that may be zero, to a positive power: zero, within the power of its bound."""
    if not is_exactly_real(exponent) or not exponent.real > 0:
        raise UndefinedError
    if integer is not None and integer < 10_000:
        return base**integer
    return _around_zero(base.abs_upper() ** exponent.real)


def _around_zero(bound: Any) -> Ball:  # Any: flint.arb
    """Zero with an error of at most `bound` in both parts."""
    from flint import acb, arb

    radius = bound.upper()
    return acb(arb(0, radius), arb(0, radius)) if radius else acb(0)


def _as_int(node: Node, ball: Ball) -> int | None:
    """The whole number that a value equals within its error; None if there is none."""
    if node.op == "num" and node.value is not None:
        return node.value.numerator if node.value.denominator == 1 else None
    if is_exactly_real(ball) and abs(magnitude(ball)) < MAX_WHOLE and error(ball) < -MAX_WHOLE:
        whole = ball.real.unique_fmpz()
        return None if whole is None else int(whole)
    return None


def _is_negative(ball: Ball) -> bool:
    return is_exactly_real(ball) and bool(ball.real < 0)


def _check_size(bits: int) -> None:
    if bits > MAX_MAGNITUDE:
        raise TooLargeError("power")


def _root(balls: list[Ball], node: Node) -> Ball:
    index, base = _as_int(node.args[0], balls[0]), balls[1]
    if index is None or not 1 <= index <= 10_000:
        inverse = _div([rational(ONE), balls[0]], node)
        return _pow([base, inverse], Node("pow", (node.args[1], node)))
    if base.is_zero():
        return base
    if base.contains(0):
        return _around_zero(base.abs_upper() ** rational(Fraction(1, index)).real)
    if index % 2 and _is_negative(base):
        return -((-base).root(index))
    return base.sqrt() if index == 2 else base.root(index)


def _exp(balls: list[Ball], _: Node) -> Ball:
    if magnitude(balls[0]) > MAX_EXPONENT:
        raise TooLargeError("exponential")
    return balls[0].exp()


def _log(balls: list[Ball], _: Node) -> Ball:
    return _nonzero(balls[0]).log()


def _log_base(balls: list[Ball], node: Node) -> Ball:
    base = balls[1] if len(balls) > 1 else rational(Fraction(10))
    return _div([_log(balls[:1], node), _log([base], node)], node)


def _lg(balls: list[Ball], node: Node) -> Ball:
    return _log_base(balls[:1], node)


def _function(name: str) -> Operation:
    """A function of Arb; `name` comes from the table below, never from the text."""

    def apply(balls: list[Ball], _: Node) -> Ball:
        if magnitude(balls[0]) > MAX_ARGUMENT:
            raise TooLargeError(name)
        if name in ("sinh", "cosh") and magnitude(balls[0]) > MAX_EXPONENT:
            raise TooLargeError(name)
        return getattr(balls[0], name)()

    return apply


def _abs(balls: list[Ball], _: Node) -> Ball:
    from flint import acb

    return acb(abs(balls[0]))


def _floor(balls: list[Ball], node: Node) -> Ball:
    from flint import acb

    if not is_exactly_real(balls[0]) or error(balls[0]) > -20:
        raise UndefinedError
    if (whole := balls[0].real.unique_fmpz()) is not None:
        return acb(whole)
    return acb(balls[0].real.floor() if node.name == "floor" else balls[0].real.ceil())


def _fact(balls: list[Ball], node: Node) -> Ball:
    number = _as_int(node.args[0], balls[0])
    if number is not None and 0 <= number <= 20_000:
        return rational(factorial(Fraction(number), node.name))
    if node.name == "!!" or magnitude(balls[0]) > MAX_GAMMA:
        raise TooLargeError("factorial")
    if number is not None:
        raise UndefinedError
    return (balls[0] + 1).gamma()


def _binom(balls: list[Ball], node: Node) -> Ball:
    top, bottom = (_as_int(arg, ball) for arg, ball in zip(node.args, balls, strict=True))
    if top is not None and bottom is not None:
        try:
            return rational(binomial(Fraction(top), Fraction(bottom)))
        except NotExactError:
            raise UndefinedError from None
    if max(magnitude(ball) for ball in balls) > MAX_GAMMA:
        raise TooLargeError("binomial")
    above, below = balls
    return (above + 1).gamma() * (below + 1).rgamma() * (above - below + 1).rgamma()


def _extreme(balls: list[Ball], node: Node) -> Ball:
    from flint import acb

    if not all(is_exactly_real(ball) for ball in balls):
        raise UndefinedError
    best = balls[0].real
    for ball in balls[1:]:
        best = best.max(ball.real) if node.name == "max" else best.min(ball.real)
    return acb(best)


OPERATIONS: Final[dict[str, Operation]] = {
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
    **{f"fn {name}": _function(name) for name in ("sin", "cos", "tan", "cot", "sec", "csc")},
    **{f"fn {name}": _function(name) for name in ("sinh", "cosh", "tanh", "coth", "asin", "acos", "atan")},
    **{f"fn arc{name}": _function(f"a{name}") for name in ("sin", "cos", "tan")},
}
