"""Time and memory of dedup by row count, from Parquet on disk, each size in its own process.

The pools contain planted copies and variants (`made_pool`). Memory is the peak of the process that dedups, with the
pages of its files; another process writes the pool beforehand, and `--folder` keeps it.

    python benchmarks/dedup_scale.py [--rows 1000000 --rows 10000000] [--folder /tmp/pools]
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import polars as pl
from made_pool import made_pool
from tables import Table

from curate.dedup.stage import DedupConfig, find_duplicates
from curate.records import PROBLEM, schema

PART_ROWS: Final = 100_000
BATCH_ROWS: Final = 10_000


def write_pool(folder: str, num_rows: int) -> None:
    """Write a pool as Parquet parts; existing parts stay."""
    Path(folder).mkdir(parents=True, exist_ok=True)
    for start in range(0, num_rows, PART_ROWS):
        path = Path(folder) / f"{start:09d}.parquet"
        if not path.exists():
            part = made_pool(min(PART_ROWS, num_rows - start), seed=start + 3).select(schema(PROBLEM).names())
            part = part.with_columns(key=_key(start).hash().cast(pl.String).str.zfill(24))
            part.write_parquet(path.with_suffix(".tmp"))
            path.with_suffix(".tmp").rename(path)


def _key(start: int) -> pl.Expr:
    """Row numbers in the pool, whose hashes are keys as long and as mixed as those of real problems."""
    return pl.col("source_row") + start


def measure(folder: str) -> None:
    """Dedup the pool in a folder; prints wall seconds, processor seconds, peak MB and rows dropped."""
    paths = sorted(Path(folder).glob("*.parquet"))

    def pool() -> Iterator[pl.DataFrame]:
        for path in paths:
            yield from pl.read_parquet(path).iter_slices(BATCH_ROWS)

    start_s, start_cpu_s = time.perf_counter(), time.process_time()
    found = find_duplicates(pool, DedupConfig())
    wall_s, cpu_s = time.perf_counter() - start_s, time.process_time() - start_cpu_s
    peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(wall_s, cpu_s, peak_mb, found["drop_reason"].is_not_null().sum())


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, action="append", help="rows of a pool; repeatable (default 1,000,000)")
    parser.add_argument("--folder", type=Path, help="folder that keeps pools for the next run")
    options = parser.parse_args()
    table = Table("Dedup from Parquet", ("wall s", "cpu s", "rows/cpu s", "peak MB", "dropped"))
    for num_rows in options.rows or [1_000_000]:
        with tempfile.TemporaryDirectory() as scratch:
            folder = str((options.folder or Path(scratch)).resolve() / f"pool-{num_rows}")
            _run(f"write_pool({folder!r}, {num_rows})")
            wall_s, cpu_s, peak_mb, dropped = map(float, _run(f"measure({folder!r})").split())
        table.row(f"{num_rows:,} rows", wall_s, cpu_s, round(num_rows / cpu_s), round(peak_mb), round(dropped))


def _run(call: str) -> str:
    program = f"from dedup_scale import *; {call}"
    command = [sys.executable, "-c", program]
    return subprocess.run(
        command, check=True, cwd=Path(__file__).resolve().parent, stdout=subprocess.PIPE, text=True
    ).stdout


if __name__ == "__main__":
    main()
