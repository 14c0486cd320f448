"""Boxes for agents: episodes and commands a second, beside bubblewrap alone, and the wait of many episodes at once.

python benchmarks/agent_box.py [--commands 100] [--episodes 20]

The floor of a command is one bubblewrap with the same view; the floor of an episode is copying the repository.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

from tables import Table

ROOT: Final = Path(__file__).resolve().parents[1]
BARE: Final = (
    "bwrap", "--unshare-all", "--die-with-parent", "--ro-bind", "/usr", "/usr", "--symlink", "usr/bin", "/bin",
    "--symlink", "usr/lib", "/lib", "--symlink", "usr/lib64", "/lib64", "--proc", "/proc", "--dev", "/dev",
)  # fmt: skip


def main() -> None:
    """Print a table of rates; every row runs in this process, one after another."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--commands", type=int, default=100)
    parser.add_argument("--episodes", type=int, default=20)
    given = parser.parse_args()
    if shutil.which("bwrap") is None:
        print("agent_box: skipped, bubblewrap is not installed")
        return
    from curate.verify.repo.archive import read_archive
    from curate.verify.repo.box import BoxLimits, open_box

    base, limits = read_archive(ROOT / "curate"), BoxLimits()
    table = Table(
        f"a repository of {len(base.files)} files, {sum(map(len, base.files.values())) / 1e6:.1f} MB", ["a second"]
    )
    with tempfile.TemporaryDirectory() as folder:
        bare = [*BARE, "--bind", folder, "/repo", "--chdir", "/repo", "/usr/bin/sh", "-c", "true"]
        table.row("bubblewrap alone", rate(given.commands, lambda: subprocess.run(bare, check=True)))
        with open_box(base, limits) as box:
            table.row("commands", rate(given.commands, lambda: box.run("true")))
        copies = iter(range(given.episodes))
        table.row(
            "copies alone", rate(given.episodes, lambda: shutil.copytree(ROOT / "curate", f"{folder}/{next(copies)}"))
        )

    def episode() -> None:
        with open_box(base, limits) as box:
            box.run("true")

    table.row("episodes", rate(given.episodes, episode))
    with ThreadPoolExecutor(16) as pool:
        boxes = [open_box(base, limits) for _ in range(16)]
        opened = [box.__enter__() for box in boxes]
        start = time.perf_counter()
        list(pool.map(lambda box: box.run("sleep 0.2"), opened))
        waited = time.perf_counter() - start
        for box in boxes:
            box.__exit__(None, None, None)
    print(f"\n16 episodes, a command of 0.2 s in each at once: {waited:.2f} s")


def rate(number: int, work: Callable[[], object]) -> float:
    """Times a second."""
    start = time.perf_counter()
    for _ in range(number):
        work()
    return number / (time.perf_counter() - start)


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    main()
