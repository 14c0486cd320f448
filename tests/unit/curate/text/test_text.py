"""What the comparing stages hold equal, and what they must hold apart."""

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from curate.text.cut import cut, hashes_of
from curate.text.spelling import normalised, tokens
from curate.text.word_kinds import Flag, has, kinds_of


def norm(*texts: str) -> list[str]:
    return normalised(pl.Series(texts)).to_list()


def figures(text: str) -> list[int]:
    """The sorted hashes of a text's numbers, number words as figures."""
    found = cut(pl.Series([text]))
    kinds = kinds_of(found)
    found.hashes[kinds.places] = kinds.figures
    return sorted(found.hashes[has(kinds.flags, Flag.FIGURE)].tolist())


def hashed(*numbers: str) -> list[int]:
    return sorted(hashes_of(pl.Series(numbers)).tolist())


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (r"Find $\dfrac12$.", r"Find \(\frac{1}{2}\)"),
        (r"$\tfrac{12}5$", r"\frac{12}{5}"),
        (r"$$x^{2}\le 3$$", "x² ≤ 3"),
        (r"$x^{10}$", "x^10"),
        (r"\left( a+b \right)c", "(a+b)c"),
        (r"\bigl( a+b \bigr)c", "(a + b)c"),
        (r"$10{,}000$ and $10,\!000$ and $10\,000$", "10,000 and 10000 and 10000"),
        (r"1,234,567", "1234567"),
        (r"\text{ if } x\quad y", "if x y"),
        (r"$\operatorname{lcm}(a,b)$", r"\mathrm{lcm}(a, b)"),
        (r"30^\circ", "30°"),
        (r"$30^{\circ}$", "30 degrees"),
        ("９ ＋ １", "9 + 1"),
        ("3 − 2", "3 - 2"),
        ("α and π", r"$\alpha$ and $\pi$"),
        ("a 9-kilometer walk", "a 9 kilometer walk"),
        ("3.50 and .5", "3.5 and 0.5"),
        (r"\\frac{1}{2}", r"\frac{1}{2}"),
        ("f’(x) and f''(x)", r"f^{\prime}(x) and f''(x)"),
        ("zero\u200bwidth\ufeff", "zerowidth"),
        ("½ of it", "1/2 of it"),
        ("[-500,500]", "[-500, 500]"),
        ("[0,100)", "[0, 100)"),
        (r"$\{100,200,300\}$", r"\{100, 200, 300\}"),
        (r"\left(2{,}000\right)", "(2000)"),
        ("(10,000)", "(10000)"),
        ("1,234,567,890", "1234567890"),
        (r"\begin{align*}x&=1\\y&=2\end{align*}", "x = 1 y = 2"),
        ("Let ABCD be a square with AB=3", "Let $A B C D$ be a square with $A B = 3$"),
        ("the pentagon $ABCDE$", "the pentagon $A B C D E$"),
        ("三角形ABC中", "三角形 $A B C$ 中"),
        ("$xy+yz+zx$", "$x y + y z + z x$"),
        (r"$3AC^2+2BC\cdot CQ$", r"$3 A C^{2}+2 B C \cdot C Q$"),
        (r"$\sum^{100}_{i=1} x_i$", r"$\sum_{i=1}^{100} x_{i}$"),
        (r"$n! \mid k$", "$n ! | k$"),
        ("a $4$-dimensional space", "a 4-dimensional space"),
        ("the $n$-gon and an $m$-tastic number", "the n-gon and an m-tastic number"),
        ("non-negative and non-zero", "nonnegative and nonzero"),
        (r"\begin{pmatrix}1 & 2\\3 & 4\end{pmatrix}", r"\left[\begin{array}{cc}1 & 2\\3 & 4\end{array}\right]"),
        (r"$\mathbb{R} \to \mathcal{A}$", r"$R \rightarrow A$"),
        (r"$a \lor b$", r"$a \vee b$"),
        ("a<br/>b and <b>c</b>, x &lt; y", "a b and c, x < y"),
        ("Each cell:[list][*]is red[/list]", "Each cell: is red"),
        (r"Two lines.\nIf $x = 1$, then\n\nfind $y$.", "Two lines. If $x = 1$, then find $y$."),
        ("圓的面積與長方體的體積", "圆的面积与长方体的体积"),
        ("$a_0, a_1, . . .$", r"$a_0, a_1, \ldots$"),
    ],
)
def test_spelling_is_no_difference(one: str, other: str) -> None:
    first, second = norm(one, other)
    assert first == second


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("z^4+z^2+1", "z^4-z^2+1"),
        ("Find 5!", "Find 5"),
        ("f(x)", "f'(x)"),
        ("(a+b)c", "a+bc"),
        ("x^{2y}", "x^2y"),
        (r"\frac{1}{23}", r"\frac{12}{3}"),
        (r"u \cdot v", r"u \times v"),
        ("x < y", r"x \le y"),
        ("1.25", "12.5"),
        ("32, 349", "32349"),
        ("|x|", "x"),
        ("[asy] draw((0,0)--(1,2)); [/asy]", "[asy] draw((0,0)--(2,1)); [/asy]"),
        ("3:4", "34"),
        ("50%", "50"),
        ("A ∪ B", "A ∩ B"),
        ("x = -2", "x = 2"),
        ("2-sqrt(3)", "2 sqrt(3)"),
        ("[-500,500]", "[-500500]"),
        ("the point (3,100)", "the point (3100)"),
        ("5,120,7", "5120,7"),
        ("0,100", "0100"),
        ("the letters of PROOF", "the letters of RADII"),
        ("25!!", "25!"),
        (r"\diamondsuit", r"\heartsuit"),
        (r"x \neg y", r"x \ne y"),
        (r"\bigcup A", r"\bigcap A"),
        ("is NOT even", "is even"),
        ("gcd(a, b)", "lcm(a, b)"),
        ("$a_{12}$", "$a_1 2 2$"),
    ],
)
def test_operators_figures_and_brackets_stay_apart(one: str, other: str) -> None:
    first, second = norm(one, other)
    assert first != second


OPERANDS = st.sampled_from(["x", "y", "12", "3.5", "n", r"\frac{1}{2}", r"\sqrt{5}", "(a+b)"])
OPERATORS = st.sampled_from(["+", "-", "*", "/", "^", "=", "<", ">", r"\times", r"\cdot", r"\div", r"\le", "%", "!"])


@given(st.lists(st.tuples(OPERANDS, OPERATORS), min_size=1, max_size=5), OPERANDS, st.data())
@settings(max_examples=150, deadline=None)
def test_changing_one_operator_changes_the_text(pairs: list[tuple[str, str]], last: str, data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(pairs) - 1))
    other = data.draw(OPERATORS.filter(lambda operator: operator != pairs[place][1]))
    changed = [*pairs[:place], (pairs[place][0], other), *pairs[place + 1 :]]
    first, second = norm(*("Compute " + " ".join(f"{a} {b}" for a, b in row) + f" {last}." for row in (pairs, changed)))
    assert first != second


@given(st.lists(st.integers(0, 10**7), min_size=1, max_size=4), st.lists(st.integers(0, 10**7), min_size=1, max_size=4))
@settings(max_examples=150, deadline=None)
def test_equal_text_means_equal_numbers(one: list[int], other: list[int]) -> None:
    texts = [f"Add {' and '.join(f'{value:,}' for value in values)}." for values in (one, other)]
    first, second = norm(*texts)
    assert (first == second) == (one == other)
    assert (figures(texts[0]) == figures(texts[1])) == (sorted(one) == sorted(other))


def test_numbers_are_figures_and_words() -> None:
    assert figures("Three cats, 12 dogs and 3 more: twice 1,000.50") == hashed("1000.5", "12", "2", "3", "3")


@given(st.lists(st.integers(-2000, 2000), min_size=2, max_size=3), st.sampled_from(["()", "[]", "[)", "(]"]))
@settings(max_examples=150, deadline=None)
def test_an_interval_or_a_point_is_as_many_numbers_as_it_has(values: list[int], brackets: str) -> None:
    close = f"Look at {brackets[0]}{','.join(map(str, values))}{brackets[1]}."
    first, second = norm(close, close.replace(",", ", "))
    assert first == second
    assert figures(close) == hashed(*(str(abs(value)) for value in values))


def test_chinese_is_cut_into_characters() -> None:
    assert tokens(pl.Series(["$$2006$$年共有x个"])).to_list() == [["2006", "年", "共", "有", "x", "个"]]


def test_null_and_empty_texts_pass_through() -> None:
    assert normalised(pl.Series([None, ""], dtype=pl.String)).to_list() == [None, ""]
    assert normalised(pl.Series([], dtype=pl.String)).to_list() == []
