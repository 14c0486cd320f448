"""The benchmarks that a pool is held against: read like any source, one table of items, with where each came from.

`sources_against` turns what the user wrote (paths, artifacts, Hub ids, `default`) into sources; `read_items` reads them
into one frame with the columns of `records.PROBLEM` plus `benchmark` and `item`, identical prompts once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import polars as pl

from curate.config import nearest
from curate.errors import UserError
from curate.ingest.formats.files import format_of
from curate.ingest.hub import pinned
from curate.ingest.mapping import NoProblemColumnError
from curate.ingest.plan import IngestConfig, plan, read_problems
from curate.ingest.sources import Source, source_at
from curate.records import PROBLEM, schema

# The meaning of `--against default`: the benchmarks that reasoning models are reported on, each at a fixed commit, so
# that the same command finds the same leaks tomorrow. GPQA asks for a login and its terms; LiveCodeBench is 4 GB.
DEFAULT: Final = (
    Source(
        hub="HuggingFaceH4/MATH-500", name="math500", split="test", revision="6e4ed1a2a79af7d8630a6b768ec859cb5af4d3be"
    ),
    Source(hub="HuggingFaceH4/aime_2024", name="aime24", revision="2fe88a2f1091d5048c0f36abc874fb997b3dd99a"),
    Source(hub="math-ai/aime25", name="aime25", split="test", revision="563bb8404243c5f09de6ec262f2db674fe5bce9b"),
    Source(hub="math-ai/amc23", name="amc23", split="test", revision="80815d37005feb82cd7f8fbc6901d5d3eff43057"),
    Source(
        hub="math-ai/minervamath", name="minerva", split="test", revision="ee46ddc498933b1977577953250ca5c66be64f96"
    ),
    Source(
        hub="Hothan/OlympiadBench",
        name="olympiadbench",
        subset="OE_TO_maths_en_COMP",
        revision="91184b52131e7fc9455fef848035173aea8cc01a",
    ),
    Source(
        hub="openai/gsm8k",
        name="gsm8k",
        subset="main",
        split="test",
        revision="740312add88f781978c0658806c59bc2815b9866",
    ),
    Source(
        hub="Idavidrein/gpqa", name="gpqa", subset="gpqa_diamond", revision="633f5ee89ab8ad4522a9f850766b73f62147ffdd"
    ),
    Source(
        hub="openai/openai_humaneval",
        name="humaneval",
        split="test",
        revision="7dce6050a7d6d172f3cc5c32aa97f52fa1a2e544",
    ),
    Source(
        hub="google-research-datasets/mbpp",
        name="mbpp",
        subset="full",
        split="test",
        revision="4bb6404fdc6cacfda99d4ac4205087b89d32030c",
    ),
    Source(
        hub="livecodebench/code_generation_lite",
        name="livecodebench",
        # its loader is a script, which `datasets` no longer runs
        files=("test.jsonl", *(f"test{number}.jsonl" for number in range(2, 7))),
        revision="0fe84c3912ea0c4d4a78037083943e8f0c4dd505",
    ),
)
BY_NAME: Final = {source.name: source for source in DEFAULT}
_ITEM_ID: Final = (
    "unique_id", "task_id", "question_id", "problem_id", "problem_name", "id", "ID", "idx", "qid", "uid", "index",
)  # fmt: skip


def sources_against(texts: Sequence[str], skip: Sequence[str] = ()) -> list[Source]:
    """The benchmarks behind `--against` but for those named in `skip`; Hub ids with their current commit.

    `default` is all of `DEFAULT`, a name such as `math500` one of them, unless a file of that name exists here.
    """
    if not texts:
        raise UserError("--against is missing; name benchmark files, artifacts, Hub ids, or default")
    stated = [source for text in texts for source in _named(text)]
    named = _with_own_names([source for place, source in enumerate(stated) if source not in stated[:place]])
    labels = [source.label() for source in named]
    if unknown := [name for name in skip if name not in labels]:
        raise UserError(f"--skip {unknown[0]}: is none of the benchmarks of --against; {nearest(unknown[0], labels)}")
    if not set(labels) - set(skip):
        raise UserError("--skip leaves no benchmark of --against; name another")
    return [_pinned(source) for source in named if source.label() not in skip]


def bundle_lines() -> list[str]:
    """The benchmarks of `default`, one a line: name, Hub id, subset and split, and commit."""
    rows = [(source.name, str(source.hub), _part(source), str(source.revision)) for source in DEFAULT]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)) for row in rows]


def _part(source: Source) -> str:
    return f"{len(source.files)} files" if source.files else f"{source.subset or ''} {source.split}".strip()


def _named(text: str) -> Sequence[Source]:
    if Path(text).exists():
        return (source_at(text),)
    if text == "default":
        return DEFAULT
    if text in BY_NAME:
        return (BY_NAME[text],)
    if "/" not in text and format_of(Path(text)) is None:
        known = nearest(text, ["default", *BY_NAME])
        raise UserError(f"--against {text}: no such file here and no benchmark of that name in the bundle; {known}")
    return (source_at(text),)


def _with_own_names(sources: Sequence[Source]) -> list[Source]:
    """The sources; those that share a name get their folders' names too, so that evidence identifies them."""
    counts = Counter(source.label() for source in sources)
    renamed = [
        source.model_copy(update={"name": f"{source.path.resolve().parent.name}-{source.label()}"})
        if source.path is not None and counts[source.label()] > 1
        else source
        for source in sources
    ]
    doubled = [name for name, count in Counter(source.label() for source in renamed).items() if count > 1]
    if doubled:
        raise UserError(f"--against: two benchmarks are called {doubled[0]}; rename a file or its folder")
    return renamed


def _pinned(source: Source) -> Source:
    try:
        return pinned(source)
    except UserError as error:
        if source not in DEFAULT:
            raise
        raise UserError(f"{error}; or give a file of yours in its place, or --skip {source.name}") from None


def read_items(sources: Sequence[Source]) -> pl.DataFrame:
    """Every readable item: the problem's columns, `benchmark` and `item`.

    A problem that occurs several times is listed once, at its first place.
    """
    rows = [row for source in sources for row in _items(source)]
    columns = schema(PROBLEM) | {"benchmark": pl.String(), "item": pl.String()}
    return pl.DataFrame(rows, schema=columns).unique("key", keep="first", maintain_order=True)


def _items(source: Source) -> list[dict[str, object]]:
    config = IngestConfig()
    items = []
    try:
        planned = plan(source, config)
    except NoProblemColumnError as error:
        raise error.for_readers_of_artifacts(str(source.path or source.hub)) from None
    for record, problem in read_problems(planned, config):
        names = [record[name] for name in _ITEM_ID if isinstance(record.get(name), str | int)]
        fields = {name: problem[name] for name in PROBLEM}
        item = str(names[0] if names else problem["source_row"])
        items.append({**fields, "benchmark": source.label(), "item": item})
    return items
