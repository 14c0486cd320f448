"""Generates the demo's raw files, as messy as real pools, from a seed.

    expressions.jsonl     {"question", "answer"}
    stories.jsonl         {"question", "answer"} with GSM8K's `#### 42` at the end
    chain_sums.parquet    {"question", "answer", "metadata"}
    scraped.jsonl         copies, multiple choice, proofs, leaks of the benchmark, rows without answers, torn lines
    benchmark.jsonl       the synthetic benchmark that the run reports; held out
    cold_start.jsonl      {"prompt", "completion"} by a teacher that errs; in neither pool nor benchmark

`write_raw` writes all of them; every file depends only on the seed and the sizes.
"""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

from problems import Problem, Slip, from_expression, generate

SIZES: Final = {"expressions": 400, "stories": 400, "chain_sums": 150, "benchmark": 256, "cold_start": 12_000}
NUM_COPIES, NUM_CHOICE, NUM_LEAKS, NUM_UNASKED = 60, 40, 24, 4
NO_THINK_SHARE: Final = 0.08
SLIP_SHARE: Final = 0.3

PROOFS: Final = (
    "Prove that the sum of {a} consecutive odd numbers is divisible by {a}.",
    "Show that there are infinitely many primes that leave remainder {a} when divided by 4.",
    "Prove that $n^{a} - n$ is divisible by {a} for every integer $n$.",
)


def write_raw(folder: Path, seed: int = 0) -> Path:
    """Write all raw files into `folder` and return it."""
    folder.mkdir(parents=True, exist_ok=True)
    chains = list(itertools.islice(_chain_sums(random.Random(f"{seed}:chains")), SIZES["chain_sums"]))
    fresh = _fresh(random.Random(f"{seed}:problems"), taken={problem.question for problem in chains})
    benchmark = list(itertools.islice(fresh, SIZES["benchmark"]))
    expressions = _take(fresh, "expression", SIZES["expressions"])
    stories = _take(fresh, "story", SIZES["stories"])
    cold = list(itertools.islice(fresh, SIZES["cold_start"]))
    rng = random.Random(f"{seed}:mess")
    _write_jsonl(folder / "benchmark.jsonl", [_plain(problem) for problem in benchmark])
    _write_jsonl(folder / "expressions.jsonl", [_plain(problem) for problem in expressions])
    _write_jsonl(folder / "stories.jsonl", [_gsm8k(problem) for problem in stories])
    _write_parquet(folder / "chain_sums.parquet", chains)
    _write_jsonl(folder / "cold_start.jsonl", [_cold_start(problem, rng) for problem in cold])
    _write_scraped(folder / "scraped.jsonl", [*expressions, *stories], benchmark, rng)
    return folder


def _fresh(rng: random.Random, taken: set[str]) -> Iterator[Problem]:
    """Problems with distinct questions, none of them in `taken`."""
    seen = set(taken)
    for problem in generate(rng):
        if problem.question not in seen:
            seen.add(problem.question)
            yield problem


def _take(problems: Iterator[Problem], family: str, count: int) -> list[Problem]:
    return list(itertools.islice((p for p in problems if p.family == family), count))


def _chain_sums(rng: random.Random) -> Iterator[Problem]:
    """Sums of two or three terms, shortly worded; only those with a working in columns."""
    while True:
        terms = [str(rng.randint(*rng.choice(((1, 9), (10, 99))))) for _ in range(rng.randint(2, 3))]
        expression = terms[0] + "".join(f" {rng.choice('+-')} {term}" for term in terms[1:])
        problem = from_expression(f"What is {expression}?", expression, "chain_sum")
        if problem is not None:
            yield problem


def _plain(problem: Problem) -> dict[str, Any]:
    return {"question": problem.question, "answer": str(problem.answer), "level": problem.level}


def _gsm8k(problem: Problem) -> dict[str, Any]:
    return {"question": problem.question, "answer": f"{problem.working()}\n#### {problem.answer}"}


def _cold_start(problem: Problem, rng: random.Random) -> dict[str, Any]:
    if rng.random() < NO_THINK_SHARE:
        return {"prompt": problem.question, "completion": problem.short_completion()}
    slip = Slip(rng.randrange(problem.level), rng.choice((-1, 1))) if rng.random() < SLIP_SHARE else None
    return {"prompt": problem.question, "completion": problem.completion(slip)}


def _write_scraped(path: Path, known: list[Problem], benchmark: list[Problem], rng: random.Random) -> None:
    lines = [json.dumps(row) for row in _mess(known, benchmark, rng)]
    lines += ['{"question": "Compute $3 + 4$.", "answer": "7"', "not json at all"]
    lines += [json.dumps({"question": None, "answer": "5"}) for _ in range(NUM_UNASKED)]
    lines += [json.dumps({"question": f"Compute ${n} + {n}$ for the case left open.", "answer": ""}) for n in range(4)]
    rng.shuffle(lines)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _mess(known: list[Problem], benchmark: list[Problem], rng: random.Random) -> Iterator[dict[str, Any]]:
    for problem in rng.sample(known, NUM_COPIES):
        yield {**_plain(problem), "question": rng.choice(COPIES)(problem.question)}
    for problem in rng.sample(benchmark, NUM_LEAKS):
        yield {**_plain(problem), "question": rng.choice(LEAKS)(problem.question)}
    for problem in itertools.islice(generate(rng), NUM_CHOICE):
        yield _multiple_choice(problem, rng)
    for template in PROOFS:
        for number in (3, 5, 7):
            yield {"question": template.replace("{a}", str(number)), "answer": "Proof."}


COPIES: Final[tuple[Callable[[str], str], ...]] = (
    lambda text: text,
    lambda text: text.replace(" ", "  ", 2) + "\n",
    lambda text: text.replace("How many", "Tell me how many").replace("Compute", "Please compute"),
)
LEAKS: Final[tuple[Callable[[str], str], ...]] = (
    lambda text: text,
    lambda text: f"Solve the following problem step by step. {text} Write the answer in a box.",
    lambda text: text.replace(" ", "\n", 1),
)


def _multiple_choice(problem: Problem, rng: random.Random) -> dict[str, Any]:
    options = rng.sample([problem.answer + delta for delta in (-10, -1, 1, 10)], 3)
    options.insert(rng.randrange(4), problem.answer)
    listed = " ".join(f"({letter}) {option}" for letter, option in zip("ABCD", options, strict=True))
    return {"question": f"{problem.question} {listed}", "answer": "ABCD"[options.index(problem.answer)]}


def _write_jsonl(path: Path, rows: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def _write_parquet(path: Path, problems: list[Problem]) -> None:
    import polars as pl

    pl.DataFrame(
        [{**_plain(problem), "metadata": json.dumps({"source_dataset": "chain_sum"})} for problem in problems]
    ).write_parquet(path)
