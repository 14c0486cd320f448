"""Cost of a large pool in ingest and each stage after it: rows per processor second, and peak memory.

A generated JSONL source (`made_pool`: copies, variants, answers that are numbers) is imported, and the result goes
through each stage, every command in its own process. The benchmark of `decontaminate` has problems of the same
generator. Memory is the peak of the largest process of a command.

    python benchmarks/pool_scale.py [--rows 1000000] [--folder /tmp/pools] [--stage ingest --stage multiple-choice]
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import Final, NamedTuple

import polars as pl
from made_pool import made_pool
from tables import Table

PART_ROWS: Final = 100_000
BENCHMARK_ROWS: Final = 5_000
STAGES: Final = ("ingest", "dedup", "multiple-choice", "verifiable", "decontaminate")


class Took(NamedTuple):
    """Cost of a command: wall and processor seconds, and peak memory."""

    wall_s: float
    cpu_s: float
    peak_mb: float


def write_source(path: Path, num_rows: int, seed: int) -> None:
    """Write problems with answers, one JSON object per line; an existing file stays."""
    if path.exists():
        return
    part = path.with_suffix(".tmp")
    with part.open("wb") as file:
        for start in range(0, num_rows, PART_ROWS):
            rows = made_pool(min(PART_ROWS, num_rows - start), seed=seed + start)
            number = pl.col("question").str.extract(r"(\d+)")
            rows.select(question="prompt").with_columns(answer=number).write_ndjson(file)
    part.rename(path)


def took(words: list[str]) -> Took:
    """Run `gradus` with these words; raises `SystemExit` with its output where it fails."""
    start_s = time.perf_counter()
    with tempfile.TemporaryFile() as output:
        child = os.posix_spawn(
            sys.executable,
            [sys.executable, "-c", "import gradus; gradus.main()", *words],
            os.environ,
            file_actions=[(os.POSIX_SPAWN_DUP2, output.fileno(), stream) for stream in (1, 2)],
        )
        _, status, usage = os.wait4(child, 0)
        if status:
            output.seek(0)
            raise SystemExit(f"gradus {' '.join(words)}:\n{output.read().decode()}")
    return Took(time.perf_counter() - start_s, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000, help="rows of the source (default 1,000,000)")
    parser.add_argument("--folder", type=Path, help="folder that keeps source and results for the next run")
    parser.add_argument("--stage", action="append", choices=STAGES, help="stage to measure; repeatable (default all)")
    options = parser.parse_args()
    table = Table(f"{options.rows:,} rows", ("wall s", "cpu s", "rows/cpu s", "peak MB"))
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.folder or Path(scratch)
        source, benchmark = folder / f"source-{options.rows}.jsonl", folder / "benchmark.jsonl"
        write_source(source, options.rows, seed=3)
        write_source(benchmark, BENCHMARK_ROWS, seed=1)
        pool = folder / f"ingest-{options.rows}"
        wanted = options.stage or STAGES
        for stage in STAGES:
            out = folder / f"{stage}-{options.rows}"
            if stage in wanted or (stage == "ingest" and not out.exists()):
                shutil.rmtree(out, ignore_errors=True)
                words = ["curate", stage, str(source if stage == "ingest" else pool), "--out", str(out)]
                done = took([*words, "--against", str(benchmark)] if stage == "decontaminate" else words)
                rate = round(options.rows / done.cpu_s)
                table.row(stage, round(done.wall_s), round(done.cpu_s), rate, round(done.peak_mb))


if __name__ == "__main__":
    main()
