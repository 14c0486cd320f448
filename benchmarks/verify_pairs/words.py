"""Kinds of answers that are words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from verify_pairs.made import Made, Rng


def _word(r: Rng) -> Made:
    word, other = r.sample(["Monday", "Alice", "even", "parallel", "Tuesday", "circle", "neither", "Berlin"], 2)
    return Made(
        word,
        (
            f"\\text{{{word}}}",
            word.lower(),
            word.upper(),
            f"{word}.",
            f"**{word}**",
            f"\\textbf{{{word}}}",
            f"{{{word.lower()}}}",
        ),
        (other, f"{word} or {other}", f"not {word}", "1"),
    )


def _letter(r: Rng) -> Made:
    a, b = r.sample("ABCDE", 2)
    return Made(
        a,
        (
            f"({a})",
            f"\\text{{{a}}}",
            f"\\text{{({a})}}",
            f"{a}.",
            f"\\textbf{{({a})}}",
            f"option {a}",
            f"{a}. 12",
            f"({a}) 7",
        ),
        (b, f"({b})", f"{a} or {b}", f"{a}, {b}", f"{b}. {a}", f"2{a}"),
    )


def _yes_no(r: Rng) -> Made:
    yes, no = r.choice([("Yes", "No"), ("True", "False"), ("No", "Yes"), ("False", "True")])
    return Made(
        yes, (yes.lower(), f"\\text{{{yes}}}", f"{yes}.", yes.upper()), (no, f"\\text{{{no}}}", f"{yes} and {no}", "1")
    )


def _chinese(r: Rng) -> Made:
    n, word, other = r.randrange(2, 99), *r.sample(["无解", "第一象限", "甲", "乙", "系统抽样", "相离"], 2)
    if n % 2:
        return Made(
            str(n),
            (
                f"{n}个",
                f"{n}元",
                f"答：{n}",
                str(n).translate(str.maketrans("0123456789", "０１２３４５６７８９")),
                f"{n}。",
            ),
            (f"{n + 1}个", f"{n}0"),
        )
    return Made(word, (f"{word}。", f"\\text{{{word}}}", f" {word} "), (other, f"{word}{other}", "0"))


KINDS: Final[dict[str, Callable[[Rng], Made]]] = {
    "word": _word,
    "letter": _letter,
    "yes_no": _yes_no,
    "chinese": _chinese,
}
