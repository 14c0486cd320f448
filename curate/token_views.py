"""Texts as flat arrays of token hashes, in the views that decontamination compares: exact, plain, renamed, renumbered.

    exact        every token of `curate.text`, brackets and all: equal where two texts are the same problem
    plain        without braces, fraction and product signs, which the same formula may have or lack; `three` is `3`
    renamed      plain, with capitalised words and single letters masked: people and variables
    renumbered   plain, with figures masked

A view is one `uint64` array over all texts with the text's number beside each token, so that n-grams of millions of
tokens are a few array operations. Hashes hold within one process only: an index is built where it is used.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from string import ascii_lowercase
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import polars as pl

from curate.text import MARKS, NUMBER_WORDS, tokens

Hashes = npt.NDArray[np.uint64]
Counts = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

# These stand before a word on its way through the tokenizer, which folds case; `curate.text` lets them through.
_NAME, _CAPITALS = MARKS  # Janet, 小明, the points AB and ABCD; the letters of ALABAMA
_MARKED: Final = (
    (r"(^|[^\\\p{L}])(\p{Lu}{5,})\b", f"${{1}} {_CAPITALS} ${{2}}"),
    (r"(^|[^\\\p{L}])(\p{Lu}\p{Ll}+|\p{Lu}{2,4})\b|(小)(\p{Han})", f"${{1}}${{3}} {_NAME} ${{2}}${{4}}"),
)
_SKIPPED: Final = ("{", "}", "frac", "/", "*", "cdot", "times", _NAME, _CAPITALS)
_VARIABLES: Final = (
    *ascii_lowercase,
    *"alpha beta gamma delta epsilon zeta eta theta kappa lambda mu nu rho sigma tau phi chi psi omega".split(),
)
_OPERATORS: Final = (
    *"+-^=<>|!%",
    *"le ge ne pm mp div sqrt equiv in notin cup cap sum prod int sin cos tan log ln".split(),
)
# words that turn a problem into another one
_TURNS: Final = "not least most greatest smallest largest maximum minimum odd even positive negative".split()
_FUNCTION: Final = (
    "a an the this that these those there here it its he she they him her his them their we you i who whom whose which "
    "what when where why how and or but if then so as at by for from in into of on onto over to up with without within "
    "between among about after before during until while is are was were be been being am do does did done has have "
    "had can could may might must shall should will would let s t d ll ve re also just only again both each every any "
    "all some such other another same one ones no more very too now please given suppose assume consider following "
    "below above shown find determine compute calculate evaluate express write give state tell show answer question "
    "problem value number total "
    "的 了 是 在 有 和 与 把 被 这 那 他 她 它 们 吗 呢 吧 请 问 求 则 若 如 果 设 已 知 共 个"
).split()
MASKS: Final = (1, 2)  # the hashes that stand for a name and for a variable
_MULTIPLIERS: Final = np.random.Generator(np.random.PCG64(7)).integers(1, 2**63, 64, dtype=np.uint64) * 2 + 1


@dataclass(frozen=True)
class View:
    """One view of some texts: token hashes, and for each text where its tokens start (one entry more than texts)."""

    hashes: Hashes
    starts: Counts

    def of(self, text: int) -> Hashes:
        """The tokens of one text."""
        return self.hashes[self.starts[text] : self.starts[text + 1]]

    def lengths(self) -> Counts:
        """Tokens a text."""
        return np.diff(self.starts)

    def inside(self, places: Counts, size: int) -> tuple[Counts, Counts]:
        """Of some places those where `size` tokens lie within one text, and the number of that text."""
        texts = np.searchsorted(self.starts, places, side="right") - 1
        is_inside = places + size <= self.starts[texts + 1]
        return places[is_inside], texts[is_inside]


class Flag(enum.IntFlag):
    """What a token is, beside its hash."""

    NAME_MARK = 1
    CAPITALS_MARK = 2
    SKIPPED = 4
    FIGURE = 8
    NUMBER_WORD = 16
    OPERATOR = 32
    TURN = 64
    FUNCTION = 128  # a word that says nothing by itself


@dataclass(frozen=True)
class Views:
    """The views of some texts. `plain`, `renamed`, `renumbered` and `flags` stand token for token."""

    exact: View
    plain: View
    renamed: View
    renumbered: View
    flags: npt.NDArray[np.uint8]

    def flags_of(self, text: int) -> npt.NDArray[np.uint8]:
        """The flags of one text's plain tokens."""
        return self.flags[self.plain.starts[text] : self.plain.starts[text + 1]]


def views(texts: pl.Series) -> Views:
    """All views of a series of texts; a null text has no tokens."""
    marked = texts.fill_null("").str.replace_many(list(MARKS), [""] * len(MARKS))
    for pattern, replacement in _MARKED:
        marked = marked.str.replace_all(pattern, replacement)
    lists = tokens(marked, with_marks=True)
    lengths = lists.list.len().to_numpy().astype(np.int64)
    known = _known_of(lists.filter(pl.Series(lengths > 0)).explode())
    flags = known["flags"]
    bounds = np.concatenate(([0], np.cumsum(lengths)))
    is_token = (flags & (Flag.NAME_MARK | Flag.CAPITALS_MARK)) == 0
    is_kept = (flags & Flag.SKIPPED) == 0
    starts = _starts(is_kept, bounds)
    # a mark stands right before the word it is about
    before = np.roll(flags, 1)
    flags = flags | np.where(before & Flag.CAPITALS_MARK, np.uint8(Flag.TURN), np.uint8(0))
    renamed = np.where(before & Flag.NAME_MARK, np.uint64(MASKS[0]), known["renamed"])[is_kept]
    plain, flags = known["plain"][is_kept], flags[is_kept]
    renumbered = np.where(flags & Flag.FIGURE, np.uint64(3), plain)
    return Views(
        exact=View(known["raw"][is_token], _starts(is_token, bounds)),
        plain=View(plain, starts),
        renamed=View(renamed, starts),
        renumbered=View(renumbered, starts),
        flags=flags,
    )


def _known_of(flat: pl.Series) -> dict[str, npt.NDArray[Any]]:  # Any: hashes and flags
    """What is known of each token, worked out once for each distinct one."""
    coded = flat.cast(pl.Categorical(pl.Categories.random()))
    codes, distinct = coded.to_physical().to_numpy().astype(np.intp), coded.unique()
    vocabulary = _vocabulary(distinct.cast(pl.String))
    known = {}
    for column in vocabulary.iter_columns():
        by_code = np.zeros(int(codes.max(initial=0)) + 1, column.to_numpy().dtype)
        by_code[distinct.to_physical().to_numpy()] = column.to_numpy()
        known[column.name] = by_code.take(codes)
    return known


def _vocabulary(words: pl.Series) -> pl.DataFrame:
    """The hashes and flags of distinct tokens."""
    token, plain = pl.col("token"), pl.col("token").replace(NUMBER_WORDS)
    is_figure = plain.str.contains(r"^\d")
    flags = {
        Flag.NAME_MARK: token == _NAME,
        Flag.CAPITALS_MARK: token == _CAPITALS,
        Flag.SKIPPED: token.is_in(_SKIPPED),
        Flag.FIGURE: is_figure,
        Flag.NUMBER_WORD: is_figure & (token != plain),
        Flag.OPERATOR: token.is_in(_OPERATORS),
        Flag.TURN: token.is_in(_TURNS),
        Flag.FUNCTION: token.is_in(_FUNCTION) | ~token.str.contains(r"\w"),
    }
    return words.to_frame("token").select(
        raw=token.hash(),
        plain=plain.hash(),
        renamed=pl.when(token.is_in(_VARIABLES)).then(pl.lit(MASKS[1], pl.UInt64)).otherwise(plain.hash()),
        flags=pl.sum_horizontal(is_so.cast(pl.UInt8) * int(flag) for flag, is_so in flags.items()).cast(pl.UInt8),
    )


def _starts(is_chosen: Flags, bounds: Counts) -> Counts:
    """Where each text's chosen tokens start among all chosen ones."""
    before = np.zeros(len(is_chosen) + 1, np.int64)
    np.cumsum(is_chosen, out=before[1:])
    return before[bounds]


def ngrams(view: View, size: int) -> tuple[Hashes, Counts]:
    """The hash of every `size`-gram that lies within one text, and the number of that text."""
    grams = every_gram(view, size)
    places, texts = view.inside(np.arange(len(grams)), size)
    return grams[places], texts


def every_gram(view: View, size: int) -> Hashes:
    """The hash of the `size`-gram at every place, also where it reaches into the next text."""
    num = max(len(view.hashes) - size + 1, 0)
    return _gram_hash([view.hashes[offset : offset + num] for offset in range(size)])


def grams_at(view: View, places: Counts, size: int) -> Hashes:
    """The hash of the `size`-gram that begins at each of some places, all of which lie within their text."""
    return _gram_hash([view.hashes[places + offset] for offset in range(size)])


def _gram_hash(tokens_at: list[Hashes]) -> Hashes:
    """One hash from the first, second, third token of each n-gram."""
    grams: Hashes = tokens_at[0] * _MULTIPLIERS[0]
    for offset, hashes in enumerate(tokens_at[1:], 1):
        grams += hashes * _MULTIPLIERS[offset]
    grams ^= grams >> np.uint64(29)  # sums leave the low bits poor, and the low bits choose the place in a table
    return grams


def sequence_hash(view: View) -> Hashes:
    """One hash a text over its tokens in order; equal texts and, but for chance, only they have equal hashes."""
    positions = np.arange(len(view.hashes)) - np.repeat(view.starts[:-1], view.lengths())
    weights = _powers(int(view.lengths().max(initial=0)) + 1)
    running = np.zeros(len(view.hashes) + 1, np.uint64)
    np.cumsum(view.hashes * weights[positions], out=running[1:])
    sums: Hashes = running[view.starts[1:]] - running[view.starts[:-1]]
    sums += view.lengths().astype(np.uint64) * _MULTIPLIERS[63]
    return sums


def _powers(count: int) -> Hashes:
    """Powers of an odd constant, modulo 2**64: the weight of each position."""
    powers = np.full(count, _MULTIPLIERS[62], np.uint64)
    np.cumprod(powers, out=powers)
    return powers
