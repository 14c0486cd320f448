"""Cost of spinning threads on a busy machine: a toy model sampled with libgomp's default wait and with gradus' setting.

python benchmarks/busy_machine.py [--problems 64] [--busy PROCESSES]
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # demo/ is no package of its own

from benchmarks.tables import Table
from demo.toy import build_toy
from gradus import BEFORE_TORCH

GRADUS = Path(sys.executable).with_name("gradus")
SPIN = [sys.executable, "-c", "while True: pass"]
WAYS = {"libgomp's own": "300000", "gradus": BEFORE_TORCH["GOMP_SPINCOUNT"]}  # turns before a thread sleeps


def main() -> None:
    """Sample with each setting, alone and then beside busy processes; print seconds and their ratio."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--problems", type=int, default=64)
    parser.add_argument("--busy", type=int, default=os.cpu_count() or 1, help="number of busy processes")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        build_toy(folder / "toy")
        rows = [{"prompt": f"{a}+{a % 7}=", "answer": str(a + a % 7)} for a in range(given.problems)]
        (folder / "p.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        table = Table("seconds of sampling", [*WAYS, "ratio"], label_width=24)
        for num_busy in (0, given.busy):
            with busy(num_busy):
                seconds = [sampling_s(folder, spins) for spins in WAYS.values()]
            table.row(f"{num_busy} busy processes", *seconds, seconds[0] / seconds[1])


@contextmanager
def busy(num: int) -> Iterator[None]:
    """Processes that only consume CPU time."""
    beside = [subprocess.Popen(SPIN) for _ in range(num)]
    try:
        yield
    finally:
        for process in beside:
            process.kill()
            process.wait()


def sampling_s(folder: Path, spins: str) -> float:
    """Seconds of one evaluation, without its start-up."""
    out = folder / f"out-{time.monotonic_ns()}"
    command = ["train", "evaluate", "--model", folder / "toy", "--data", folder / "p.jsonl", "--out", out]
    sizes = ["--engine", "transformers", "--n", "4", "--max-tokens", "48"]
    done = subprocess.run(
        [GRADUS, *command, *sizes],
        env={**os.environ, "GOMP_SPINCOUNT": spins},
        capture_output=True,
        text=True,
        check=True,
    )
    cost = next(line for line in done.stderr.splitlines() if " tokens in " in line)
    return float(cost.split(" tokens in ")[1].split(" s ")[0])


if __name__ == "__main__":
    main()
