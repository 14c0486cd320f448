"""How the rows of a source are read: one layout for each group of files with unlike columns.

A layout is decided by the first rows of its files. A `Watch` sees columns that these rows lack or leave empty, and
that could hold a field, so that an answer which begins at row 250 leads to a new layout.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from curate.errors import UserError
from curate.ingest.builder import Builder
from curate.ingest.choices import choices_of, first_index
from curate.ingest.column_names import BEFORE_PROMPT, CHOICES, LETTER, PROMPT, SOLUTION, SYSTEM, TESTS, TRUTH, resembles
from curate.ingest.columns import EMPTY, CellReader, ColumnMap, Record, cell
from curate.ingest.conversations import NoUser, conversation_of, is_instruction
from curate.ingest.mapping import guess, stated_in
from curate.ingest.placeholders import has_placeholders
from curate.ingest.seen_columns import SeenColumns
from curate.ingest.sources import Source

_PATHS: Final = {
    path
    for names in (PROMPT, BEFORE_PROMPT, TRUTH, LETTER, SOLUTION, CHOICES, TESTS, SYSTEM)
    for candidate in names
    for path in candidate.split("+")
}
_HEADS: Final = {path.partition(".")[0] for path in _PATHS}


class Watch:
    """Notices records with a value in a column that could hold a field and that the layout does not know."""

    def __init__(self, records: Sequence[Record]) -> None:
        seen = SeenColumns(records)
        self._known = set(seen.names)
        lower = {name.lower().replace(" ", "_"): name for name in reversed(seen.names) if name}
        paths = [
            lower[head] + dot + rest for path in _PATHS for head, dot, rest in [path.partition(".")] if head in lower
        ]
        # a field can begin later only in a column that is empty so far, or that holds tables
        self._dormant = sorted(path for path in paths if not seen.has_value(path) and seen.may_hold(path))

    def sees(self, record: Record) -> bool:
        """Whether a record has such a value."""
        if not record.keys() <= self._known:
            new = [name for name in record if name not in self._known]
            if any(_is_relevant(name) for name in new if record[name] not in EMPTY):
                return True
            self._known.update(name for name in new if not _is_relevant(name))
        return any(cell(record, path) not in EMPTY for path in self._dormant) if self._dormant else False


def _is_relevant(name: str) -> bool:
    lower = name.lower().replace(" ", "_") if name else ""
    return lower in _HEADS or resembles(lower, "prompt") or resembles(lower, "ground_truth")


class Layout(NamedTuple):
    """The column map of some files, with what their first rows say about answers and system texts.

    files: names of the files; empty for all files of a source.
    columns: None if no column of these files looks like the problem.
    records: the rows from which it was decided.
    decided_at: number of the row that changed it last; None if the first rows decided it.
    """

    files: tuple[str, ...]
    columns: ColumnMap | None
    first_index: int
    system: str | None
    has_placeholders: bool
    records: tuple[Record, ...]
    decided_at: int | None = None

    def builder(self, source: str, max_prompt_bytes: int) -> Builder:
        """The builder of problems from the records of these files; without a map it makes none."""
        columns = self.columns or ColumnMap(prompt=(("prompt",),))
        return Builder(columns, source, max_prompt_bytes, self.first_index, self.system, fills=self.has_placeholders)

    def reads_like(self, other: Layout) -> bool:
        """Whether rows become the same problems by both layouts."""
        return self.decisions() == other.decisions()

    def decisions(self) -> tuple[ColumnMap | None, int, str | None, bool]:
        """What decides how rows become problems."""
        return self.columns, self.first_index, self.system, self.has_placeholders


def layouts_of(samples: Mapping[str, Sequence[Record]], stated: Mapping[str, str], where: str) -> tuple[Layout, ...]:
    """The layouts of a source from the first records of each of its files; raises `UserError` as `guess` does."""
    everything = [record for records in samples.values() for record in records]
    whole = _guessed(everything, stated, where)
    groups: dict[frozenset[str], list[str]] = {}
    for file, records in samples.items():
        groups.setdefault(frozenset(name for record in records for name in record), []).append(file)
    if len(groups) == 1:
        return (layout((), whole if isinstance(whole, ColumnMap) else _raised(whole), everything),)
    found: dict[ColumnMap | None, list[str]] = {}
    faults = []
    for names, files in groups.items():
        own = [record for file in files for record in samples[file]]
        guessed = _guessed(own, stated_in(SeenColumns(own), stated), where)
        if isinstance(guessed, UserError):
            faults.append(guessed)
        elif isinstance(whole, ColumnMap) and _within(whole, names) == guessed:
            # optional columns do not make another layout
            guessed = whole
        found.setdefault(guessed if isinstance(guessed, ColumnMap) else None, []).extend(files)
    if set(found) == {None}:
        _raised(faults[0])
    if len(found) == 1:
        return (layout((), whole if isinstance(whole, ColumnMap) else next(iter(found)), everything),)
    return tuple(
        layout(tuple(sorted(files)), columns, [record for file in files for record in samples[file]])
        for columns, files in found.items()
    )


def extended(old: Layout, records: Sequence[Record], number: int, source: Source) -> Layout:
    """The layout with these records, from row `number` on, among those that decide it."""
    everything = (*old.records, *records)
    stated = stated_in(SeenColumns(everything), source.map)
    columns = _guessed(everything, stated, source.label())
    new = layout(old.files, columns if isinstance(columns, ColumnMap) else old.columns, everything)
    return new._replace(decided_at=old.decided_at if new.reads_like(old) else number)


def _guessed(records: Sequence[Record], stated: Mapping[str, str], where: str) -> ColumnMap | UserError:
    try:
        return guess(records, stated, where)
    except UserError as error:
        return error


def _raised(fault: UserError) -> ColumnMap:
    raise fault


def _within(columns: ColumnMap, names: frozenset[str]) -> ColumnMap | None:
    """A map without the columns that some files lack; None if nothing is left for the prompt."""

    def has(path: str) -> bool:
        return path in names or path.partition(".")[0] in names

    fields = {
        field: tuple(filter(has, paths)) for field, paths in columns if field not in ("prompt", "kind", "kind_is")
    }
    prompt = tuple(paths for paths in columns.prompt if all(map(has, paths)))
    return ColumnMap(prompt=prompt, kind=columns.kind, kind_is=columns.kind_is, **fields) if prompt else None


def layout(files: tuple[str, ...], columns: ColumnMap | None, records: Sequence[Record]) -> Layout:
    """A layout with what these records say about the first option and the system text."""
    if columns is None:
        return Layout(files, None, 0, None, has_placeholders=False, records=tuple(records))
    start, system = first_option(columns, records), _system(columns, records)
    return Layout(files, columns, start, system, _have_placeholders(columns, records), tuple(records))


def _have_placeholders(columns: ColumnMap, records: Sequence[Record]) -> bool:
    prompts = (CellReader(columns).cells(record).prompt[-1] for record in records)
    return bool(columns.numbers) or any(isinstance(text, str) and has_placeholders(text) for text in prompts)


def first_option(columns: ColumnMap, records: Sequence[Record]) -> int:
    """The number of the first option in a source's answers: from a column `option1`, else from the answers."""
    if not columns.choices or not columns.ground_truth:
        return 0
    if len(columns.choices) > 1 and columns.choices[0][-1].isdecimal():
        return int(columns.choices[0][-1])
    cells = map(CellReader(columns).cells, records)
    return first_index((next(cell.truths), choices_of(cell.choices)) for cell in cells)


def _system(columns: ColumnMap, records: Sequence[Record]) -> str | None:
    """The system text of all conversations among some records, if it only instructs the model."""
    texts = {text for record in records if (text := _system_of(CellReader(columns).cells(record)))}
    return next(iter(texts)) if len(texts) == 1 and is_instruction(next(iter(texts))) else None


def _system_of(cells: Any) -> str | None:
    value = cells.prompt[-1]
    if not isinstance(value, list):
        return cells.system.strip() if isinstance(cells.system, str) else None
    try:
        found = conversation_of(value, cells.system)
    except NoUser:
        return None
    turns = found.turns if found is not None else []
    return next((turn["content"] for turn in turns if turn["role"] == "system"), None)
