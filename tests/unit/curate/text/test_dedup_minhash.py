"""The MinHash kernel against datasketch, and the arithmetic of bands."""

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from datasketch import MinHash
from hypothesis import given, settings
from hypothesis import strategies as st

from curate.dedup.token_file import TokenFile
from curate.text.minhash import BLOCK, NUM_PERM, SHINGLE, bands_for, shingle_hashes, signatures

HASHES = st.lists(st.integers(0, 2**32 - 1), max_size=12)


def by_datasketch(hashes: list[int]) -> list[int]:
    sketch = MinHash(num_perm=NUM_PERM, seed=1, hashfunc=lambda value: value)
    for value in hashes:
        sketch.update(value)
    return sketch.hashvalues.tolist()


def ragged(rows: list[list[int]], dtype: type) -> tuple[np.ndarray, np.ndarray]:
    flat = np.array([value for row in rows for value in row], dtype)
    return flat, np.concatenate([[0], np.cumsum([len(row) for row in rows])]).astype(np.int64)


@given(st.lists(HASHES, min_size=1, max_size=8))
@settings(max_examples=60, deadline=None)
def test_signatures_are_bit_for_bit_those_of_datasketch(rows: list[list[int]]) -> None:
    assert signatures(*ragged(rows, np.uint32)).T.tolist() == [by_datasketch(row) for row in rows]


def test_rows_longer_than_a_block_and_across_its_edge_have_the_same_signatures() -> None:
    random = np.random.default_rng(0)
    lengths = [BLOCK - 3, 5, BLOCK * 2 + 1, 0, 1, BLOCK]
    rows = [random.integers(0, 2**32, length).tolist() for length in lengths]
    together = signatures(*ragged(rows, np.uint32))
    alone = [signatures(*ragged([row], np.uint32))[:, 0] for row in rows]
    assert np.array_equal(together, np.stack(alone, axis=1))


@given(st.lists(st.lists(st.integers(1, 5), max_size=7), min_size=1, max_size=6))
@settings(max_examples=100, deadline=None)
def test_shingles_are_equal_exactly_where_their_tokens_are(rows: list[list[int]]) -> None:
    hashes, starts = shingle_hashes(*ragged(rows, np.uint64))
    seen = [hashes[start:end].tolist() for start, end in pairwise(starts)]
    padded = [[*row, *[0] * (SHINGLE - len(row))] if row else [] for row in rows]
    wanted = [[tuple(row[at : at + SHINGLE]) for at in range(len(row) - SHINGLE + 1)] for row in padded]
    assert [len(row) for row in seen] == [len(row) for row in wanted]
    names = dict(zip([s for row in wanted for s in row], [s for row in seen for s in row], strict=True))
    assert [[names[shingle] for shingle in row] for row in wanted] == seen
    assert len(set(names.values())) == len(names)


def test_bands_are_25_of_5_at_seven_tenths() -> None:
    assert bands_for(0.7) == (25, 5)


@pytest.mark.parametrize("threshold", [0.05, 0.3, 0.5, 0.7, 0.8, 0.9, 0.99, 1.0])
def test_bands_find_a_pair_at_the_threshold_and_one_row_more_would_not(threshold: float) -> None:
    num_bands, num_rows = bands_for(threshold)

    def recall(num_bands: int, num_rows: int) -> float:
        return 1 - (1 - threshold**num_rows) ** num_bands

    assert num_bands * num_rows <= NUM_PERM
    assert recall(num_bands, num_rows) >= 0.98 or num_rows == 1
    assert num_rows == NUM_PERM or recall(NUM_PERM // (num_rows + 1), num_rows + 1) < 0.98


def test_tokens_of_rows_come_back_from_a_large_file_in_the_order_asked_for(tmp_path: Path) -> None:
    num_rows, length = 6_000, 3_000
    tokens = np.arange(num_rows * length, dtype=np.uint32)
    tokens.tofile(tmp_path / "tokens")
    stored = TokenFile(tmp_path / "tokens", np.arange(num_rows + 1) * length)
    rows = np.random.default_rng(0).permutation(num_rows)
    flat, starts = stored.of(rows)
    assert np.array_equal(flat.reshape(num_rows, length), tokens.reshape(num_rows, length)[rows])
    assert np.array_equal(starts, np.arange(num_rows + 1) * length)
    assert np.array_equal(np.concatenate(list(stored.blocks())), tokens)
