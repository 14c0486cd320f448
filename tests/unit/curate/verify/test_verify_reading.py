"""The grammar gives one tree for every spelling, and the same error on every call."""

from __future__ import annotations

import pytest

from curate.verify.compare.reading import keyed, parsed
from curate.verify.grammar.parser import parse
from curate.verify.nodes import TooLargeError, UnreadableError, walk
from curate.verify.policy import Policy

UNREADABLE = {
    r"\frac{1}": "argument",
    "(1,2": "open (",
    "(1;2]+1)": "unexpected )",
    "2^{": "unexpected end",
    r"\begin{pmatrix}1&2\\3\end{pmatrix}": "ragged matrix",
    "x_{}": "an empty subscript",
    "1,2)": "unexpected )",
}


@pytest.mark.parametrize("text", UNREADABLE)
def test_an_unreadable_text_raises_the_same_error_every_time(text: str) -> None:
    for _ in range(2):  # the second time from the cache
        with pytest.raises(UnreadableError) as refused:
            parsed(text, Policy())
        assert str(refused.value) == UNREADABLE[text]


def test_an_exceeded_limit_raises_another_error_than_an_unknown_sign() -> None:
    deep = "(" * 70 + "1" + ")" * 70
    for _ in range(2):
        with pytest.raises(TooLargeError, match="70 levels of brackets"):
            parsed(deep, Policy())
    assert parsed(deep, Policy(max_depth=80)) == parse("1")


@pytest.mark.parametrize(
    ("text", "same"),
    [
        (r"\frac12", r"\frac{1}{2}"),
        (r"\sqrt[3]{8}", r"\sqrt[3] 8"),
        (r"\sin^{-1} x", r"\arcsin(x)"),
        (r"\left( -\infty, 5 \right]", r"(-\infty,5]"),
        ("5 % ", r"5\%"),
        ("x^2y", "x^{2} y"),
        (r"\begin{cases} x=1 \\ y=2 \end{cases}", r"\begin{aligned} x&=1 \\ y&=2 \end{aligned}"),
    ],
)
def test_spellings_of_one_answer_have_one_tree(text: str, same: str) -> None:
    ours, theirs = (parsed(keyed(spelling).cleaned, Policy()) for spelling in (text, same))
    assert ours == theirs


def test_brackets_nest_through_every_level_of_the_grammar() -> None:
    tree = parse(r"\{x \in R | \sqrt{|x^{(1+2)}|} \le \frac{\lfloor y \rfloor}{\max(1,2)}\}")
    assert {node.op for node in walk(tree)} >= {"such", "in", "rel", "root", "fn", "pow", "div", "add", "sym", "num"}
