"""What dedup remembers of each row: a few numbers in memory, its tokens and band keys in files.

`read_pool` passes over the pool once, a batch at a time. All goes to files on the way, so that nothing is in memory
twice; back come about 110 bytes a row. The token hashes (4 bytes a token) and the band keys (8 bytes a band and row)
stay on disk until they are needed.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from curate.dedup.rarity import Frequencies, frequencies
from curate.dedup.token_file import TokenFile
from curate.ingest.answers import LETTERS
from curate.text.bytes import U8, byte_texts
from curate.text.cut import cut, hashes_of
from curate.text.letters import word_capitals
from curate.text.minhash import I64, U64, Bands, band_keys, mixed, shingle_hashes, signatures
from curate.text.names import name_hashes
from curate.text.spelling import normalised
from curate.text.surroundings import bare
from curate.text.word_kinds import U16, Flag, has, kinds_of

MAX_THREADS: Final = 4
FACTS: Final[dict[str, type[np.generic]]] = {
    "length": np.int64,
    **dict.fromkeys(("guard", "sequence", "context", "whole", "masked", "capitals", "answer"), np.uint64),
    "priority": np.int8,
}

_PLACES: Final = {letter: place for place, letter in enumerate(LETTERS)}
_HALF: Final = np.uint64(32)
_LOCAL: Final = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True)
class Fingerprints:
    """One entry per row, in the pool's order.

    starts: the start of each row's tokens among all tokens, `[rows + 1]`.
    guard: hash of the multisets of numbers, of the signs of formulas (`_signs`) and of names, of the kind and of the
    tests: what twins must share.
    sequence: hash of the numbers in their order; context: of each number with its neighbours, in any order.
    whole: hash of all tokens in order; masked: the same with every number alike.
    capitals: hash of the words in capitals, which are parameters ("the letters of TARTAR"), in any order.
    answer: hash of the normalised ground truth, of the right option for a letter; 0 without one.
    priority: 0 for rows with ground truth and solution, up to 3 for rows with neither.
    frequency: how often each token occurs in the pool.
    tokens: the token hashes of every row, in a file.
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
    frequency: Frequencies
    tokens: TokenFile
    folder: Path
    bands: Bands

    def band(self, index: int) -> U64:
        """The keys of all rows in one band."""
        return np.fromfile(self.folder / f"band-{index}", np.uint64)


def read_pool(batches: Iterable[pl.DataFrame], folder: Path, bands: Bands) -> Fingerprints:
    """Pass over the pool once; `folder` takes the files."""
    keys = [pl.Series("key", dtype=pl.String)]
    names = ("tokens", *(f"band-{band}" for band in range(bands.num_bands)), *FACTS)
    with ExitStack() as stack:
        files = {name: stack.enter_context((folder / name).open("wb")) for name in names}
        for read in _ahead(lambda batch: _read_batch(batch, bands), batches):
            keys.append(read.keys)
            for name, file in files.items():
                file.write(read.arrays[name].data)
    arrays = {name: np.fromfile(folder / name, dtype) for name, dtype in FACTS.items()}
    starts = np.concatenate([[0], np.cumsum(arrays.pop("length"))])
    stored = TokenFile(folder / "tokens", starts)
    frequency = frequencies(stored.blocks())
    return Fingerprints(
        pl.concat(keys), starts, **arrays, frequency=frequency, tokens=stored, folder=folder, bands=bands
    )


def text_of(problems: pl.DataFrame) -> pl.Series:
    """What of a problem is compared: its prompt and its options."""
    choices = pl.col("choices").list.join("\n").fill_null("")
    return problems.select(pl.concat_str([pl.lit(bare(problems["prompt"])), choices], separator="\n")).to_series()


class _Batch(NamedTuple):
    """The rows' keys, and what goes to the file of each name: `tokens`, `band-0` and on, the names in `FACTS`."""

    keys: pl.Series
    arrays: dict[str, npt.NDArray[Any]]  # Any: of several dtypes


def _ahead(function: Callable[[pl.DataFrame], _Batch], batches: Iterable[pl.DataFrame]) -> Iterator[_Batch]:
    """Results in order, while the next batches are worked on; no more batches in memory than there are threads."""
    with ThreadPoolExecutor(min(MAX_THREADS, pl.thread_pool_size())) as pool:
        pending: deque[Future[_Batch]] = deque()
        for batch in batches:
            pending.append(pool.submit(function, batch))
            if len(pending) >= MAX_THREADS:
                yield pending.popleft().result()
        while pending:
            yield pending.popleft().result()


def _read_batch(batch: pl.DataFrame, bands: Bands) -> _Batch:
    texts = text_of(batch)
    found = cut(texts)
    hashes, starts, kinds = found.hashes, found.starts, kinds_of(found)
    hashes[kinds.places] = kinds.figures
    # braces, fractions and product signs are layout: two formulas are alike with or without them
    kept = np.flatnonzero(~has(kinds.flags, Flag.SKIPPED))
    short, kept_starts = (hashes[kept] >> _HALF).astype(np.uint32), np.searchsorted(kept, starts)
    # the lowest bit says whether a token is a number
    short &= np.uint32(0xFFFFFFFE)
    short |= has(kinds.flags[kept], Flag.FIGURE)
    # shingles come from the short hashes: those are what is read back to compare two rows
    signature = signatures(*shingle_hashes(short.astype(np.uint64), kept_starts), bands.num_bands * bands.num_rows)
    named = byte_texts(texts)
    arrays = {
        "tokens": short,
        **{f"band-{band}": keys for band, keys in enumerate(band_keys(signature, bands))},
        **_facts(hashes, starts, kinds.flags, _checked_by(batch) + _sums(*name_hashes(*named))),
        "length": np.diff(kept_starts),
        "capitals": _capitals(*named),
        "answer": _answers(batch),
        "priority": _priority(batch),
    }
    return _Batch(batch["key"], arrays)


def _facts(hashes: U64, starts: I64, flags: U16, guarded: U64) -> dict[str, npt.NDArray[Any]]:
    """The fingerprint of each row's tokens; the fields are those of `Fingerprints`."""
    numbers, signs = np.flatnonzero(has(flags, Flag.FIGURE)), _signs(hashes, flags)
    number_starts = np.searchsorted(numbers, starts)
    lengths = np.diff(starts)
    # a token's place in its row, times _LOCAL
    place = np.arange(len(hashes), dtype=np.uint64) * _LOCAL
    place -= np.repeat(starts[:-1].astype(np.uint64) * _LOCAL, lengths)
    number = hashes[numbers]
    order = np.arange(len(numbers)) - np.repeat(number_starts[:-1], np.diff(number_starts))
    whole = mixed(hashes + place)
    unmasked = _sums(mixed(_LOCAL + place[numbers]) - whole[numbers], number_starts)
    figures = mixed(_sums(mixed(number), number_starts) + guarded)
    sum_of_all = _sums(whole, starts)
    return {
        "guard": mixed(figures + _sums(mixed(hashes[signs]), np.searchsorted(signs, starts))),
        "sequence": _sums(mixed(number + order.astype(np.uint64) * _LOCAL), number_starts),
        "context": _sums(_beside(numbers, hashes, starts), number_starts),
        "whole": sum_of_all,
        "masked": sum_of_all + unmasked,
    }


def _signs(hashes: U64, flags: U16) -> I64:
    """The places of operators, variables and the brackets of function calls: what a formula consists of.

    A product has no sign or one of several, and a fraction is a command or a stroke.
    """
    slash, frac, bracket = hashes_of(pl.Series(["/", "frac", "("]))
    is_variable = has(flags, Flag.VARIABLE) & ~has(flags, Flag.FUNCTION)
    is_sign = has(flags, Flag.OPERATOR) | is_variable
    layout = np.flatnonzero(is_sign & has(flags, Flag.SKIPPED))
    strokes = layout[(hashes[layout] == slash) | (hashes[layout] == frac)]
    is_sign[layout] = False
    is_sign[strokes], hashes[strokes] = True, slash
    behind = np.flatnonzero(is_variable[:-1]) + 1
    is_sign[behind[hashes[behind] == bracket]] = True
    return np.flatnonzero(is_sign)


def _beside(places: I64, hashes: U64, starts: I64) -> U64:
    """A hash of each of some tokens with the tokens before and behind it in its row."""
    rows = np.searchsorted(starts, places, side="right") - 1
    # the last token of a row is nothing to the first of the next, and the first of the next nothing to it
    before = np.where(places > starts[rows], hashes[places - 1], np.uint64(0))
    behind = np.where(places + 1 < starts[rows + 1], hashes[(places + 1) % max(len(hashes), 1)], np.uint64(0))
    near: U64 = mixed(mixed(mixed(hashes[places]) + before) + behind)
    return near


def _sums(values: U64, starts: I64) -> U64:
    """The sum of each row's values, modulo 2^64: a hash that does not depend on their order."""
    running = np.concatenate([np.zeros(1, np.uint64), np.cumsum(values, dtype=np.uint64)])
    sums: U64 = running[starts[1:]] - running[starts[:-1]]
    return sums


def _checked_by(batch: pl.DataFrame) -> U64:
    """A hash of what a completion is checked by, beside its ground truth: the kind, and the tests of a code problem."""
    what = pl.concat_str("kind", pl.col("tests").fill_null(""), separator="\n")
    return batch.select(what.hash()).to_series().to_numpy()


def _capitals(data: U8, starts: I64) -> U64:
    firsts, lengths = word_capitals(data, starts)
    words = np.zeros(len(firsts), np.uint64)
    for place in range(int(lengths.max(initial=0))):
        at = np.flatnonzero(place < lengths)
        words[at] = mixed(words[at] + data[firsts[at] + place])
    return _sums(mixed(words), np.searchsorted(firsts, starts))


def answer_of(problems: pl.DataFrame) -> pl.Series:
    """The ground truth as text; of a multiple-choice problem the option of its letter."""
    place = pl.col("ground_truth").str.strip_chars().replace_strict(_PLACES, default=None, return_dtype=pl.Int64)
    option = pl.col("choices").list.get(place, null_on_oob=True)
    return problems.select(pl.coalesce(option, "ground_truth")).to_series()


def _answers(batch: pl.DataFrame) -> U64:
    answer = answer_of(batch)
    # most answers of a pool are those of other rows too
    _, first, place = np.unique(answer.hash().to_numpy(), return_index=True, return_inverse=True)
    spelt = normalised(answer.gather(first).str.replace(r"^0+(\d)", "$1")).hash().to_numpy() | np.uint64(1)
    return np.where(answer.is_not_null().to_numpy(), spelt[place], np.uint64(0))


def _priority(batch: pl.DataFrame) -> npt.NDArray[np.int8]:
    lacks_truth = pl.col("ground_truth").is_null() & pl.col("tests").is_null()
    lacks_solution = pl.col("solution").is_null()
    priority = 2 * lacks_truth.cast(pl.Int8) + lacks_solution.cast(pl.Int8)
    return batch.select(priority).to_series().to_numpy()
