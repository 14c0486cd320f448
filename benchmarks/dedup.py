"""Speed of dedup, its recall against an exact join, and its false merges.

Generated problems with planted copies (one word in twenty replaced) and variants (other numbers, same words) go through
Gradus and three uses of MinHash libraries: `datasketch` one update at a time, `MinHash.bulk`, and `rensa`'s
deduplicator. All start from prompts and end with the rows to drop, in one run on the same machine. The others get the
cheapest tokens (lower case, split at white space); Gradus also normalises, compares and guards. The ratios are the
times of a method over those of Gradus, in wall and processor seconds; each is the best of three rounds.

    python benchmarks/dedup.py [--rows 20000]
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import numpy as np
import polars as pl
from made_pool import COPY, VARIANT, made_pool
from tables import Table

from curate.dedup.fingerprints import read_pool
from curate.dedup.pairs import have_same_figures, have_same_words
from curate.dedup.rarity import Rarity
from curate.dedup.stage import DedupConfig, find_duplicates
from curate.records import PROBLEM, schema
from curate.text.minhash import NUM_PERM, SHINGLE, bands_for, shingle_hashes

THRESHOLD: Final = 0.7
BATCH_ROWS: Final = 10_000
ROUNDS: Final = 3


def batches(pool: pl.DataFrame) -> Callable[[], Iterator[pl.DataFrame]]:
    """The pool in the batches that the stage gets."""
    return lambda: (pool.slice(start, BATCH_ROWS) for start in range(0, pool.height, BATCH_ROWS))


def by_gradus(pool: pl.DataFrame) -> set[int]:
    """The stage's own search."""
    found = find_duplicates(batches(pool.select(schema(PROBLEM).names())), DedupConfig(threshold=THRESHOLD))
    return {int(key) for key in found.filter(pl.col("drop_reason").is_not_null())["key"]}


def _shingles(prompt: str) -> set[bytes]:
    words = prompt.lower().split()
    return {" ".join(words[at : at + SHINGLE]).encode() for at in range(max(1, len(words) - SHINGLE + 1))}


def by_datasketch(pool: pl.DataFrame) -> set[int]:
    """One MinHash per row, one update per shingle, then LSH."""
    from datasketch import MinHash, MinHashLSH

    index, dropped = MinHashLSH(threshold=THRESHOLD, num_perm=NUM_PERM), set()
    for row, prompt in enumerate(pool["prompt"]):
        sketch = MinHash(num_perm=NUM_PERM)
        for shingle in _shingles(prompt):
            sketch.update(shingle)
        if index.query(sketch):
            dropped.add(row)
        index.insert(row, sketch)
    return dropped


def by_bulk(pool: pl.DataFrame) -> set[int]:
    """MinHash.bulk's generator, then LSH."""
    from datasketch import MinHash, MinHashLSH

    index, dropped = MinHashLSH(threshold=THRESHOLD, num_perm=NUM_PERM), set()
    sketches = MinHash.generator((_shingles(prompt) for prompt in pool["prompt"]), num_perm=NUM_PERM)
    for row, sketch in enumerate(sketches):
        if index.query(sketch):
            dropped.add(row)
        index.insert(row, sketch)
    return dropped


def by_rensa(pool: pl.DataFrame) -> set[int]:
    """Rensa's MinHash and deduplicator, with the same number of bands."""
    from rensa import RMinHash, RMinHashDeduplicator

    index = RMinHashDeduplicator(
        THRESHOLD, NUM_PERM - 3, use_lsh=True, num_bands=bands_for(THRESHOLD).num_bands, seed=1
    )
    sketches = RMinHash.from_token_sets([_shingles(prompt) for prompt in pool["prompt"]], NUM_PERM - 3, 1)
    return {row for row, sketch in enumerate(sketches) if not index.add(str(row), sketch)}


METHODS: Final = {
    "gradus": by_gradus,
    "datasketch update + LSH": by_datasketch,
    "datasketch bulk + LSH": by_bulk,
    "rensa": by_rensa,
}


def compare(num_rows: int) -> None:
    """Time and quality of all four on one pool."""
    pool = made_pool(num_rows, seed=1)
    truth = {made: set(pool.filter(pl.col("made") == made)["source_row"]) for made in (COPY, VARIANT)}
    by_gradus(pool.head(1_000))  # imports happen here, once
    seconds: dict[str, tuple[float, float]] = {}
    heads = ("wall s", "cpu s", "wall ratio", "cpu ratio", "copies found", "variants merged", "others")
    title = f"{num_rows:,} rows, {len(truth[COPY]):,} copies, {len(truth[VARIANT]):,} variants by number"
    table = Table(title, heads, label_width=26, least_width=12)
    for name, method in METHODS.items():
        try:
            dropped, seconds[name] = _best_of(ROUNDS, method, pool)
        except ImportError as error:
            print(f"{name:26}skipped: {error.name} is not installed (pip install gradus-rlvr[benchmark])")
            continue
        ratios = (f"{ours / theirs:.2f}x" for ours, theirs in zip(seconds[name], seconds["gradus"], strict=True))
        found, merged = (f"{len(dropped & truth[made]) / len(truth[made]):.1%}" for made in (COPY, VARIANT))
        others = len(dropped - truth[COPY] - truth[VARIANT])
        table.row(name, *(f"{part:.2f}" for part in seconds[name]), *ratios, found, merged, others)


def _best_of(
    rounds: int, method: Callable[[pl.DataFrame], set[int]], pool: pl.DataFrame
) -> tuple[set[int], tuple[float, float]]:
    """The rows that a method drops, and its least wall and processor seconds."""
    took = []
    for _ in range(rounds):
        start_s, start_cpu_s = time.perf_counter(), time.process_time()
        dropped = method(pool)
        took.append((time.perf_counter() - start_s, time.process_time() - start_cpu_s))
    wall_s, cpu_s = (min(part) for part in zip(*took, strict=True))
    return dropped, (wall_s, cpu_s)


def against_exact_join(num_rows: int) -> None:
    """Share of the drops of a full join, by the same similarity and guards, that the bands find."""
    from scipy.sparse import coo_array, csr_array
    from scipy.sparse.csgraph import connected_components

    pool = made_pool(num_rows, seed=2)
    with tempfile.TemporaryDirectory() as scratch:
        prints = read_pool(batches(pool)(), Path(scratch), bands_for(THRESHOLD))
        every = np.arange(num_rows)
        flat, starts = prints.tokens.of(every)
        shingles, starts = shingle_hashes(flat.astype(np.uint64), starts)
        _, column = np.unique(shingles.astype(np.int64), return_inverse=True)
        holds = csr_array((np.ones(len(column), np.int32), column, starts))
        holds.sum_duplicates()
        holds.data[:] = 1
        sizes = holds.sum(axis=1)
        shared = (holds @ holds.T).tocoo()
        one, other = shared.coords
        is_alike = (shared.data >= THRESHOLD * (sizes[one] + sizes[other] - shared.data)) & (one < other)
        one, other = one[is_alike].astype(np.int64), other[is_alike].astype(np.int64)
        rarity = Rarity.of(prints.frequency, num_rows, DedupConfig().rare_count)
        is_same = have_same_figures(prints, one, other) & have_same_words(prints, one, other, rarity)
    graph = coo_array((np.ones(is_same.sum()), (one[is_same], other[is_same])), shape=(num_rows, num_rows))
    num_groups, _ = connected_components(graph, directed=False)
    wanted, found = num_rows - num_groups, len(by_gradus(pool))
    print(
        f"\nof the drops of an exact join at {THRESHOLD} over {num_rows:,} rows, gradus finds "
        f"{found}/{wanted} = {found / wanted:.4f}"
    )


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=20_000, help="rows of the comparison")
    options = parser.parse_args()
    compare(options.rows)
    against_exact_join(min(options.rows, 20_000))


if __name__ == "__main__":
    main()
