"""Training examples, as prompts with completions or as conversations, from an artifact or a source that ingest reads.

Columns are detected as for problems (`curate.ingest.mapping`), but texts are not stripped: completions are learned with
their white space. An unreadable row is an error here; it is not dropped.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import polars as pl
import typer

from curate.errors import UserError
from curate.ingest.columns import Record, cell
from curate.ingest.hub import pinned
from curate.ingest.mapping import guess
from curate.ingest.plan import NUM_GUESSED_FROM
from curate.ingest.reading import read_rows
from curate.ingest.source_files import digest_of_source
from curate.ingest.sources import Source, sources_from
from train.data.rows import LIMITS, NoColumnError, Rows, artifact_at, need_columns

MESSAGES: Final = "messages"
PROMPT: Final = "prompt"
COMPLETION: Final = "completion"


def read_examples(data: Path, completion_column: str, maps: Sequence[str] = ()) -> Rows:
    """`prompt` and the completion column, or `messages`, of an artifact, a file, a folder or a Hub id.

    Columns are chosen in this order: those of `maps` (`prompt=COLUMN`, `solution=COLUMN`), `messages`, `prompt` and the
    completion column, and those that ingest detects as problem and solution. Raises `NoColumnError` where there is no
    completion, `UserError` where a row is bad or there are no rows.
    """
    (stated,) = sources_from([str(data)], [], {"map": maps})
    artifact = artifact_at(stated)
    if artifact is not None:
        rows = Rows(artifact.read(), artifact.manifest.digest)
        # of an artifact, `messages` are the turns before a completion
        need_columns(rows.frame, (PROMPT, completion_column), data)
    else:
        source = pinned(stated)
        # another map of the same bytes gives other examples
        by = "".join(f" {field}={column}" for field, column in sorted(source.map.items()))
        rows = Rows(_examples(list(_records(source, data)), source, completion_column), digest_of_source(source) + by)
    if rows.frame.is_empty():
        raise UserError(f"{data}: has no rows; give a source with at least one")
    return rows


def _records(source: Source, data: Path) -> Iterator[Record]:
    for row in read_rows(source, LIMITS.max_row_bytes):
        if row.record is None:
            raise UserError(f"{data}: {row.place} is {row.reason} ({row.detail}); fix or remove the row")
        yield row.record


def _examples(records: Sequence[Record], source: Source, completion_column: str) -> pl.DataFrame:
    names = list(dict.fromkeys(name for record in records for name in record))
    where = str(source.path or source.hub)
    if not records:
        return pl.DataFrame()
    # a text is not a conversation to learn but the turns of a problem
    if not source.map and any(isinstance(record.get(MESSAGES), list) for record in records):
        return _frame([{MESSAGES: record.get(MESSAGES)} for record in records], None, where)
    prompt, completion = _columns(records, names, source, completion_column)
    pairs = [
        {
            PROMPT: _text([cell(record, path) for path in prompt], where),
            completion_column: _text([cell(record, completion)], where),
        }
        for record in records
    ]
    return _frame(pairs, pl.Schema({PROMPT: pl.String(), completion_column: pl.String()}), where)


def _columns(
    records: Sequence[Record], names: Sequence[str], source: Source, completion_column: str
) -> tuple[Sequence[str], str]:
    """Columns of the prompt and column of the completion; detected ones are printed."""
    if not source.map and PROMPT in names and completion_column in names:
        return (PROMPT,), completion_column
    known = {PROMPT: PROMPT, "solution": completion_column}
    stated = {field: column for field, column in known.items() if column in names} | source.map
    columns = guess(records[:NUM_GUESSED_FROM], stated, source.label())
    # a missing column that was named must not be replaced by another
    if not columns.solution or not ("solution" in stated or completion_column == COMPLETION):
        place = source.path or source.hub
        raise NoColumnError(f"{place}: has no column {completion_column!r}; it has {', '.join(names)}")
    typer.echo(f"{source.label()}: prompt <- {' + '.join(columns.prompt[0])}, completion <- {columns.solution[0]}")
    return columns.prompt[0], columns.solution[0]


def _text(values: Sequence[Any], where: str) -> str | None:  # Any: cells of a source
    """Text of one column, unchanged, or of several, joined by empty lines; None where the last is null."""
    if wrong := [value for value in values if not isinstance(value, str | None)]:
        raise UserError(
            f"{where}: a prompt or completion is {type(wrong[0]).__name__}, not text: {str(wrong[0])[:100]}"
        )
    last: str | None = values[-1]
    if last is None or len(values) == 1:
        return last
    return "\n\n".join(text.strip() for text in values if text and text.strip())


def _frame(rows: Sequence[Mapping[str, Any]], schema: pl.Schema | None, where: str) -> pl.DataFrame:
    try:
        return pl.from_dicts(rows, schema=schema, infer_schema_length=None)
    except (pl.exceptions.PolarsError, TypeError, UnicodeEncodeError) as error:
        raise UserError(f"{where}: its rows do not form a table ({str(error).splitlines()[0]}); fix them") from None
