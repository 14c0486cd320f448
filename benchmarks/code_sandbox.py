"""Speed of programs with tests in the sandbox: `python benchmarks/code_sandbox.py [--programs N] [--workers N]`.

Prints programs per minute for each style of test, by wall and processor time, beside a bare Python start for each
program, the cost of an unsafe harness; the counts of programs by verdict; and, where real sets are beside the project,
which of their own solutions do not pass. Every figure is from one run on this machine.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import statistics
import subprocess
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from curate.verify import Item, Policy, Verdict
from curate.verify.code.grade import verify_programs
from curate.verify.code.public_sets import tests_from_row

SOURCE = "def f(x):\n    return x * x\n"
MAIN = "print(int(input()) ** 2)\n"
THREE = (2, 3, 4)
STYLES = {
    "assert, 3 tests": (SOURCE, {"style": "assert", "tests": [f"assert f({x}) == {x * x}" for x in THREE]}),
    "call, 3 tests": (
        SOURCE,
        {"style": "call", "entry_point": "f", "tests": [{"args": [x], "output": x * x} for x in THREE]},
    ),
    "stdio, 3 tests": (MAIN, {"style": "stdio", "tests": [{"input": f"{x}", "output": f"{x * x}"} for x in THREE]}),
    "stdio, 50 tests": (
        MAIN,
        {"style": "stdio", "tests": [{"input": f"{x}", "output": f"{x * x}"} for x in range(50)]},
    ),
}


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--programs", type=int, default=300, help="programs for each style")
    parser.add_argument("--workers", type=int, default=(os.cpu_count() or 1) + 1)
    parser.add_argument("--shared", type=Path, default=Path(__file__).resolve().parents[2] / "shared")
    args = parser.parse_args()
    load = os.getloadavg()[0]
    print(f"{args.programs} programs, {args.workers} at a time, {os.cpu_count()} cores, load {load:.1f}", flush=True)
    print(f"{'':<18} {'programs/min':>12} {'by cpu':>8} {'p50 ms':>8} {'p99 ms':>8}  verdicts")
    start = Clock()
    bare_pythons(args.programs, args.workers)
    print(f"{'bare python3':<18} {start.rates(args.programs)}")
    for name, (source, tests) in STYLES.items():
        item = Item(f"```python\n{source}```", "", kind="code", tests=json.dumps(tests))
        show(name, [item] * args.programs, args.workers)
    for name, items in real_sets(args.shared):
        verdicts = show(name, [item for _, item in items], args.workers)
        failed = [title for (title, _), verdict in zip(items, verdicts, strict=True) if verdict.verdict != "correct"]
        print(f"{'':<18} own solutions that do not pass: {', '.join(failed) or 'none'}")


class Clock:
    """Wall and processor time since construction, children included: on a busy machine only the second is fair."""

    def __init__(self) -> None:
        self._wall_s, self._cpu_s = time.perf_counter(), cpu_s()

    def rates(self, num_programs: int) -> str:
        """Programs per minute by wall time, and by the processor time that they took on these cores."""
        wall_s, used_s = time.perf_counter() - self._wall_s, cpu_s() - self._cpu_s
        return f"{60 * num_programs / wall_s:>12,.0f} {60 * num_programs * (os.cpu_count() or 1) / used_s:>8,.0f}"


def cpu_s() -> float:
    """Processor time of this process and of its children that ended."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def bare_pythons(num_programs: int, workers: int) -> None:
    """Start Python for each program, without a sandbox and without tests."""
    command = ["/usr/bin/python3", "-I", "-c", SOURCE]
    with ThreadPoolExecutor(workers) as pool:
        list(pool.map(lambda _: subprocess.run(command, check=True), range(num_programs)))


def show(name: str, items: Sequence[Item], workers: int) -> list[Verdict]:
    """Run the items and print their line."""
    start = Clock()
    verdicts = verify_programs(items, Policy(), workers)
    rates = start.rates(len(items))
    times = statistics.quantiles([verdict.ms for verdict in verdicts], n=100)
    counts = ", ".join(f"{count} {reason}" for reason, count in Counter(v.reason for v in verdicts).most_common())
    print(f"{name:<18} {rates} {times[49]:>8.0f} {times[98]:>8.0f}  {counts}", flush=True)
    return verdicts


def real_sets(shared: Path) -> Iterator[tuple[str, list[tuple[str, Item]]]]:
    """The public sets with their own solutions, as (title, item)."""
    data = shared / "data"
    if not data.is_dir():
        print("the public sets are not beside the project: skipped")
        return
    rows = [json.loads(line) for line in (data / "mbpp/mbpp.jsonl").read_text().splitlines()]
    yield "MBPP", [(f"task {row['task_id']}", item(fenced(row["code"]), row)) for row in rows]
    lines = gzip.decompress((data / "humaneval/HumanEval.jsonl.gz").read_bytes()).splitlines()
    rows = [json.loads(line) for line in lines]
    yield "HumanEval", [(row["task_id"], item(row["canonical_solution"], row)) for row in rows]
    rows = json.loads((data / "leetcode/test_leetcode.json").read_text())
    yield "LeetCode test", [(f"row {n}", item(fenced(row["solutions"]), row)) for n, row in enumerate(rows)]


def fenced(source: str) -> str:
    """A completion that contains the source."""
    return f"```python\n{source}\n```"


def item(completion: str, row: dict[str, object]) -> Item:
    """The pair to check."""
    return Item(completion, "", kind="code", tests=tests_from_row(row))


if __name__ == "__main__":
    main()
