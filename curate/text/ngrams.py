"""The n-grams of texts as hashes: all of them, those at some places, and a quick half-length hash to look before.

`rolled` is for the first look: 32 bits, built from runs of two and four tokens, a few operations for each place. What
passes that look is told by the full hash of `grams_at`.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from curate.text.minhash import U32
from curate.text.views import MULTIPLIERS, Counts, Hashes, View

_BASE: Final = 0x9E3779B1


def ngrams(view: View, size: int) -> tuple[Hashes, Counts]:
    """The hash of every `size`-gram within one text, and the number of that text."""
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
    grams: Hashes = tokens_at[0] * MULTIPLIERS[0]
    for offset, hashes in enumerate(tokens_at[1:], 1):
        grams += hashes * MULTIPLIERS[offset]
    grams ^= grams >> np.uint64(29)  # sums leave the low bits poor, and the low bits choose the place in a table
    return grams


def rolled(view: View, size: int) -> U32:
    """A 32-bit hash of the `size`-gram at every place, also where it reaches into the next text."""
    tokens = view.hashes.astype(np.uint32)
    grams, length = tokens, 1
    # from left to right, the bits of the size say: twice the length, or twice and one more
    for bit in f"{size:b}"[1:]:
        grams, length = _joined(grams, length, grams, length), 2 * length
        if bit == "1":
            grams, length = _joined(grams, length, tokens, 1), length + 1
    return grams


def _joined(grams: U32, length: int, behind: U32, length_behind: int) -> U32:
    """The hash of each run with the run right behind it."""
    num = max(len(grams) - length_behind, 0)
    joined = behind[length : length + num] * np.uint32(pow(_BASE, length, 1 << 32))
    joined += grams[:num]
    return joined
