"""Hints after an import: rows that were lost for one reason that a look at the columns could mend, and how."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

import polars as pl

from curate.artifacts.artifact import scan_part
from curate.artifacts.manifest import Manifest
from curate.ingest.column_names import resembles
from curate.ingest.reading import ENCODING_HINT

LEAST: Final = 0.01  # share of a source's rows from which a reason is worth a hint
_NUM_LOOKED_AT: Final = 1_000
_NUM_COLUMNS: Final = 8
_HAS: Final = re.compile(r"the row has (.*)\Z")
_NAMES_A_ROW: Final = re.compile(r"(.*[ _-])?(id|idx|index|uuid|key|url|link|row|no|number)", re.IGNORECASE)
_FIXES: Final = {
    "wrong_type": "name a column of texts or conversations with --map {name}prompt=COLUMN{unread}",
    "placeholder": "name the column with the figures: --map {name}numbers=COLUMN{unread}",
    "conflicting_answers": "one text has several answers; if the problem is in more columns, join them: "
    "--map '{name}prompt={prompt}+COLUMN'{unread}",
    "broken_csv": "check separators and quotes in the file, or save it as JSONL or XLSX",
    "broken_json": "check the file's format",
    "broken_file": "the file is damaged or cut off; copy it again",
    "invalid_utf8": ENCODING_HINT,
    "nul_bytes": "if it is text in UTF-16 without a mark, name it: --encoding utf-16-le",
    "not_an_object": "each row must be a table of columns; give the file inside that has them",
    "too_large": "raise --max-prompt-bytes or --max-row-bytes to keep them",
}


class _Loss(NamedTuple):
    """The rows of one source that were lost for one reason, and details of some of them."""

    source: str
    reason: str
    num: int
    details: list[str]


def hints(out: Path, manifest: Manifest) -> list[str]:
    """One line for each source and reason that cost it 1 % of its rows or more; `out` is the folder of the artifact."""
    facts = {fact["name"]: fact for fact in manifest.facts["sources"]}
    kept = scan_part(out, "kept").select("source", "ground_truth", "tests", "also_in", "extra")
    lines = [line for fact in facts.values() for line in _changed(fact)]
    for loss in _losses(scan_part(out, "dropped")):
        fact = facts[loss.source]
        if loss.num >= LEAST * fact["num_rows"]:
            of_reason = scan_part(out, "dropped").filter(pl.col("drop_reason") == loss.reason)
            unread = _unread(of_reason, fact) or _unread(kept, fact)
            lines.append(_line(loss, fact, unread, is_one_of_many=len(facts) > 1))
    lines += [line for fact in facts.values() for line in _merged(fact, kept, is_one_of_many=len(facts) > 1)]
    return lines + [line for fact in facts.values() for line in _unanswered(fact, kept, is_one_of_many=len(facts) > 1)]


def _changed(fact: Mapping[str, Any]) -> Iterator[str]:  # Any: JSON, here and below
    if (row := fact.get("map_changed_at_row")) is not None:
        shown = ", ".join(f"{field} <- {' or '.join(paths)}" for field, paths in fact["map"].items())
        yield f"{fact['name']}: row {row + 1:,} has columns that the first rows lack; all rows were read by {shown}"


def _losses(dropped: pl.LazyFrame) -> list[_Loss]:
    groups = dropped.group_by("source", "drop_reason").agg(
        num=pl.len(), details=pl.col("drop_detail").head(_NUM_LOOKED_AT)
    )
    rows = groups.sort(["source", "num", "drop_reason"], descending=[False, True, False]).collect().iter_rows()
    return [_Loss(*row) for row in rows]


def _line(loss: _Loss, fact: Mapping[str, Any], unread: list[str], *, is_one_of_many: bool) -> str:
    name = f"{loss.source}:" if is_one_of_many else ""
    prompt = " or ".join(fact["map"].get("prompt", ["COLUMN"]))
    head = f"{loss.source}: {loss.num:,} of {fact['num_rows']:,} rows dropped, {loss.reason}"
    if loss.reason == "no_prompt":
        return f"{head}: {_sought(loss, name, fact['map'], prompt)}"
    first = f" (first: {loss.details[0][:100]})" if loss.reason.startswith("broken") else ""
    fix = _FIXES.get(loss.reason, "see drop_detail of the dropped rows")
    return f"{head}{first}: {fix.format(name=name, prompt=prompt, unread=_listed(unread))}"


def _sought(loss: _Loss, name: str, fact_map: Mapping[str, list[str]], prompt: str) -> str:
    """The columns of the rows without a prompt, and the map that would read them."""
    found = Counter(match[1] for detail in loss.details if (match := _HAS.search(detail)))
    if not found:
        return "conversations in which no user speaks, or empty texts"
    columns = found.most_common(1)[0][0]
    names = columns.split(", ")
    mapped = {path for paths in fact_map.values() for path in paths}
    texts = [column for column in names if column not in mapped and not _NAMES_A_ROW.fullmatch(column)]
    if not texts:
        return f"nothing in {prompt}, and no other column that could hold a problem: these rows have {columns}"
    best = next((column for column in texts if resembles(column, "prompt")), texts[0])
    return f"nothing in {prompt}; these rows have {columns}: --map '{name}prompt={prompt} or {best}'"


def _merged(fact: Mapping[str, Any], kept: pl.LazyFrame, *, is_one_of_many: bool) -> Iterator[str]:
    num = fact["num_merged"]
    if num < max(1, LEAST * fact["num_rows"]):
        return
    name = f"{fact['name']}:" if is_one_of_many else ""
    prompt = " or ".join(fact["map"]["prompt"])
    twins = kept.filter(pl.col("also_in").is_not_null())
    yield (
        f"{fact['name']}: {num:,} of {fact['num_rows']:,} rows merged, same text in {prompt}; if they are different "
        f"problems, join what tells them apart: --map '{name}prompt={prompt}+COLUMN'{_listed(_unread(twins, fact))}"
    )


def _unanswered(fact: Mapping[str, Any], kept: pl.LazyFrame, *, is_one_of_many: bool) -> Iterator[str]:
    own = kept.filter(pl.col("source") == fact["name"])
    is_open = pl.col("ground_truth").is_null() & pl.col("tests").is_null()
    num, of = own.select(is_open.sum(), pl.len()).collect().row(0)
    if not of or num < max(1, LEAST * of):
        return
    name = f"{fact['name']}:" if is_one_of_many else ""
    yield (
        f"{fact['name']}: {num:,} of {of:,} kept rows have no answer and no tests: "
        f"--map {name}ground_truth=COLUMN{_listed(_unread(own.filter(is_open), fact))}"
    )


def _unread(rows: pl.LazyFrame, fact: Mapping[str, Any]) -> list[str]:
    """The columns that were not read, from some rows of a source."""
    cells = rows.filter(pl.col("source") == fact["name"]).select(pl.col("extra").drop_nulls().head(50)).collect()
    return list(dict.fromkeys(name for text in cells["extra"] for name in json.loads(text)))[:_NUM_COLUMNS]


def _listed(unread: list[str]) -> str:
    return f" (columns not read: {', '.join(unread)})" if unread else ""
