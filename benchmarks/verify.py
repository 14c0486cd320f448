"""Accuracy and speed of the verifier, beside plain math-verify: `python benchmarks/verify.py [--shared FOLDER]`.

Prints accuracy on labelled answers where they are beside the project, on the generated pairs of `verify_pairs`, on all
ground truths of the public pools (each must equal itself), and against the labels of GSM8K's model solutions; then
speed: unique pairs, groups of eight, percentiles, the share of each stage, the slowest pairs, and hostile pairs.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from public_truths import ground_truths
from verify_pairs import pairs

from curate.verify import Item, Verdict, check_truth, verify, verify_many

Row = dict[str, Any]
MAX_SLOW = 1000  # maximum number of pairs for plain math-verify
HOSTILE = (
    ("7", "9^{9^{9^{9}}}"),
    ("720", "(((10!)!)!)!"),
    ("5", r"\binom{1000000000}{500000000}"),
    ("x", "(x+y+z+w)^{60}-(x+y+z+w)^{59}"),
    ("1", "(" * 900 + "1" + ")" * 900),
    ("1", "1+" * 990 + "1"),
    ("1", "-" * 1990 + "1"),
    ("1", "1" + "!" * 1900),
    ("1", r"\sqrt{" * 300 + "1" + "}" * 300),
    ("x", "x^" * 900 + "x"),
    ("5", r"\exp(\exp(\exp(\exp(9))))"),
    ("5", r"\sin(" * 60 + "1" + ")" * 60),
    ("5", r"\sum_{k=1}^{10^{12}} \sin(k^2)"),
    ("5", r"\int_0^{\infty} e^{-x^{x^{x}}} dx"),
    ("5", r"\prod_{k=1}^{10^{9}} (k+1)"),
)


class Labelled(NamedTuple):
    """A pair with the verdict that it should get."""

    item: Item
    is_correct: bool
    kind: str


def main() -> None:
    """Run all measurements and print them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shared", type=Path, default=Path(__file__).resolve().parents[2] / "shared")
    parser.add_argument("--rounds", type=int, default=10, help="draws of each generated kind")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    warm_up()
    sets = dict(labelled_sets(options.shared))
    sets["generated"] = generated(options.rounds, options.seed)
    print_accuracy(sets)
    if (options.shared / "data").is_dir():
        truths = sorted(set(ground_truths(options.shared / "data")))
        print_truths(truths)
        print_gsm8k(options.shared / "data" / "gsm8k" / "example_model_solutions.jsonl")
        print_speed("public ground truths", speed_items(truths))
    fresh = generated(options.rounds, options.seed + 1)
    print_speed("generated pairs", [labelled.item for labelled in fresh])
    print_hostile()


def warm_up() -> None:
    """Load what would otherwise slow the first pair."""
    verify(r"\boxed{\int_0^1 x dx}", "2")


def labelled_sets(shared: Path) -> Iterator[tuple[str, list[Labelled]]]:
    """The labelled answers that exist."""
    for name, path, make in (
        ("hand-labelled", shared / "cases" / "answers.jsonl", _case),
        ("bug reports", shared / "cases" / "answer_bugs.jsonl", _report),
        ("model answers", shared / "data" / "verify_pairs" / "mathcoder_labelled.jsonl", _model_answer),
    ):
        if path.exists():
            yield name, [labelled for row in read(path) if (labelled := make(row)) is not None]


def _case(row: Row) -> Labelled:
    return Labelled(Item(row["completion"], row["ground_truth"]), row["expected"] == "correct", row["kind"])


def _report(row: Row) -> Labelled | None:
    """A public bug report about an answer or a response; reports about code give None."""
    if row["level"] not in ("answer", "response"):
        return None
    item = Item(row["prediction"], row["ground_truth"], is_bare=row["level"] == "answer")
    return Labelled(item, row["expected"], row["kind"])


def _model_answer(row: Row) -> Labelled | None:
    """A real answer that people labelled correct or wrong; "approx" and "ambiguous" are left out."""
    if row["expected"] not in ("correct", "wrong"):
        return None
    return Labelled(Item(row["prediction"], row["ground_truth"], is_bare=True), row["expected"] == "correct", "real")


def generated(num_rounds: int, seed: int) -> list[Labelled]:
    """The project's own pairs."""
    return [Labelled(Item(p.answer, p.ground_truth, is_bare=True), p.is_equal, p.kind) for p in pairs(num_rounds, seed)]


def read(path: Path) -> list[Row]:
    """Rows of a JSONL file."""
    return [json.loads(line) for line in path.open(encoding="utf-8")]


def print_accuracy(sets: dict[str, list[Labelled]]) -> None:
    """Accuracy and false verdicts of both verifiers, and the pairs that gradus gets wrong."""
    print(f"{'':<23} |           gradus            |   plain math-verify")
    print(f"{'labelled':<16} {'pairs':>6} | accuracy   FP   FN   unsure | accuracy   FP   FN")
    misses: list[str] = []
    for name, rows in sets.items():
        verdicts = verify_many([row.item for row in rows])
        sample = rows if len(rows) <= MAX_SLOW else random.Random(0).sample(rows, MAX_SLOW)
        ours = scores([(v.verdict == "correct", row.is_correct) for v, row in zip(verdicts, rows, strict=True)])
        theirs = scores([(plain_math_verify(row.item), row.is_correct) for row in sample])
        num_undecided = sum(v.verdict == "undecided" for v in verdicts)
        print(f"{name:<16} {len(rows):>6,} | {ours} {num_undecided:>8} | {theirs}")
        misses += [
            f"  {name}, {row.kind}: {row.item.ground_truth[:50]!r} | {row.item.completion[-60:]!r} -> {v.reason}"
            for v, row in zip(verdicts, rows, strict=True)
            if (v.verdict == "correct") != row.is_correct
        ]
    print("\n".join(["missed:", *misses[:40]] if misses else ["missed: none"]))


def scores(outcomes: Sequence[tuple[bool, bool]]) -> str:
    """Accuracy, false positives and false negatives of (verdict, label) pairs."""
    right = sum(verdict == label for verdict, label in outcomes) / len(outcomes)
    num_fp = sum(verdict and not label for verdict, label in outcomes)
    num_fn = sum(label and not verdict for verdict, label in outcomes)
    return f"{right:>8.2%} {num_fp:>4} {num_fn:>4}"


def plain_math_verify(item: Item) -> bool:
    """math-verify, used with care: the truth in dollars, only the text after the thinking, boxes first."""
    import logging

    from math_verify import ExprExtractionConfig, LatexExtractionConfig, parse
    from math_verify import verify as their_verify

    logging.getLogger("math_verify").setLevel(logging.CRITICAL)
    answer = item.completion.rpartition("</think>")[2]
    answer = f"${answer}$" if item.is_bare else answer
    config = [LatexExtractionConfig(boxed_match_priority=0), ExprExtractionConfig()]
    truth, found = (parse(text, config, parsing_timeout=2) for text in (f"${item.ground_truth}$", answer))
    return bool(their_verify(truth, found, allow_set_relation_comp=True, timeout_seconds=2))


def print_truths(truths: Iterable[str]) -> None:
    """Print how many ground truths equal themselves or are known to be uncheckable."""
    counts: Counter[str] = Counter()
    for truth in truths:
        verdict = verify(f"\\boxed{{{truth}}}", truth)
        counts[f"{verdict.verdict}: {verdict.reason}"] += 1
        counts[f"check_truth: {check_truth(truth)}"] += 1
    print("\nground truths of the public pools against themselves")
    print("\n".join(f"  {count:>7,}  {name}" for name, count in counts.most_common()))


def print_gsm8k(path: Path) -> None:
    """Print agreement with `is_correct`, and every difference."""
    counts: Counter[tuple[bool, str]] = Counter()
    print("\nGSM8K model solutions: label, verdict")
    for row in read(path):
        truth = row["ground_truth"].rpartition("A: ")[2]
        for solution in (value for value in row.values() if isinstance(value, dict)):
            verdict = verify(solution["solution"], truth, question=row["question"])
            counts[solution["is_correct"], verdict.verdict] += 1
            if solution["is_correct"] != (verdict.verdict == "correct"):
                print(f"  differs: truth {truth!r}, {verdict}")
    print("\n".join(f"  {count:>7,}  {label}, {verdict}" for (label, verdict), count in counts.most_common()))


def speed_items(truths: Sequence[str]) -> list[Item]:
    """Each ground truth once: against another spelling of itself, or against another one."""
    r = random.Random(0)
    spelled: tuple[Callable[[str], str], ...] = (
        lambda truth: truth.replace("\\frac", "\\dfrac"),
        lambda truth: f"\\left({truth}\\right)",
        lambda truth: f" {truth} ",
        lambda _: r.choice(truths),
        lambda _: r.choice(truths),
    )
    return [
        Item(f"Therefore the answer is $\\boxed{{{r.choice(spelled)(truth)}}}$.", truth) for truth in truths if truth
    ]


def print_speed(name: str, items: Sequence[Item]) -> None:
    """Pairs per second, unique and in groups of eight; percentiles; share of the stages; the slowest pairs.

    A space at the truth makes each run's pairs new to the memo, so that every first member is computed.
    """
    cpu_ms = processor_ms(items)
    unique, verdicts = timed([Item(i.completion, f" {i.ground_truth}", is_bare=i.is_bare) for i in items])
    groups = [Item(i.completion, f"{i.ground_truth} ", is_bare=i.is_bare) for i in items for _ in range(8)]
    grouped, _ = timed(groups)
    ms = sorted(v.ms for v in verdicts)
    rates = f"{len(items) / unique:,.0f} unique pairs/s, {len(groups) / grouped:,.0f} pairs/s in groups of 8"
    print(f"\nspeed, {name}: {rates}")
    print(
        f"  processor time on one core: {1000 * len(cpu_ms) / sum(cpu_ms):,.0f} unique pairs/s, "
        f"p99 {sorted(cpu_ms)[int(len(cpu_ms) * 0.99)]:.1f} ms, worst {max(cpu_ms):.0f} ms (workers not counted)"
    )
    print(f"  ms per pair: median {statistics.median(ms):.2f}, p99 {ms[int(len(ms) * 0.99)]:.1f}, worst {ms[-1]:.0f}")
    print("  share of pairs and of time: " + "; ".join(stage_shares(verdicts)))
    for verdict, item in sorted(zip(verdicts, items, strict=True), key=lambda pair: -pair[0].ms)[:3]:
        print(f"  slow: {verdict.ms:.0f} ms {item.ground_truth[:40]!r} | {item.completion[-50:]!r}")


def processor_ms(items: Sequence[Item]) -> list[float]:
    """Processor time of this process for each pair by itself, which a busy machine hardly affects."""
    spent = []
    for item in items:
        start = time.process_time()
        verify_many([item])
        spent.append((time.process_time() - start) * 1000)
    return spent


def stage_shares(verdicts: Sequence[Verdict]) -> list[str]:
    """For each stage the share of pairs it decided, and of the time they took."""
    total = sum(v.ms for v in verdicts)
    shares = []
    for stage, count in Counter(v.stage for v in verdicts).most_common():
        ms = sum(v.ms for v in verdicts if v.stage == stage)
        shares.append(f"{stage} {count / len(verdicts):.1%}, {ms / total:.1%}")
    return shares


def timed(items: Sequence[Item]) -> tuple[float, list[Verdict]]:
    """Seconds for a batch, and its verdicts."""
    start = time.perf_counter()
    verdicts = verify_many(items)
    return time.perf_counter() - start, verdicts


def print_hostile() -> None:
    """Pairs made to hang: none may be correct, take longer than its limit, or harm its neighbours."""
    good = Item("1/2", "0.5", is_bare=True)
    seconds, verdicts = timed([i for truth, answer in HOSTILE for i in (Item(answer, truth, is_bare=True), good)])
    hostile, neighbours = verdicts[::2], verdicts[1::2]
    num_right = sum(v.verdict == "correct" for v in neighbours)
    print(
        f"\nhostile: {len(hostile)} pairs in {seconds:.1f} s, worst {max(v.ms for v in hostile):.0f} ms per pair;",
        end=" ",
    )
    print(
        f"correct: {sum(v.verdict == 'correct' for v in hostile)}; neighbours right: {num_right} of {len(neighbours)}"
    )
    for (_, answer), v in zip(HOSTILE, hostile, strict=True):
        print(f"  {v.ms:>6.0f} ms  {v.verdict}, {v.reason}: {answer[:50]}")


if __name__ == "__main__":
    main()
