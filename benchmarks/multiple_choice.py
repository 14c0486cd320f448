"""Share of multiple-choice problems that are caught, by shape, and share of open ones that are flagged.

Options of real multiple-choice problems are written into the text in many shapes, with the right letter, the right
option's text or nothing as ground truth. The baseline is the plain rule "A, B, C and D each occur in the text before a
bracket or dot, in this order".

    python benchmarks/multiple_choice.py [--shared FOLDER] [--items 500]
"""

from __future__ import annotations

import argparse
import re
import sys
import time
from pathlib import Path
from typing import Final

import polars as pl
from tables import Table, shares

from curate.decontaminate.benchmarks import read_items
from curate.ingest.sources import Source
from curate.multiple_choice.guessable import guessable

SETS: Final = {
    "aqua": "aqua/test.json",
    "mmlu_stem": "mmlu_stem/test.jsonl",
    "gaokao_zh": "gaokao_zh/gaokao_math_qa.jsonl",
    "talscq en": "talscq/en_single_choice_train_3K.jsonl",
    "talscq zh": "talscq/ch_single_choice_train_3K.jsonl",
}
OPEN: Final = {
    "gsm8k": "gsm8k/train.jsonl",
    "train_aime": "deepscaler/train_aime.json",
    "olympiadbench": "olympiadbench/test.jsonl",
    "svamp": "svamp/test.jsonl",
    "cmath (zh)": "cmath/cmath_dev.jsonl",
    "gaokao cloze (zh)": "gaokao_zh/gaokao_math_cloze.jsonl",
    "train_math": "deepscaler/train_math.json",
}
SHAPES: Final = {
    "(A) x (B) y": ("({}) {} ", "ABCDEFGHIJ"),
    "A. x, a line each": ("{}. {}\n", "ABCDEFGHIJ"),
    "A. x B. y": ("{}. {} ", "ABCDEFGHIJ"),
    "A) x": ("{}) {}\n", "ABCDEFGHIJ"),
    "（A）x": ("（{}）{}　", "ABCDEFGHIJ"),
    r"\textbf{(A)}\ x": (r"\textbf{{({})}}\ {} \qquad ", "ABCDEFGHIJ"),
    "**A)** x": ("**{})** {} ", "ABCDEFGHIJ"),
    "a) x b) y": ("{}) {} ", "abcdefghij"),
    "(1) x (2) y": ("({}) {} ", "123456789"),
    "①x②y": ("{}{} ", "①②③④⑤⑥⑦⑧⑨⑩"),
}
TRUTHS: Final = ("letter", "content", "unknown")


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shared", type=Path, default=Path(__file__).resolve().parents[2] / "shared")
    parser.add_argument("--items", type=int, default=500, help="items taken from each set")
    options = parser.parse_args()
    data = options.shared / "data"
    if not data.is_dir():
        sys.exit(f"skipped: no data in {data}; name its folder with --shared")
    caught_table(data, options.items)
    flagged_table(data)


def caught_table(data: Path, num_items: int) -> None:
    """Share that is caught, by set, shape and kind of ground truth."""
    title = "Caught, in %: ground truth is the letter, the option's text, nothing; then the plain rule"
    table = Table(title, list(SETS), least_width=32)
    problems = {name: _choice_rows(data / path, num_items) for name, path in SETS.items()}
    for shape, (label, letters) in SHAPES.items():
        table.row(shape, *(_shares(rows, label, letters) for rows in problems.values()))


def flagged_table(data: Path) -> None:
    """Share that is flagged, by open set (train_math has about 154 with options), and the speed."""
    table = Table("Flagged in open sets", ("rows", "flagged", "%", "rule %", "rows/s"))
    for name, path in OPEN.items():
        items = read_items([Source(path=data / path)])
        pairs = list(items.select("prompt", "ground_truth").iter_rows())
        start_s = time.process_time()
        flagged = sum(guessable(prompt, truth, None) is not None for prompt, truth in pairs)
        per_s = len(pairs) / (time.process_time() - start_s)
        by_rule = sum(_plain_rule(prompt) for prompt, _ in pairs)
        parts = [f"{100 * count / len(pairs):.2f}" for count in (flagged, by_rule)]
        table.row(name, len(pairs), flagged, *parts, round(per_s))


def _shares(problems: list[tuple[str, list[str], int]], label: str, letters: str) -> str:
    caught = dict.fromkeys((*TRUTHS, "rule"), 0)
    for stem, choices, right in problems:
        text = f"{stem}\n" + "".join(label.format(letters[place], it.strip()) for place, it in enumerate(choices))
        for name, truth in zip(TRUTHS, (letters[right], choices[right], None), strict=True):
            caught[name] += guessable(text, truth, None) is not None
        caught["rule"] += _plain_rule(text)
    return shares(list(caught.values()), len(problems))


def _plain_rule(text: str) -> bool:
    return re.search(r"\(?A[).].*\(?B[).].*\(?C[).].*\(?D[).]", text, re.DOTALL) is not None


def _choice_rows(path: Path, num_items: int) -> list[tuple[str, list[str], int]]:
    items = read_items([Source(path=path)]).filter(pl.col("ground_truth").str.contains(r"^[A-J]$"))
    items = items.filter(pl.col("choices").list.len() > 1).sample(fraction=1, shuffle=True, seed=0).head(num_items)
    columns = items.select("prompt", "choices", "ground_truth").iter_rows()
    return [(stem, choices, ord(letter) - ord("A")) for stem, choices, letter in columns]


if __name__ == "__main__":
    main()
