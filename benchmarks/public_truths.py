"""Ground truths of the public pools beside the project, read unchanged from their files."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from curate.verify.spelling.normalise import matching_brace

Row = dict[str, Any]
# (file, place of its truth: a column, or the last box or #### of a column)
FILES: Final = (
    *(
        (f"deepscaler/{name}.json", "answer")
        for name in ("train_math", "train_aime", "test_math", "test_aime", "test_amc")
    ),
    ("gsm8k/train.jsonl", "answer####"),
    ("gsm8k/test.jsonl", "answer####"),
    ("math500/test.jsonl", "answer"),
    ("aime24/test.jsonl", "answer"),
    ("amc23/test.jsonl", "answer"),
    ("olympiadbench/test.jsonl", "final_answer"),
    ("svamp/test.jsonl", "Answer"),
    ("gaokao_zh/gaokao_math_cloze.jsonl", "answer"),
    ("gaokao_zh/gaokao_math_qa.jsonl", "label"),
    ("gaokao_zh/cn_middle_school.jsonl", "answer"),
    ("cmath/cmath_dev.jsonl", "golden"),
    ("cmath/distractor.jsonl", "golden"),
    ("mmlu_stem/test.jsonl", "answer"),
    ("aqua/dev.json", "correct"),
    ("aqua/test.json", "correct"),
    ("talscq/en_single_choice_train_3K.jsonl", "answer_value"),
    ("talscq/ch_single_choice_train_3K.jsonl", "answer_value"),
    ("minerva_math/test.jsonl", "solution\\boxed"),
    ("verify_pairs/mathcoder_labelled.jsonl", "ground_truth"),
)


def ground_truths(data: Path) -> Iterator[str]:
    """Every ground truth of the existing pools, in order, with repetitions."""
    for name, column in FILES:
        if (data / name).exists():
            for row in _rows(data / name):
                yield from _truths(row, column)


def _rows(path: Path) -> list[Row]:
    text = path.read_text(encoding="utf-8")
    rows: list[Row] = (
        json.loads(text) if text.lstrip().startswith("[") else [json.loads(line) for line in text.splitlines()]
    )
    return rows


def _truths(row: Row, column: str) -> Iterator[str]:
    if column.endswith("####"):
        yield row[column.removesuffix("####")].rpartition("####")[2].strip()
    elif column.endswith("\\boxed"):
        _, _, rest = row[column.removesuffix("\\boxed")].rpartition("\\boxed")
        end = matching_brace(rest, 0)
        yield rest[1:end] if end > 0 else ""
    else:
        value = row[column]
        yield from map(str, value) if isinstance(value, list) else [str(value)]
