"""Copies of a benchmark's item as they occur in pools: plain, respaced, wrapped, embedded, renamed, renumbered."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from typing import Final

NAMES: Final = "Zelda Oskar Priya Kofi Ingrid Mateo Yuki Amara Bruno Leila".split()


def exact(text: str, _: random.Random) -> str:
    """A plain copy."""
    return text


def whitespace(text: str, dice: random.Random) -> str:
    """Other line breaks, tabs, runs of spaces."""
    return re.sub(r"\s+", lambda _: dice.choice([" ", "  ", "\n", "\t", " \n ", "\u00a0"]), text) + "\n\n"


def delimiters(text: str, _: random.Random) -> str:
    """The other LaTeX delimiters, fractions, sizes and dashes."""
    text = re.sub(r"\$\$(.+?)\$\$", r"\\[\1\\]", text, flags=re.DOTALL)
    text = re.sub(r"\$(.+?)\$", r"\\(\1\\)", text, flags=re.DOTALL)
    text = text.replace(r"\frac", r"\dfrac").replace(r"\le ", r"\leq ").replace(r"\left(", "(").replace(r"\right)", ")")
    return text.replace("'", "’")


def wrapped(text: str, dice: random.Random) -> str:
    """An instruction around it."""
    before, after = dice.choice(
        [
            (
                "Solve the following problem. Put your final answer in \\boxed{}.\n\nProblem: ",
                "\n\nRemember to reason.",
            ),
            ("Question: ", "\nAnswer:"),
            ("", "\nLet's think step by step and output the final answer within \\boxed{}."),
            ("<|user|>\n", "\n<|assistant|>\n"),
        ]
    )
    return before + text + after


def embedded(text: str, dice: random.Random) -> str:
    """In the middle of a longer prompt, between two other problems."""
    count, price = dice.randint(3, 90), dice.randint(3, 90)
    return (
        f"Here are three exercises from a worksheet. First: a shop sells {count} lamps for {price} coins each; how "
        f"much does it take in?\n\n{text}\n\nLast: how many ways are there to seat {count} guests in a row?"
    )


def renamed(text: str, dice: random.Random) -> str:
    """Other names of people and places, and other letters for the variables, in drawings too."""
    inside_a_sentence = r"(?<=[a-z,;] )[A-Z][a-z]{2,}\b"
    names = sorted(set(re.findall(inside_a_sentence, re.sub(r"(?s)\[asy\].*?\[/asy\]", "", text))))
    fresh = dict(zip(names, dice.sample(NAMES, len(NAMES)), strict=False))
    text = re.sub(r"(?<!\\)\b[A-Z][a-z]{2,}\b", lambda match: fresh.get(match[0], match[0]), text)
    letters = {"x": "u", "y": "w", "z": "t", "n": "m", "m": "n", "k": "j", "f": "g", "g": "h", "p": "q", "r": "s"}
    return re.sub(r"(?<![A-Za-z\\])[xyznmkfgpr](?![A-Za-z])", lambda match: letters[match[0]], text)


def renumbered(text: str, dice: random.Random) -> str:
    """Every number increased by 1 to 9."""
    return re.sub(r"\d+", lambda match: str(int(match[0]) + dice.randint(1, 9)), text)


TRANSFORMS: Final[dict[str, Callable[[str, random.Random], str]]] = {
    function.__name__: function for function in (exact, whitespace, delimiters, wrapped, embedded, renamed, renumbered)
}
WANTED: Final = {name: ("variant" if name == "renumbered" else "contaminated") for name in TRANSFORMS}
