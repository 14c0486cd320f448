r"""Compares sets of real numbers: intervals, unions, inequalities, points, complements, all as sorted pieces.

`(-\infty,5)`, `x<5`, `\{x|x<5\}` and `\mathbb{R}\setminus[5,\infty)` become the same piece. End points remain trees,
ordered by value and compared by proof.
"""

from __future__ import annotations

import math
from typing import Final, NamedTuple

from curate.verify.compare.kinds.outcomes import Sameness, compare_values
from curate.verify.nodes import Node, UnreadableError, num, symbols, walk
from curate.verify.values.numeric import approximate

_INF: Final = Node("const", (), None, "infty")
_MINUS_INF: Final = Node("neg", (_INF,))
_INFINITE: Final = (_INF, _MINUS_INF)
REALS: Final = Node("const", (), None, "R")
_HALF_LINES: Final = {"R+": (">", 0), "R-": ("<", 0), "R>=0": (">=", 0), "R<=0": ("<=", 0)}
_FLIP: Final = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "=", "!=": "!="}


class End(NamedTuple):
    """An end point: its value for ordering, its tree for comparison."""

    at: float
    node: Node


class Piece(NamedTuple):
    """An interval; a point if both ends are equal and closed."""

    low: End
    high: End
    has_low: bool
    has_high: bool


Pieces = tuple[Piece, ...]
LINE: Final[Pieces] = (Piece(End(-math.inf, _MINUS_INF), End(math.inf, _INF), False, False),)


def is_set_like(node: Node) -> bool:
    """Whether a tree can only mean a set of reals: a union, a half-open or infinite interval, an inequality."""
    if node.op in ("union", "cap", "minus", "such") or (
        node.op == "in" and node.name == "in" and _is_unknown(node.args[0])
    ):
        return True
    if node == REALS or _is_half_line(node):
        return True
    if node.op == "paren" and len(node.args) == 2:
        return node.name in ("(]", "[)") or _INF in node.args or _MINUS_INF in node.args
    if node.op == "rel":
        return set(node.name.split()) != {"="} and "~" not in node.name and _has_variable(node)
    if node.op == "add" and len(node.args) == 2 and node.args[1].op == "neg":
        return is_set_like(node.args[0]) and node.args[1].args[0].op in ("set", "paren")
    return node.op == "list" and any(is_set_like(arg) for arg in node.args)


def _is_unknown(node: Node) -> bool:
    """Whether a side may be the unknown of a set: x, f(x), and not 7x."""
    return node.op == "sym" or (node.op == "mul" and all(part.op == "sym" for part in node.args))


def closes_infinity(node: Node) -> bool:
    """Whether an interval contains an infinite end, as in (2, infinity], which no set of reals does."""
    return any(
        n.op == "paren"
        and len(n.args) == 2
        and ((n.name[:1] == "[" and n.args[0] in _INFINITE) or (n.name[1:2] == "]" and n.args[1] in _INFINITE))
        for n in walk(node)
    )


def _is_half_line(node: Node) -> bool:
    return node.op == "const" and node.name in _HALF_LINES


def pieces(node: Node) -> Pieces:
    """The set of reals that a tree means; raises `UnreadableError` if it means none."""
    if node.op in ("union", "cap", "minus", "add"):
        return _operation(node)
    if node.op == "paren" and len(node.args) == 2:
        return merge([_interval(node)])
    if node.op == "set":
        return merge([Piece(_end(arg), _end(arg), True, True) for arg in node.args])
    if node == REALS:
        return LINE
    if _is_half_line(node):
        sign, end = _HALF_LINES[node.name]
        return _bound(Node("sym", (), None, "x"), sign, num(end))
    if node.op in ("in", "such"):
        return _membership(node)
    if node.op == "rel":
        return _relation(node)
    if node.op == "list":
        return _listed(node)
    raise UnreadableError("not a set of reals")


def _operation(node: Node) -> Pieces:
    """A union, intersection or difference; a difference may be written with a minus sign."""
    if node.op == "add":
        if not is_set_like(node):
            raise UnreadableError("not a set of reals")
        node = Node("minus", (node.args[0], node.args[1].args[0]))
    left, right = (pieces(arg) for arg in node.args)
    if node.op == "union":
        return merge([*left, *right])
    return intersect(left, right if node.op == "cap" else complement(right))


def same_set(a: Pieces, b: Pieces) -> Sameness:
    """Whether two sets are equal, piece by piece; unknown if end points cannot be compared."""
    if len(a) != len(b):
        return "different"
    is_known = True
    for p, q in zip(a, b, strict=True):
        if p[2:] != q[2:]:
            return "different"
        for x, y in ((p.low, q.low), (p.high, q.high)):
            outcome = compare_values(x.node, y.node)
            if outcome == "different":
                return "different"
            is_known = is_known and outcome != "unknown"
    return "same" if is_known else "unknown"


def merge(found: list[Piece]) -> Pieces:
    """The sorted, disjoint pieces of a union, without empty ones."""
    real = [p for p in found if p.low.at < p.high.at or (p.low.at == p.high.at and p.has_low and p.has_high)]
    out: list[Piece] = []
    for piece in sorted(real, key=lambda p: (p.low.at, not p.has_low)):
        last = out[-1] if out else None
        if last and (
            piece.low.at < last.high.at or (piece.low.at == last.high.at and (piece.has_low or last.has_high))
        ):
            if (piece.high.at, piece.has_high) > (last.high.at, last.has_high):
                out[-1] = Piece(last.low, piece.high, last.has_low, piece.has_high)
        else:
            out.append(piece)
    return tuple(out)


def intersect(a: Pieces, b: Pieces) -> Pieces:
    """The intersection of two sets."""
    found = []
    for p in a:
        for q in b:
            low, has_low = max((p.low, p.has_low), (q.low, q.has_low), key=lambda e: (e[0].at, not e[1]))
            high, has_high = min((p.high, p.has_high), (q.high, q.has_high), key=lambda e: (e[0].at, e[1]))
            found.append(Piece(low, high, has_low, has_high))
    return merge(found)


def complement(a: Pieces) -> Pieces:
    """The real line without a set."""
    result = LINE
    for p in a:
        left = Piece(LINE[0].low, p.low, False, not p.has_low)
        right = Piece(p.high, LINE[0].high, not p.has_high, False)
        result = intersect(result, merge([left, right]))
    return result


def _end(node: Node) -> End:
    at = approximate(node)
    if at is None or math.isnan(at):
        raise UnreadableError("end point")
    return End(at, node)


def _interval(node: Node) -> Piece:
    low, high = (_end(arg) for arg in node.args)
    if low.at > high.at:
        raise UnreadableError("interval with reversed ends")
    is_low_closed = node.name[0] == "[" and low.at != -math.inf
    is_high_closed = node.name[1] == "]" and high.at != math.inf
    return Piece(low, high, is_low_closed, is_high_closed)


def _membership(node: Node) -> Pieces:
    left, right = node.args
    if node.op == "in" and not _is_unknown(left):
        raise UnreadableError("not an unknown")
    if node.op == "such":
        if not symbols(right) <= symbols(left):
            raise UnreadableError("a condition on another unknown")
        inside = left.args[1] if left.op == "in" else REALS
        return intersect(pieces(inside), pieces(right))
    if node.name == "notin":
        return complement(pieces(right))
    return pieces(right)


def _relation(node: Node) -> Pieces:
    """The set of `a < x <= b`, `x > a`, `x != a`, `|x| < a`: one side with the variable, constants on the others."""
    signs = node.name.split()
    found = LINE
    variable = [side for side in node.args if symbols(side)]
    if len(variable) != 1 or variable[0].op not in ("sym", "mul", "fn"):
        raise UnreadableError("not an inequality for one variable")
    if len(symbols(variable[0])) > 2 or (variable[0].op == "mul" and not _is_unknown(variable[0])):
        raise UnreadableError("not solved for its variable")
    for left, sign, right in zip(node.args, signs, node.args[1:], strict=False):
        if variable[0] not in (left, right):
            raise UnreadableError("two constants compared")
        is_left = left == variable[0]
        found = intersect(
            found, _bound(variable[0], sign if is_left else _FLIP.get(sign, ""), right if is_left else left)
        )
    return found


def _bound(side: Node, sign: str, constant: Node) -> Pieces:
    end = _end(constant)
    if side.op == "fn":
        return _absolute(side, sign, constant)
    point = (Piece(end, end, True, True),)
    if sign in ("=", "!="):
        return point if sign == "=" else complement(point)
    if sign in ("<", "<="):
        return merge([Piece(LINE[0].low, end, False, sign == "<=")])
    if sign in (">", ">="):
        return merge([Piece(end, LINE[0].high, sign == ">=", False)])
    raise UnreadableError(sign)


def _absolute(side: Node, sign: str, constant: Node) -> Pieces:
    if side.name != "abs" or side.args[0].op != "sym" or sign not in ("<", "<=", ">", ">=", "="):
        raise UnreadableError("not solved for its variable")
    low, high = _end(Node("neg", (constant,))), _end(constant)
    if sign == "=":
        return merge([Piece(end, end, True, True) for end in (low, high) if high.at >= 0])
    inside = merge([Piece(low, high, sign in ("<=", ">"), sign in ("<=", ">"))])
    return inside if sign[0] == "<" else complement(inside)


def _has_variable(node: Node) -> bool:
    return bool(symbols(node))


def _listed(node: Node) -> Pieces:
    """The union of `x<1 or x>3`, the intersection of `x>=-3, x != 0`; a comma between disjoint parts is a union.

    Sets that overlap, `[0,2], [1,3]`, are several answers: raises `UnreadableError`.
    """
    if len(symbols(node)) > 1:
        raise UnreadableError("several unknowns")
    args = _with_exclusions(node.args)
    parts = [pieces(arg) if arg.op != "num" else pieces(Node("set", (arg,))) for arg in args]
    union = merge([piece for part in parts for piece in part])
    if node.name == "or":
        return union
    if not all(arg.op in ("rel", "in") for arg in args):
        if len(union) != sum(len(part) for part in parts):
            raise UnreadableError("several sets")
        return union
    both = parts[0]
    for part in parts[1:]:
        both = intersect(both, part)
    return both if both or node.name == "and" else union


def _with_exclusions(args: tuple[Node, ...]) -> tuple[Node, ...]:
    """The parts of `x != -1, 4` with the second value excluded too."""
    first, *others = args
    if first.op != "rel" or first.name != "!=" or first.args[0].op != "sym" or any(symbols(arg) for arg in others):
        return args
    return (first, *(first._replace(args=(first.args[0], arg)) for arg in others))
