"""The tokens of `curate.text.spelling` as hashes, for whole columns: the same cut, without a list of strings.

Texts with no token beyond ASCII, nearly all of most pools, are cut by what kind each byte is; the others go through the
pattern. What is hashed is the token's UTF-8 either way, so it does not matter which way a token came.
"""

from __future__ import annotations

from hashlib import blake2b
from string import ascii_letters, digits
from typing import Final, NamedTuple

import numpy as np
import polars as pl

from curate.text.bytes import I64, U8, Flags, byte_texts, is_plain, table_of
from curate.text.letters import parted
from curate.text.minhash import U64, mixed
from curate.text.spelling import MARKS, SIGNS, pieces, respelt

FIRST_BEYOND_ASCII: Final = 128  # of the bytes
_SIGN: Final = 3
_KINDS: Final = table_of(letters=ascii_letters, digits=digits + ".", signs=SIGNS)
_KINDS_WITH_MARKS: Final = table_of(letters=ascii_letters, digits=digits + ".", signs=SIGNS + "".join(MARKS))
_WORD: Final = 8  # bytes taken at a time
_MAX_WORDS: Final = 4  # a longer token is hashed by itself
_LEFT: Final = np.array([2 ** (8 * length) - 1 for length in range(_WORD)] + [2**64 - 1], np.uint64)


class Cut(NamedTuple):
    """The tokens of some texts, text after text.

    hashes: of each token; starts: where each text's tokens start, one entry more than texts.
    heads: the first byte of each token. others: the tokens that begin with no ASCII character, as text, in order.
    """

    hashes: U64
    starts: I64
    heads: U8
    others: pl.Series


def cut(texts: pl.Series, *, with_marks: bool = False) -> Cut:
    """The tokens of each text; with `with_marks`, each of `MARKS` in it is a token too. A null has none."""
    spelt = respelt(texts.fill_null(""))
    is_simple = is_plain(spelt)
    if is_simple.all():
        return _cut_bytes(spelt, with_marks=with_marks)
    others = (~is_simple).arg_true()
    plain = _cut_bytes(spelt.clone().scatter(others, ""), with_marks=with_marks)
    return _merged(plain, _cut_pieces(spelt.gather(others), with_marks=with_marks), others.to_numpy())


def hashes_of(words: pl.Series) -> U64:
    """The hash of each of some tokens."""
    data, starts = byte_texts(words)
    return _hashes(_padded(data), starts[:-1], np.diff(starts))


def _cut_bytes(texts: pl.Series, *, with_marks: bool) -> Cut:
    """The tokens of texts that have none beyond ASCII."""
    whole, starts = byte_texts(texts)
    text = _padded(whole)
    data = np.frombuffer(text, np.uint8)[:-_WORD]
    data[_full_stops(text, starts)] = ord(" ")  # a dot that is left is in a decimal
    kinds = text.translate(_KINDS_WITH_MARKS if with_marks else _KINDS)
    firsts, lengths = parted(text, *_runs(np.frombuffer(kinds, np.uint8)[:-_WORD], starts))
    heads = data[firsts]
    return Cut(_hashes(text, firsts, lengths), np.searchsorted(firsts, starts), heads, pl.Series(dtype=pl.String))


def _full_stops(text: bytearray, starts: I64) -> I64:
    """The positions of dots that do not belong to a decimal."""
    data = np.frombuffer(text, np.uint8)[: starts[-1]]
    dots = np.flatnonzero(data == ord("."))
    near = np.flatnonzero((dots > 0) & (dots + 1 < len(data)))
    near = near[_is_digit(data[dots[near] - 1]) & _is_digit(data[dots[near] + 1])]
    place = np.searchsorted(starts, dots[near], side="right") - 1
    is_inside = (dots[near] > starts[place]) & (dots[near] + 1 < starts[place + 1])
    near, place = near[is_inside], place[is_inside]
    is_decimal = np.zeros(len(dots), np.bool_)
    is_decimal[near] = True
    # 1.2.3.4 is 1.2 and 3.4: a dot right behind a decimal is a full stop
    for before, here in zip(near[:-1][place[1:] == place[:-1]], near[1:][place[1:] == place[:-1]], strict=True):
        if is_decimal[before] and text[dots[before] + 1 : dots[here]].isdigit():
            is_decimal[here] = False
    return dots[~is_decimal]


def _is_digit(data: U8) -> Flags:
    is_digit: Flags = data - np.uint8(ord("0")) < 10
    return is_digit


def _runs(kind: U8, starts: I64) -> tuple[I64, I64]:
    """Where each run of one kind begins, within its text, and how long it is; a sign is a run of its own."""
    is_edge = np.ones(len(kind) + 1, np.bool_)
    np.not_equal(kind[1:], kind[:-1], out=is_edge[1:-1])
    is_edge[:-1] |= kind == _SIGN
    is_edge[starts] = True
    is_piece = kind > 0
    firsts = np.flatnonzero(is_edge[:-1] & is_piece)
    return firsts, np.flatnonzero(is_edge[1:] & is_piece) + 1 - firsts


def _padded(data: U8) -> bytearray:
    """A copy with room behind the last byte for a whole word."""
    text = bytearray(data)
    text.extend(bytes(_WORD))
    return text


def _hashes(text: bytearray, firsts: I64, lengths: I64) -> U64:
    """A hash of each token from its bytes, eight at a time; tokens of up to eight have one each."""
    words = np.ndarray(len(text) - _WORD + 1, "<u8", text, strides=(1,))  # the eight bytes from each place on
    hashes: U64 = mixed(words.take(firsts) & _LEFT[np.minimum(lengths, _WORD)])
    longer = np.flatnonzero(lengths > _WORD)
    for offset in range(_WORD, _WORD * _MAX_WORDS, _WORD):
        longer = longer[lengths[longer] > offset]
        word = words[firsts[longer] + offset] & _LEFT[np.minimum(lengths[longer] - offset, _WORD)]
        hashes[longer] = mixed(mixed(hashes[longer] + np.uint64(offset)) + word)
    for token in longer[lengths[longer] > _WORD * _MAX_WORDS].tolist():
        whole = bytes(text[firsts[token] : firsts[token] + lengths[token]])
        hashes[token] = int.from_bytes(blake2b(whole, digest_size=_WORD).digest(), "little")
    return hashes


def _cut_pieces(texts: pl.Series, *, with_marks: bool) -> Cut:
    """The tokens of any texts."""
    lists = pieces(texts, with_marks=with_marks)
    flat = lists.explode(empty_as_null=False, keep_nulls=False)
    data, starts = byte_texts(flat)
    heads = data[starts[:-1]]
    bounds = np.concatenate([[0], np.cumsum(lists.list.len().to_numpy().astype(np.int64))])
    return Cut(hashes_of(flat), bounds, heads, flat.filter(pl.Series(heads >= FIRST_BEYOND_ASCII)))


def _merged(plain: Cut, other: Cut, rows: I64) -> Cut:
    """The tokens of some rows put where `plain` has none."""
    lengths = np.diff(other.starts)
    places = np.repeat(plain.starts[rows], lengths)
    added = np.zeros(len(plain.starts), np.int64)
    added[rows + 1] = lengths
    return Cut(
        np.insert(plain.hashes, places, other.hashes),
        plain.starts + np.cumsum(added),
        np.insert(plain.heads, places, other.heads),
        other.others,
    )
