"""The quick ways to cut and mark texts against the patterns they stand for, and the quick looks against plain ones."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from curate.text.bytes import byte_texts, column_of
from curate.text.cut import cut, hashes_of
from curate.text.names import CAPITALS, NAME, _marked_by_patterns, marked
from curate.text.ngrams import grams_at, ngrams, rolled
from curate.text.sieve import Directory
from curate.text.spelling import pieces, respelt
from curate.text.views import views
from curate.text.word_kinds import Flag

# what the two ways could see differently: dots, signs, marks, and characters beyond ASCII that matter or do not
LETTERS = "aAbBZ1 29..._-!\\\n{}=|~%'\x01\x02\x1f中小é∀³٣“—×\u0301"
WORD = st.text(st.sampled_from(LETTERS), max_size=14)
# all in ASCII, or with one of everything: a column goes one way or both
COLUMN = st.lists(WORD, max_size=12) | st.lists(WORD.map(lambda word: word.encode("ascii", "ignore").decode()))


def column(texts: list[str]) -> pl.Series:
    return pl.Series(texts, dtype=pl.String)


@settings(max_examples=300, deadline=None)
@given(COLUMN, st.booleans())
def test_tokens_are_those_of_the_pattern(texts: list[str], with_marks: bool) -> None:
    lists = pieces(respelt(column(texts)), with_marks=with_marks)
    flat = lists.explode(empty_as_null=False, keep_nulls=False)
    found = cut(column(texts), with_marks=with_marks)
    assert np.diff(found.starts).tolist() == lists.list.len().to_list()
    assert found.hashes.tolist() == hashes_of(flat).tolist()
    assert found.heads.tolist() == [token.encode()[0] for token in flat]
    assert found.others.to_list() == [token for token in flat if not token[0].isascii()]


@settings(max_examples=300, deadline=None)
@given(COLUMN)
def test_marks_stand_where_the_patterns_set_them(texts: list[str]) -> None:
    bare = column(texts).str.replace_many([NAME, CAPITALS], ["", ""])
    assert marked(column(texts)).to_list() == _marked_by_patterns(bare).to_list()


def test_long_words_are_marked_as_short_ones_are() -> None:
    texts = column(
        ["A" * 40, "A" + "b" * 50, "A" * 33 + "b", "Ab" + "c" * 40 + "D", "the letters of " + "B" * 32 + "1"]
    )
    assert marked(texts).to_list() == _marked_by_patterns(texts).to_list()


@given(st.lists(st.text(max_size=5)))
def test_bytes_become_the_same_column(texts: list[str]) -> None:
    whole = column(["before", *texts, "behind"])
    part = whole.slice(1, len(texts))
    assert column_of(byte_texts(part)).to_list() == texts


@given(st.sets(st.text(st.sampled_from("ab"), min_size=1, max_size=60), min_size=2))
def test_different_tokens_have_different_hashes(words: set[str]) -> None:
    assert len(set(hashes_of(column(sorted(words))).tolist())) == len(words)


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("three", Flag.FIGURE | Flag.NUMBER_WORD),
        ("3.5", Flag.FIGURE),
        ("٣", Flag.FIGURE),
        ("三", Flag.FIGURE | Flag.NUMBER_WORD),
        ("least", Flag.TURN | Flag.RESPELT),
        ("the", Flag.FUNCTION),
        ("without", Flag.TURN | Flag.FUNCTION),
        ("or", Flag.TELLING | Flag.FUNCTION),
        ("parabola", Flag.TELLING),
        ("的", Flag.FUNCTION),
        ("x", Flag.VARIABLE),
        ("+", Flag.OPERATOR | Flag.FUNCTION),
        ("∀", Flag.FUNCTION),
        ("merchant", Flag(0)),
        ("ALABAMA", Flag.TURN),
    ],
)
def test_each_token_is_known_for_what_it_is(text: str, kinds: Flag) -> None:
    # also between words of the other way to cut
    for around in ("", "é "):
        assert views(column([around + text])).flags.tolist()[-1] == kinds


@given(st.lists(st.lists(st.sampled_from("abc"), max_size=7), min_size=1, max_size=6), st.integers(1, 9))
def test_short_hashes_are_equal_where_the_ngrams_are(texts: list[list[str]], size: int) -> None:
    view = views(column([" ".join(f"word{word}" for word in text) for text in texts])).plain
    short = rolled(view, size)
    places, of_text = view.inside(np.arange(len(short)), size)
    grams = grams_at(view, places, size)
    assert (grams.tolist(), of_text.tolist()) == tuple(side.tolist() for side in ngrams(view, size))
    flat = [word for text in texts for word in text]
    words = [tuple(flat[place : place + size]) for place in places.tolist()]
    assert (
        len(set(words))
        == len(set(grams.tolist()))
        == len(set(zip(grams.tolist(), short[places].tolist(), strict=True)))
    )


@given(st.sets(st.integers(0, 2**64 - 1)), st.lists(st.integers(0, 2**64 - 1)))
def test_a_directory_finds_what_is_there(hashes: set[int], others: list[int]) -> None:
    ordered = np.array(sorted(hashes), np.uint64)
    wanted = np.array([*others, *sorted(hashes)], np.uint64)
    found, places = Directory.of(ordered).find(wanted)
    assert found.tolist() == [place for place, value in enumerate(wanted.tolist()) if value in hashes]
    assert ordered[places].tolist() == wanted[found].tolist()
