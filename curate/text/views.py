"""Texts as flat arrays of token hashes, in the views that decontamination compares: exact, plain, renamed, renumbered.

    exact        every token of `curate.text.spelling`, brackets and all: equal where two texts are the same problem
    plain        without braces, fraction and product signs, which the same formula may have or lack; `three` is `3`
    renamed      plain, with capitalised words and single letters masked: people and variables
    renumbered   plain, with figures masked

A view is one `uint64` array over all texts, with where each text starts in it, so that n-grams of millions of tokens
are a few array operations.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
import numpy.typing as npt
import polars as pl

from curate.text.cut import cut
from curate.text.letters import with_parted_points
from curate.text.names import marked
from curate.text.word_kinds import Flag, has, kinds_of

Hashes = npt.NDArray[np.uint64]
Counts = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

MASKS: Final = (1, 2)  # the hashes that replace a name and a variable
_FIGURE_MASK: Final = 3
MULTIPLIERS: Final = np.random.Generator(np.random.PCG64(7)).integers(1, 2**63, 64, dtype=np.uint64) * 2 + 1


@dataclass(frozen=True)
class View:
    """One view of some texts: token hashes, and for each text where its tokens start (one entry more than texts)."""

    hashes: Hashes
    starts: Counts

    def of(self, text: int) -> Hashes:
        """The tokens of one text."""
        return self.hashes[self.starts[text] : self.starts[text + 1]]

    def part(self, first: int, last: int) -> View:
        """The texts from the first up to the last, which is no longer in it."""
        starts = self.starts[first : last + 1]
        return View(self.hashes[starts[0] : starts[-1]], starts - starts[0])

    def lengths(self) -> Counts:
        """Tokens a text."""
        return np.diff(self.starts)

    @cached_property
    def texts(self) -> Counts:
        """The text of each token."""
        return np.repeat(np.arange(len(self.starts) - 1), self.lengths())

    def inside(self, places: Counts, size: int) -> tuple[Counts, Counts]:
        """Of some places those where `size` tokens lie within one text, and the number of that text."""
        places = places[: np.searchsorted(places, len(self.hashes) - size, side="right")]
        texts = self.texts[places]
        is_inside = self.texts[places + (size - 1)] == texts
        return places[is_inside], texts[is_inside]


@dataclass(frozen=True)
class Views:
    """The views of some texts. `plain`, `renamed`, `renumbered` and `flags` are aligned token by token."""

    exact: View
    plain: View
    renamed: View
    renumbered: View
    flags: npt.NDArray[np.uint16]

    def part(self, first: int, last: int) -> Views:
        """The texts from the first up to the last, which is no longer in it."""
        return Views(
            self.exact.part(first, last),
            self.plain.part(first, last),
            self.renamed.part(first, last),
            self.renumbered.part(first, last),
            self.flags[self.plain.starts[first] : self.plain.starts[last]],
        )

    def flags_of(self, text: int) -> npt.NDArray[np.uint16]:
        """The flags of one text's plain tokens."""
        return self.flags[self.plain.starts[text] : self.plain.starts[text + 1]]


def views(texts: pl.Series) -> Views:
    """All views of a series of texts; a null text has no tokens."""
    found = cut(marked(with_parted_points(texts.fill_null(""))), with_marks=True)
    kinds = kinds_of(found)
    is_token = np.flatnonzero(~has(kinds.flags, Flag.NAME_MARK | Flag.CAPITALS_MARK))
    kept = np.flatnonzero(~has(kinds.flags, Flag.SKIPPED))
    flags = kinds.flags[kept]
    # a mark is right before the word it describes
    before = kinds.flags[kept - 1]
    flags[has(before, Flag.CAPITALS_MARK)] |= np.uint16(Flag.TURN)
    as_figures = found.hashes.copy()
    as_figures[kinds.places] = kinds.figures
    plain = as_figures[kept]
    renamed, renumbered = plain.copy(), plain.copy()
    renamed[has(flags, Flag.VARIABLE)] = MASKS[1]
    renamed[has(before, Flag.NAME_MARK)] = MASKS[0]
    renumbered[has(flags, Flag.FIGURE)] = _FIGURE_MASK
    starts = np.searchsorted(kept, found.starts)
    return Views(
        exact=View(found.hashes[is_token], np.searchsorted(is_token, found.starts)),
        plain=View(plain, starts),
        renamed=View(renamed, starts),
        renumbered=View(renumbered, starts),
        flags=flags,
    )


def sequence_hash(view: View) -> Hashes:
    """One hash a text over its tokens in order; equal texts and, but for chance, only they have equal hashes."""
    positions = np.arange(len(view.hashes)) - np.repeat(view.starts[:-1], view.lengths())
    weights = _powers(int(view.lengths().max(initial=0)) + 1)
    running = np.zeros(len(view.hashes) + 1, np.uint64)
    np.cumsum(view.hashes * weights[positions], out=running[1:])
    sums: Hashes = running[view.starts[1:]] - running[view.starts[:-1]]
    sums += view.lengths().astype(np.uint64) * MULTIPLIERS[63]
    return sums


def _powers(count: int) -> Hashes:
    """Powers of an odd constant, modulo 2**64: the weight of each position."""
    powers = np.full(count, MULTIPLIERS[62], np.uint64)
    np.cumprod(powers, out=powers)
    return powers
