"""What dedup remembers of each row: a few numbers in memory, its tokens and band keys in files.

`read_pool` passes over the pool once, a batch at a time. In memory stay about 70 bytes a row; the token hashes (4 bytes
a token) and the band keys (8 bytes a band and row) go to disk and are read back where they are needed.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from curate.answers import LETTERS
from curate.minhash import I64, U32, U64, Bands, band_keys, mixed, shingle_hashes, signatures
from curate.text import NUMBER_WORDS, normalised, tokens

FREQUENCY_BITS: Final = 22
OPERATORS: Final = (
    "+ - * / ^ = < > ! % | times div cdot le ge ne equiv approx pm mp sqrt prime ratio frac cup cap notin subset "
    "subseteq"
).split()

_PLACES: Final = {letter: place for place, letter in enumerate(LETTERS)}
_HALF: Final = np.uint64(32)
_LOCAL: Final = np.uint64(0x9E3779B97F4A7C15)
_MASK: Final = np.uint32((1 << FREQUENCY_BITS) - 1)


@dataclass(frozen=True)
class Fingerprints:
    """One entry per row, in the pool's order.

    starts: where each row's tokens stand in the file `tokens`, `[rows + 1]`.
    guard: hash of the multisets of numbers and of operators, and of the kind: what near duplicates must share.
    sequence: hash of the numbers in their order; context: of each number with its neighbours, in any order.
    whole: hash of all tokens in order; masked: the same with every number alike.
    capitals: hash of the words in capitals, which are parameters ("the letters of TARTAR"), in any order.
    answer: hash of the normalised ground truth, of the right option for a letter; 0 without one.
    priority: 0 for rows with ground truth and solution, up to 3 for rows with neither.
    frequency: how often each token occurs in the pool, by the low bits of its hash.
    """

    keys: pl.Series
    starts: I64
    guard: U64
    sequence: U64
    context: U64
    whole: U64
    masked: U64
    capitals: U64
    answer: U64
    priority: npt.NDArray[np.int8]
    frequency: U32
    folder: Path
    bands: Bands

    def tokens(self, rows: I64) -> tuple[U32, I64]:
        """The token hashes of some rows, flat, and their starts."""
        lengths = self.starts[rows + 1] - self.starts[rows]
        starts = np.concatenate([[0], np.cumsum(lengths)])
        if not starts[-1]:
            return np.empty(0, np.uint32), starts
        place = np.arange(starts[-1]) + np.repeat(self.starts[rows] - starts[:-1], lengths)
        # opened anew each time, so that pages once read do not stay with this process
        stored = np.memmap(self.folder / "tokens", np.uint32, "r")
        return stored[place], starts

    def band(self, index: int) -> U64:
        """The keys of all rows in one band."""
        return np.fromfile(self.folder / f"band-{index}", np.uint64)


class Rarity(NamedTuple):
    """Which words are so rare in a pool that they are what a problem is about.

    frequency: how often each token occurs in the pool, by the low bits of its hash.
    limit: up to which frequency a word is rare.
    """

    frequency: U32
    limit: int

    @classmethod
    def of(cls, frequency: U32, num_rows: int, rare_count: int) -> Rarity:
        """At most `rare_count`, and in a small pool, where every word is rare, at most one in a hundred rows."""
        return cls(frequency, min(rare_count, num_rows // 100))

    def holds(self, token_hashes: U32) -> npt.NDArray[np.bool_]:
        """Which of these tokens are rare."""
        is_rare: npt.NDArray[np.bool_] = self.frequency[token_hashes & _MASK] <= self.limit
        return is_rare


def frequencies(token_hashes: U32) -> U32:
    """How often each token occurs, by the low bits of its hash."""
    return np.bincount(token_hashes & _MASK, minlength=1 << FREQUENCY_BITS).astype(np.uint32)


def read_pool(batches: Iterable[pl.DataFrame], folder: Path, bands: Bands) -> Fingerprints:
    """Pass over the pool once; `folder` takes the files."""
    columns: list[pl.DataFrame] = []
    frequency = np.zeros(1 << FREQUENCY_BITS, np.uint32)
    with ExitStack() as stack:
        token_file = stack.enter_context((folder / "tokens").open("wb"))
        band_files = [stack.enter_context((folder / f"band-{band}").open("wb")) for band in range(bands.num_bands)]
        for batch in batches:
            flat, starts, facts = _read_batch(batch)
            short = (flat >> _HALF).astype(np.uint32)
            frequency += frequencies(short)
            token_file.write(short.tobytes())
            # shingles come from the short hashes: those are what is read back to compare two rows
            signature = signatures(*shingle_hashes(short.astype(np.uint64), starts))
            for file, keys in zip(band_files, band_keys(signature, bands), strict=True):
                file.write(keys.tobytes())
            columns.append(facts)
    facts = pl.concat(columns, rechunk=True)
    arrays = {name: facts[name].to_numpy() for name in facts.columns if name not in ("key", "length")}
    starts = np.concatenate([[0], np.cumsum(facts["length"].to_numpy())]).astype(np.int64)
    return Fingerprints(keys=facts["key"], starts=starts, frequency=frequency, folder=folder, bands=bands, **arrays)


def text_of(problems: pl.DataFrame) -> pl.Series:
    """What of a problem is compared: its prompt and its options."""
    choices = pl.col("choices").list.join("\n").fill_null("")
    return problems.select(pl.concat_str(["prompt", choices], separator="\n")).to_series()


def _read_batch(batch: pl.DataFrame) -> tuple[U64, I64, pl.DataFrame]:
    """Token hashes, their starts and what is known of each row."""
    cut = text_of(batch).to_frame("text").select(tokens(pl.col("text"))).to_series()
    lengths = cut.list.len().to_numpy().astype(np.int64)
    starts = np.concatenate([[0], np.cumsum(lengths)])
    flat = cut.explode(empty_as_null=False, keep_nulls=False)
    hashes, is_number = _hashed(flat)
    is_operator = flat.is_in(OPERATORS).to_numpy()
    number = np.where(is_number, hashes, np.uint64(0))
    order = np.cumsum(is_number)
    local = (order - np.repeat(np.concatenate([[0], order])[starts[:-1]], lengths)).astype(np.uint64)
    place = np.arange(len(hashes), dtype=np.uint64) - np.repeat(starts[:-1], lengths).astype(np.uint64)
    masked = np.where(is_number, _LOCAL, hashes)
    near = _beside(number, hashes, starts)
    kind = batch["kind"].hash().to_numpy()
    facts = pl.DataFrame(
        {
            "key": batch["key"],
            "length": lengths,
            "guard": mixed(
                mixed(_sums(mixed(number), is_number, starts) + kind) + _sums(mixed(hashes), is_operator, starts)
            ),
            "sequence": _sums(mixed(number + local * _LOCAL), is_number, starts),
            "context": _sums(near, is_number, starts),
            "whole": _sums(mixed(hashes + place * _LOCAL), np.True_, starts),
            "masked": _sums(mixed(masked + place * _LOCAL), np.True_, starts),
            "capitals": _capitals(batch["prompt"]),
            "answer": _answers(batch),
            "priority": _priority(batch),
        }
    )
    return hashes, starts, facts


def _hashed(flat: pl.Series) -> tuple[U64, npt.NDArray[np.bool_]]:
    """Token hashes, number words as their figures, and which tokens are numbers."""
    hashes = flat.hash().to_numpy().copy()
    is_word = flat.is_in(list(NUMBER_WORDS)).to_numpy()
    hashes[is_word] = flat.filter(is_word).replace(NUMBER_WORDS).hash().to_numpy()
    return hashes, ((flat >= "0") & (flat < ":")).to_numpy() | is_word


def _beside(number: U64, hashes: U64, starts: I64) -> U64:
    """A hash of each number with the tokens before and behind it in its row."""
    before, behind = np.zeros_like(hashes), np.zeros_like(hashes)
    before[1:], behind[:-1] = hashes[:-1], hashes[1:]
    filled = starts[:-1][np.diff(starts) > 0]
    before[filled] = 0
    behind[filled[1:] - 1] = 0
    near: U64 = mixed(mixed(mixed(number) + before) + behind)
    return near


def _sums(values: U64, where: npt.NDArray[np.bool_] | np.bool_, starts: I64) -> U64:
    """The sum of each row's values, modulo 2^64: a hash that does not depend on their order."""
    running = np.concatenate(
        [np.zeros(1, np.uint64), np.cumsum(np.where(where, values, np.uint64(0)), dtype=np.uint64)]
    )
    sums: U64 = running[starts[1:]] - running[starts[:-1]]
    return sums


def _capitals(prompts: pl.Series) -> U64:
    words = prompts.str.extract_all(r"\b[A-Z]{4,}\b")
    starts = np.concatenate([[0], np.cumsum(words.list.len().to_numpy().astype(np.int64))])
    return _sums(mixed(words.explode(empty_as_null=False, keep_nulls=False).hash().to_numpy()), np.True_, starts)


def answer_of(problems: pl.DataFrame) -> pl.Series:
    """The ground truth as text; of a multiple-choice problem the option that its letter stands for."""
    place = pl.col("ground_truth").str.strip_chars().replace_strict(_PLACES, default=None, return_dtype=pl.Int64)
    option = pl.col("choices").list.get(place, null_on_oob=True)
    return problems.select(pl.coalesce(option, "ground_truth")).to_series()


def _answers(batch: pl.DataFrame) -> pl.Series:
    text = pl.col("answer")
    plain = normalised(text.str.replace(r"^0+(\d)", "$1"))
    return (
        answer_of(batch)
        .to_frame("answer")
        .select(pl.when(text.is_not_null()).then(plain.hash() | 1).otherwise(0))
        .to_series()
    )


def _priority(batch: pl.DataFrame) -> pl.Series:
    lacks_truth = pl.col("ground_truth").is_null() & pl.col("tests").is_null()
    lacks_solution = pl.col("solution").is_null()
    return batch.select(2 * lacks_truth.cast(pl.Int8) + lacks_solution.cast(pl.Int8)).to_series()
