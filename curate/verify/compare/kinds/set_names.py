"""Reads names of sets: words such as "no solution", the letter R, and a name before a set, as in D = [0,1)."""

from __future__ import annotations

from typing import Final, NamedTuple

from curate.verify.compare.kinds import intervals
from curate.verify.nodes import Node
from curate.verify.vocabulary.words import means_infinitely_many, named_set

_LETTER_R: Final = Node("sym", (), None, "R")
_INFTY: Final = Node("const", (), None, "infty")
_SETS: Final = ("paren", "set", "union", "cap", "minus", "such")


class Sides(NamedTuple):
    """A ground truth and an answer, both rewritten."""

    truth: Node
    answer: Node


class _Named(NamedTuple):
    """A side: its name or None, and the set itself."""

    name: Node | None
    value: Node


def with_symbols(truth: Node, answer: Node) -> Sides:
    """Both sides with symbols for words and letters that name a set, if the other side shows that they do."""
    truth, answer = _real_numbers(truth, answer), _real_numbers(answer, truth)
    return Sides(_infinitely_many(truth, answer), _infinitely_many(answer, truth))


def from_words(node: Node) -> Node:
    """The set named by words such as all real numbers or no solution; the tree itself if they name none."""
    name = named_set(node.name) if node.op == "text" else None
    if name is None:
        return node
    return Node("set") if name == "empty" else Node("const", (), None, name)


def _real_numbers(node: Node, other: Node) -> Node:
    """The letter R as the real numbers if the other side is a set."""
    return intervals.REALS if node == _LETTER_R and intervals.is_set_like(other) else node


def _infinitely_many(node: Node, other: Node) -> Node:
    """The words "infinitely many" as the infinity sign if the other side has that sign."""
    return other if other == _INFTY and node.op == "text" and means_infinitely_many(node.name) else node


def without_names(truth: Node, answer: Node) -> Sides | None:
    """Both sides without the name of a set; None if two names differ."""
    ours, theirs = _named(truth), _named(answer)
    if ours.name is None and theirs.name is None:
        return Sides(truth, answer)
    if not (intervals.is_set_like(ours.value) or intervals.is_set_like(theirs.value)):
        return Sides(truth, answer)
    if ours.name is not None and theirs.name is not None and ours.name != theirs.name:
        return None
    return Sides(ours.value, theirs.value)


def _named(node: Node) -> _Named:
    if node.op != "rel" or node.name != "=" or node.args[1].op not in _SETS:
        return _Named(None, node)
    is_label = node.args[0].op in ("sym", "text", "cap", "union", "minus")
    return _Named(node.args[0], node.args[1]) if is_label else _Named(None, node)
