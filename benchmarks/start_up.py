"""Start-up cost: processor time of `gradus --help` and of each room's help, beside a bare Python.

Run with `python benchmarks/start_up.py [--runs N]`. The two run alternately, so that a busy machine slows both.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[1]
DOOR: Final = "import sys; sys.argv[0] = 'gradus'; import gradus; gradus.main()"
ROOMS: Final = ("", "curate", "curriculum", "train", "card")


def main() -> None:
    """Print medians and ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=7)
    runs = parser.parse_args().runs
    print(f"{'command':<28}{'processor s':>12}{'bare Python s':>15}{'ratio':>8}   (median of {runs})")
    for room in ROOMS:
        words = [*([room] if room else []), "--help"]
        pairs = [(seconds(DOOR, words), seconds("", [])) for _ in range(runs)]
        shown, bare = (median(times) for times in zip(*pairs, strict=True))
        print(f"{' '.join(['gradus', *words]):<28}{shown:>12.3f}{bare:>15.3f}{shown / bare:>8.1f}")


def seconds(program: str, words: Sequence[str]) -> float:
    """Processor time of one Python that runs the program."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", program, *words]
    subprocess.run(command, stdout=subprocess.DEVNULL, cwd=ROOT, env=environment, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    main()
