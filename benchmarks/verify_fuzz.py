"""Fuzzes the verifier with mutated answers: `python benchmarks/verify_fuzz.py [--num N] [--show N] [--shared FOLDER]`.

Takes ground truths of the project's own cases and pairs, and of the public pools where they are beside the project,
changes what they say, and compares the result with the original in both roles. Prints the slowest pairs, the crashes,
and for every mutation how often it was accepted, with examples to read: few mutations leave the meaning.
"""

from __future__ import annotations

import argparse
import re
import signal
import time
from collections import Counter, defaultdict
from pathlib import Path
from random import Random
from typing import Any, Final, NamedTuple

from public_truths import ground_truths
from verify_mutations import ALL, FALSE
from verify_pairs import pairs

from curate.verify import Item, Verdict, verify_many

ROOT: Final = Path(__file__).resolve().parents[1]
MAX_S: Final = 2.5
KILL_S: Final = 20.0  # a pair that runs longer is stopped and counted as a crash
HOSTILE_SHARE: Final = 0.2


class Outcome(NamedTuple):
    """A mutated pair with its verdict, the seconds that it took, and those of this process's processor."""

    kind: str
    truth: str
    answer: str
    verdict: Verdict
    seconds: float
    processor_s: float


def main() -> None:
    """Run the mutations and print what is slow, broken or accepted."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--num", type=int, default=100_000, help="mutations")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--show", type=int, default=5, help="accepted examples of each mutation")
    parser.add_argument("--kind", default="", help="only mutations whose name contains this")
    parser.add_argument("--shared", type=Path, default=ROOT.parent / "shared")
    options = parser.parse_args()
    verify_many([Item(r"\int_0^1 x dx", "2", is_bare=True)])  # starts a worker
    outcomes = fuzz(truths(options.shared), options.num, options.seed, options.kind)
    print_speed(outcomes)
    print_accepted(outcomes, options.show, Random(options.seed))


def truths(shared: Path) -> list[str]:
    """The distinct ground truths to mutate, sorted."""
    found = {pair.ground_truth for pair in pairs(2)}
    for path in (ROOT / "tests" / "cases").glob("*_cases.txt"):
        lines = path.read_text(encoding="utf-8").splitlines()[1:]
        found |= {line for line in lines if line and line[0] not in " [" and ";;" not in line}
        found |= {part for line in lines if line.startswith("  =") for part in line[4:].split(" ;; ")}
    if (shared / "data").is_dir():
        found |= set(ground_truths(shared / "data"))
    return sorted(text for text in found if text.strip() and len(text) < 300)


def fuzz(texts: list[str], num: int, seed: int, kind: str) -> list[Outcome]:
    """Verdicts on `num` mutated pairs."""
    signal.signal(signal.SIGALRM, _stop)
    source, outcomes = Random(seed), []
    hostile = [name for name in ALL if name not in FALSE and kind in name]
    false = [name for name in FALSE if kind in name]
    for _ in range(num):
        is_hostile = hostile and (source.random() < HOSTILE_SHARE or not false)
        name, text = source.choice(hostile if is_hostile else false), source.choice(texts)
        mutated = ALL[name](text, source)
        if mutated == text:
            continue
        pair = (text, mutated) if source.random() < 0.8 else (mutated, text)
        outcomes.append(timed(name, *pair))
    return outcomes


def timed(kind: str, truth: str, answer: str) -> Outcome:
    """The verdict on one pair, and its seconds."""
    signal.setitimer(signal.ITIMER_REAL, KILL_S)
    start_s, start_processor_s = time.perf_counter(), time.process_time()
    verdict = verify_many([Item(answer, truth, is_bare=True)])[0]
    seconds, processor_s = time.perf_counter() - start_s, time.process_time() - start_processor_s
    signal.setitimer(signal.ITIMER_REAL, 0)
    return Outcome(kind, truth, answer, verdict, seconds, processor_s)


def _stop(*_: Any) -> None:  # Any: the signal and its frame
    raise TimeoutError


def print_speed(outcomes: list[Outcome]) -> None:
    """Print the slowest pairs and the crashes."""
    ordered = sorted(outcomes, key=lambda outcome: -outcome.seconds)
    num_slow = sum(outcome.seconds > MAX_S for outcome in outcomes)
    num_busy = sum(outcome.processor_s > MAX_S for outcome in outcomes)
    seconds = sum(outcome.seconds for outcome in outcomes)
    print(
        f"{len(outcomes):,} mutated pairs in {seconds:,.0f} s; over {MAX_S} s: {num_slow} by the clock, {num_busy} of"
    )
    for outcome in ordered[:10]:
        print(f"  {outcome.seconds:6.2f} s {outcome.processor_s:6.2f} s  {_line(outcome)}")
    crashed = [outcome for outcome in outcomes if outcome.verdict.reason == "worker_crash"]
    print(f"crashes: {len(crashed)}")
    for outcome in crashed[:10]:
        print(f"  {_line(outcome)}")
    reasons = Counter(f"{outcome.verdict.verdict}: {outcome.verdict.reason}" for outcome in outcomes)
    print("\n".join(f"  {count:>8,}  {name}" for name, count in reasons.most_common()))


def print_accepted(outcomes: list[Outcome], num_shown: int, source: Random) -> None:
    """Print the share of accepted mutations by kind, with examples."""
    by_kind: dict[str, list[Outcome]] = defaultdict(list)
    for outcome in outcomes:
        by_kind[outcome.kind].append(outcome)
    print("\naccepted mutations")
    for kind, found in sorted(by_kind.items()):
        accepted = [outcome for outcome in found if outcome.verdict.verdict == "correct"]
        print(f"{len(accepted):>6,} of {len(found):>6,}  {kind}")
        for outcome in source.sample(accepted, min(num_shown, len(accepted))):
            print(f"        {_line(outcome)}")


def _line(outcome: Outcome) -> str:
    truth, answer = (re.sub(r"\s+", " ", text)[:90] for text in (outcome.truth, outcome.answer))
    return f"{outcome.kind}: {truth} | {answer} | {outcome.verdict.reason}"


if __name__ == "__main__":
    main()
