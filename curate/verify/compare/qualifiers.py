r"""Removes the statement that a constant is any real number: `f(x)=kx, \text{ where } k\in\mathbb{R}`."""

from __future__ import annotations

from curate.verify.compare.kinds.intervals import REALS
from curate.verify.compare.kinds.set_names import Sides
from curate.verify.nodes import Node, rename, symbols


def without_qualifiers(truth: Node, answer: Node) -> Sides:
    """Both sides without their arbitrary constant's range; the constant of the answer is named as in the truth."""
    (plain_t, name_t), (plain_a, name_a) = _plain(truth), _plain(answer)
    if name_t is None and name_a is None:
        return Sides(truth, answer)
    only_t, only_a = symbols(plain_t) - symbols(plain_a), symbols(plain_a) - symbols(plain_t)
    if len(only_t) == len(only_a) == 1 and (name_t in only_t or name_a in only_a):
        plain_a = rename(plain_a, {next(iter(only_a)): next(iter(only_t))})
    return Sides(plain_t, plain_a)


def _plain(node: Node) -> tuple[Node, str | None]:
    """An equation without the range of one of its constants, and the constant; any other tree and None."""
    if node.op != "list" or len(node.args) != 2:
        return node, None
    equation, range_ = node.args
    if equation.op != "rel" or range_.op != "in" or range_.args[1] != REALS or range_.args[0].op != "sym":
        return node, None
    name = range_.args[0].name
    is_constant = name in symbols(equation.args[-1]) and name not in symbols(equation.args[0])
    return (equation, name) if is_constant else (node, None)
