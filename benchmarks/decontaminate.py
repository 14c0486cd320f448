"""Recall and false alarms of decontamination, beside two n-gram rules in common use.

Every item of a benchmark is turned into a pool row in each of several ways, from a plain copy to one with other
numbers; real training sets known to be clean give the share of false alarms. The two rules are the published ones: a
row is contaminated when it shares any 8 words in a row with a benchmark (open-r1's filter: lower case, split at white
space), or any 13 (GPT-3's, also without punctuation).

    python benchmarks/decontaminate.py [--shared FOLDER] [--items 300] [--large 1000000]
"""

from __future__ import annotations

import os

os.environ.setdefault("POLARS_MAX_THREADS", "1")  # rows per second are printed per core

import argparse
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final, TypeVar

import polars as pl
from any_gram import published_rules
from leaked_copies import TRANSFORMS, WANTED
from tables import Table, shares

from curate.artifacts.artifact import open_artifact
from curate.artifacts.folder import OutFolder
from curate.decontaminate.benchmarks import read_items
from curate.decontaminate.pairs import texts_of
from curate.decontaminate.paraphrases import ParaphraseSearch
from curate.decontaminate.search import LeakSearch
from curate.decontaminate.stage import DecontaminateConfig, stage, thresholds
from curate.ingest.sources import Source
from curate.runner.run import run_stage
from curate.runner.stage import decide

T = TypeVar("T")

BENCHMARKS: Final = {
    "math500": "math500/test.jsonl",
    "gsm8k": "gsm8k/test.jsonl",
    "aime24+25": "aime24/test.jsonl aime25/aime25.parquet",
    "olympiadbench": "olympiadbench/test.jsonl",
    "minerva": "minerva_math/test.jsonl",
    "amc23": "amc23/test.jsonl",
    "mbpp": "mbpp/mbpp.jsonl",
    "cmath (zh)": "cmath/cmath_dev.jsonl",
}
CLEAN: Final = {  # a training set, and benchmarks with nothing in common; identical problems are removed
    "gsm8k/train": ("gsm8k/train.jsonl", "gsm8k/test.jsonl math500/test.jsonl aime24/test.jsonl"),
    "train_math": ("deepscaler/train_math.json", "gsm8k/test.jsonl math500/test.jsonl aime24/test.jsonl"),
    "train_aime": ("deepscaler/train_aime.json", "aime24/test.jsonl aime25/aime25.parquet gsm8k/test.jsonl"),
    "leetcode": ("leetcode/train_leetcode.json", "humaneval/HumanEval.jsonl.gz mbpp/mbpp.jsonl"),
}


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shared", type=Path, default=Path(__file__).resolve().parents[2] / "shared")
    parser.add_argument("--items", type=int, default=300, help="items taken from each benchmark")
    parser.add_argument("--large", type=int, default=0, help="rows of the run that is measured for memory; 0 for none")
    options = parser.parse_args()
    data = options.shared / "data"
    if not data.is_dir():
        sys.exit(f"skipped: no data in {data}; name its folder with --shared")
    found_table(data, options.items)
    clean_table(data)
    paraphrase_table(data)
    speed_table(data)
    if options.large:
        memory_table(data, options.large)


def found_table(data: Path, num_items: int) -> None:
    """For each transformation: the share found with the right fate by gradus, and found by the two rules."""
    title = (
        "Found, in % of the items: gradus (contaminated, or variant for renumbered), any 8-gram, any 13-gram (at all)"
    )
    table = Table(title, list(TRANSFORMS), label_width=14, least_width=24)
    sums: dict[str, list[float]] = {name: [0, 0, 0, 0] for name in TRANSFORMS}
    for benchmark, paths in BENCHMARKS.items():
        items = _items(data, paths)
        search, rules = _search(items), published_rules(items)
        chosen = items.sample(min(num_items, items.height), seed=0)
        cells = []
        for name, transform in TRANSFORMS.items():
            dice = random.Random(f"{benchmark}:{name}")
            texts = [transform(prompt, dice) for prompt in chosen["prompt"]]
            changed = [
                pair for pair in zip(texts, chosen["prompt"], strict=True) if name == "exact" or pair[0] != pair[1]
            ]
            rows = _rows([text for text, _ in changed])
            hits = [it is not None and it.fate == WANTED[name] for it in search.find(rows)]
            counts = [sum(hits), *(sum(map(rule.flags, rows["prompt"])) for rule in rules)]
            sums[name] = [old + new for old, new in zip(sums[name], [*counts, len(changed)], strict=True)]
            cells.append(shares(counts, len(changed)))
        table.row(benchmark, *cells)
    table.row("all", *(shares(counts[:3], counts[3]) for counts in sums.values()))


def clean_table(data: Path) -> None:
    """Share of known clean sets that is flagged."""
    heads = ("rows", "contaminated", "variant", "8-gram", "13-gram")
    table = Table("Flagged on clean sets, in % of the rows", heads, label_width=14)
    for name, (path, against) in CLEAN.items():
        items, rows = _items(data, against), _items(data, path).drop("benchmark", "item")
        rows = rows.filter(~pl.col("prompt").is_in(items["prompt"].implode()))
        found = _search(items).find(rows)
        fates = [sum(it is not None and it.fate == fate for it in found) for fate in ("contaminated", "variant")]
        counts = [*fates, *(sum(map(rule.flags, rows["prompt"])) for rule in published_rules(items))]
        table.row(name, rows.height, *(f"{100 * count / rows.height:.2f}" for count in counts))


def paraphrase_table(data: Path) -> None:
    """Share flagged by each signal of GSM8K's test set reworded by a model, and of its training set."""
    bench = _items(data, "gsm8k/test.jsonl").with_columns(item=pl.int_range(pl.len()).cast(pl.String))
    reworded = [row["text"].split("Answer:")[0] for row in _json_lines(data / "rephrased/rephrase_gsm8k.jsonl")]
    pools = {"reworded": _rows(reworded), "gsm8k/train": _rows(_items(data, "gsm8k/train.jsonl")["prompt"].to_list())}
    config = DecontaminateConfig()
    search, rules = _search(bench), published_rules(bench)
    hints = ParaphraseSearch(bench, config.min_similarity)
    heads = ("rows", "n-grams, likeness", "embedding", "8-gram", "13-gram", "rows/s of the embedding")
    table = Table("Paraphrases of gsm8k/test, in % of the rows flagged at all", heads, label_width=14)
    for name, rows in pools.items():
        start_s = time.process_time()
        hinted = sum(hint is not None for hint in hints.find(rows))
        per_s = rows.height / (time.process_time() - start_s)
        found = sum(it is not None for it in search.find(rows))
        counts = [found, hinted, *(sum(map(rule.flags, rows["prompt"])) for rule in rules)]
        table.row(name, rows.height, *(f"{100 * count / rows.height:.2f}" for count in counts), round(per_s))


def speed_table(data: Path) -> None:
    """Rows per second of processor time: tokenising, each pass over the tokens, and everything."""
    items = _items(data, " ".join((*BENCHMARKS.values(), "mmlu_stem/test.jsonl")))
    search = _search(items)
    rows = _rows(_items(data, "deepscaler/train_math.json gsm8k/train.jsonl")["prompt"].to_list())
    title = f"Rows per second on one core, {rows.height:,} rows against {items.height:,} items"
    table = Table(title, ("rows/s", "with tokens"), label_width=28)
    texts, took_s = _timed(lambda: texts_of(rows))
    table.row("tokens in every view", round(rows.height / took_s), "")
    for name, propose in search.passes(texts).items():
        _, pass_s = _timed(propose)
        table.row(f"{name} pass", round(rows.height / pass_s), round(rows.height / (took_s + pass_s)))
    _, all_s = _timed(lambda: search.find(rows))
    table.row("all passes and verdicts", round(rows.height / all_s), "")
    rule = published_rules(items)[0]
    _, rule_s = _timed(lambda: [rule.flags(text) for text in rows["prompt"]])
    table.row("any 8-gram, in Python", round(rows.height / rule_s), "")


def memory_table(data: Path, num_rows: int) -> None:
    """Peak memory of the whole stage over a large pool on disk and over a tenth of it, each in its own process."""
    table = Table("Memory of the stage", ("peak MB", "cpu s", "rows/s"), label_width=14)
    here = Path(__file__).resolve().parent
    for size in (num_rows // 10, num_rows):
        program = f"from decontaminate import measure; measure({str(data.resolve())!r}, {size})"
        done = subprocess.run([sys.executable, "-c", program], check=True, cwd=here, capture_output=True, text=True)
        peak_mb, cpu_s = map(float, done.stdout.split())
        table.row(f"{size:,} rows", peak_mb, cpu_s, round(size / cpu_s))


def measure(data: str, num_rows: int) -> None:
    """Print the peak memory in MB and the processor seconds of `decontaminate` over rows made from real problems."""
    against = [str(Path(data) / path) for path in "math500/test.jsonl gsm8k/test.jsonl aime24/test.jsonl".split()]
    config = DecontaminateConfig(against=tuple(against))
    with tempfile.TemporaryDirectory() as folder:
        pool = Path(folder) / "pool"
        _write_large_pool(Path(data), pool, num_rows)
        start_s = time.process_time()
        run_stage(stage(config), open_artifact(pool), Path(folder) / "out")
        cpu_s = time.process_time() - start_s
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, cpu_s)


def _write_large_pool(data: Path, pool: Path, num_rows: int) -> None:
    """Repeated real prompts, each with its own number in front, in shards of 50,000."""
    known = _items(data, "deepscaler/train_math.json gsm8k/train.jsonl").drop("benchmark", "item")
    with OutFolder(pool, {"stage": "ingest", "version": 1, "config": {}, "inputs": {"made": "0"}}) as out:
        for index, start in enumerate(range(0, num_rows, 50_000)):
            size = min(50_000, num_rows - start)
            rows = pl.concat([known] * (size // known.height + 1)).head(size).with_row_index("n", offset=start)
            rows = rows.with_columns(
                key=pl.format("{}", "n"),
                prompt=pl.format("Case {}: {}", "n", "prompt"),
                source_row=pl.col("n").cast(pl.Int64),
            )
            out.write_batch(index, decide(rows.drop("n"), pl.lit(None), pl.lit(None)))
        out.finish(lambda _: {})


def _timed(work: Callable[[], T]) -> tuple[T, float]:
    """The result, and the CPU seconds of the best of three."""
    times = []
    for _ in range(3):
        start_s = time.process_time()
        result = work()
        times.append(time.process_time() - start_s)
    return result, min(times)


def _items(data: Path, paths: str) -> pl.DataFrame:
    return read_items([Source(path=data / path) for path in paths.split()])


def _search(items: pl.DataFrame) -> LeakSearch:
    return LeakSearch(items, thresholds(DecontaminateConfig()))


def _json_lines(path: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]


def _rows(prompts: list[str]) -> pl.DataFrame:
    empty = pl.lit(None, pl.String)
    return pl.DataFrame({"prompt": prompts}, schema={"prompt": pl.String}).with_columns(
        ground_truth=empty, solution=empty, choices=pl.lit(None, pl.List(pl.String))
    )


if __name__ == "__main__":
    main()
