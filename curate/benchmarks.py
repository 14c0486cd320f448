"""The benchmarks that a pool is held against: read like any source, one table of items, with where each came from.

`sources_against` turns what the user wrote (paths, artifacts, Hub ids, `default`) into sources; `read_items` reads them
into one frame with the columns of `records.PROBLEM` plus `benchmark` and `item`, identical prompts once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import polars as pl

from curate.errors import UserError
from curate.ingest import IngestConfig, plan
from curate.problems import Builder, Unusable
from curate.records import PROBLEM, schema
from curate.sources import Source, pinned, read_rows, source_at

# What `--against default` stands for: the benchmarks that reasoning models are reported on. Of each the revision in
# force is looked up when it is read and goes into the manifest with its commit.
DEFAULT: Final = (
    Source(hub="HuggingFaceH4/MATH-500", name="math500", split="test"),
    Source(hub="HuggingFaceH4/aime_2024", name="aime24", split="train"),
    Source(hub="math-ai/aime25", name="aime25", split="test"),
    Source(hub="math-ai/amc23", name="amc23", split="test"),
    Source(hub="math-ai/minervamath", name="minerva", split="test"),
    Source(hub="math-ai/olympiadbench", name="olympiadbench", split="test"),
    Source(hub="openai/gsm8k", name="gsm8k", subset="main", split="test"),
    Source(hub="Idavidrein/gpqa", name="gpqa", subset="gpqa_diamond", split="train"),
    Source(hub="openai/openai_humaneval", name="humaneval", split="test"),
    Source(hub="google-research-datasets/mbpp", name="mbpp", subset="full", split="test"),
    Source(hub="livecodebench/code_generation_lite", name="livecodebench", split="test"),
)
_ITEM_ID: Final = (
    "unique_id", "task_id", "question_id", "problem_id", "problem_name", "id", "ID", "idx", "qid", "uid", "index",
)  # fmt: skip


def sources_against(texts: Sequence[str]) -> list[Source]:
    """The benchmarks behind `--against`; Hub ids with the commit they stand at now."""
    if not texts:
        raise UserError("--against is missing; name benchmark files, artifacts, Hub ids, or default")
    named = [source for text in texts for source in (DEFAULT if text == "default" else (source_at(text),))]
    return [pinned(source) for source in named]


def read_items(sources: Sequence[Source]) -> pl.DataFrame:
    """Every readable item: the problem's columns, `benchmark` and `item`.

    A problem that stands in several places is listed once, where it comes first.
    """
    rows = [row for source in sources for row in _items(source)]
    columns = schema(PROBLEM) | {"benchmark": pl.String(), "item": pl.String()}
    return pl.DataFrame(rows, schema=columns).unique("key", keep="first", maintain_order=True)


def _items(source: Source) -> list[dict[str, object]]:
    config = IngestConfig()
    planned = plan(source, config)
    builder = Builder(planned.columns, source.label(), config.max_prompt_bytes, planned.first_index)
    items = []
    for number, row in enumerate(read_rows(source, config.max_row_bytes)):
        if row.record is None:
            continue
        try:
            problem = builder.problem(row.record, number)
        except Unusable:
            continue
        names = [row.record[name] for name in _ITEM_ID if isinstance(row.record.get(name), str | int)]
        fields = {name: problem[name] for name in PROBLEM}
        items.append({**fields, "benchmark": source.label(), "item": str(names[0] if names else number)})
    return items
