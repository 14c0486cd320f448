"""The formulas of a question as trees, and which of them the question asks to evaluate."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache
from typing import Final, NamedTuple

from curate.verify.compare.reading import keyed, parsed
from curate.verify.nodes import Node, TooLargeError, UnreadableError, walk
from curate.verify.policy import Policy

Shape = tuple[object, ...]

_FORMULA: Final = re.compile(
    r"\$\$(?P<display>[^$]{1,400})\$\$|(?<!\\)\$(?P<inline>[^$]{1,400})\$|\\\((?P<round>.{1,400}?)\\\)|"
    r"\\\[(?P<square>.{1,400}?)\\\]",
    re.DOTALL,
)
_FUNCTIONS: Final = (
    r"a?(?:sin|cos|tan|cot|sec|csc)h?|arc(?:sin|cos|tan)|log|ln|exp|sqrt|gcd|lcm|mod|max|min|abs|floor|ceil"
)
# figures, operators, brackets, single letters and names of functions in plain text
_PLAIN: Final = re.compile(
    rf"(?:(?<![A-Za-z\\])(?:{_FUNCTIONS})(?![a-z])|(?<![A-Za-z'’])[A-Za-z](?![A-Za-z'’])|\\[a-zA-Z]+|"
    r"\d|[-+*/^()\[\]{}|!%·×÷−√π²³_,. ]){2,200}"
)
_ARTICLE: Final = re.compile(r"^(?:[aAI] )+")
_ASKS: Final = re.compile(
    r"(?:\b(?:compute|calculate|evaluate|simplify|expand|factor(?:i[sz]e)?|find|determine|what(?:['’]s| is| are)|"
    r"how much is|work out|express|write|rewrite|convert|rationali[sz]e|reduce|solve|round|give|combine|multiply|add|"
    r"subtract|divide|estimate|differentiate|integrate|value of|equal to|equals?)\b"
    r"|计算|化简|求|展开|因式分解|分解因式|化为|等于|的值)[^.?!。？！$\\]{0,80}$|\bfollowing\b[^.?!$\\]{0,60}[.:]\s*$",
    re.IGNORECASE,
)
_VARIABLE: Final = re.compile(r"\$[A-Za-z]\$")  # "Simplify the following expression in $x$"
_QUESTION_MARK: Final = re.compile(r"\s*(?:=\s*)?(?:[?？_]|\\_|\\boxed|等于|的值|is (?:equal to )?what)")
_MAX_CHARS: Final = 8_000
_MAX_FORMULAS: Final = 60


class Formula(NamedTuple):
    """A formula of a question; is_asked: the question asks to evaluate it."""

    tree: Node
    is_asked: bool


class Formulas(NamedTuple):
    """The shapes of what a question asks to evaluate, and of all parts of all its formulas."""

    asked: frozenset[Shape]
    parts: frozenset[Shape]


@lru_cache(maxsize=5_000)
def formulas(question: str, policy: Policy) -> Formulas:
    """The shapes of a question's formulas; those that cannot be read are left out."""
    asked: set[Shape] = set()
    parts: set[Shape] = set()
    names: dict[str, list[Node]] = {}
    for formula in _formulas(question[:_MAX_CHARS], policy):
        sides = formula.tree.args if formula.tree.op == "rel" else (formula.tree,)
        parts |= {shape(node) for side in sides for node in walk(side)}
        if formula.is_asked:
            asked |= {shape(side) for side in sides}
        elif formula.tree.op == "rel" and sides[0].op == "sym":
            names.setdefault(sides[0].name, []).extend(sides[1:])
    for name, values in names.items():  # "Let S = 1+2. Find S."
        if shape(Node("sym", (), None, name)) in asked:
            asked |= {shape(value) for value in values}
    return Formulas(frozenset(asked), frozenset(parts))


def shape(node: Node) -> Shape:
    """A tree without the order of terms, nesting, added zeros, factors of one, and with numbers by value."""
    if node.op == "num":
        return ("num", node.value)
    if node.op == "neg" and node.args[0].op == "num" and node.args[0].value is not None:
        return ("num", -node.args[0].value)
    if node.op == "neg" and node.args[0].op == "neg":
        return shape(node.args[0].args[0])
    if node.op in ("add", "mul"):
        neutral = ("num", Fraction(node.op == "mul"))
        terms = sorted((term for arg in _flat(node) if (term := shape(arg)) != neutral), key=repr)
        return terms[0] if len(terms) == 1 else (node.op, *terms)
    return (node.op, node.name, *(shape(arg) for arg in node.args))


def _flat(node: Node) -> Iterator[Node]:
    for arg in node.args:
        inner = _unsigned(arg)
        if inner.op == node.op and inner.name == node.name:
            yield from _flat(inner)
        else:
            yield inner


def _unsigned(node: Node) -> Node:
    """A tree without pairs of signs."""
    while node.op == "neg" and node.args[0].op == "neg":
        node = node.args[0].args[0]
    return node


def _formulas(question: str, policy: Policy) -> Iterator[Formula]:
    spans = list(_FORMULA.finditer(question))[:_MAX_FORMULAS]
    for span in spans:
        text = next(group for group in span.groups() if group is not None)
        yield from _read(text, _is_asked(question, span.start(), span.end()), policy)
    plain = _FORMULA.sub(lambda found: "$" * len(found[0]), question)
    for run in list(_PLAIN.finditer(plain))[:_MAX_FORMULAS]:
        text = _ARTICLE.sub("", run[0].strip(" ,.")).strip(" ,.")
        if len(text) > 1 and any(char.isdigit() or char in "()^!" for char in text):
            yield from _read(text, _is_asked(plain, run.start(), run.end()), policy)


def _is_asked(question: str, start: int, end: int) -> bool:
    """Whether a formula follows an instruction such as "compute", or is the whole question, or precedes "= ?"."""
    before = _VARIABLE.sub("x", question[max(0, start - 160) : start])
    is_alone = not re.search(r"\w", question[:start]) and not re.search(r"\w", question[end:])
    return is_alone or _ASKS.search(before) is not None or _QUESTION_MARK.match(question, end) is not None


def _read(text: str, is_asked: bool, policy: Policy) -> Iterator[Formula]:
    text = re.sub(r"[\s=]*[?？.,;:]*\s*$", "", text)
    try:
        yield Formula(parsed(keyed(text).cleaned, policy), is_asked)
    except (TooLargeError, UnreadableError):
        return
