r"""Maps a source's columns to the fields of a problem: guessed from its first rows, or stated by the user.

`guess` knows the shapes of public pools: question/answer, problem/solution, messages,
`reward_model.ground_truth`, lists and tables of options, code with tests. A column that repeats one text while another
varies is no problem, and rows without the first column of problems are read from the next one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import ClassVar, Final, Literal

from curate.config import nearest
from curate.errors import UserError
from curate.ingest.column_names import (
    BEFORE_PROMPT,
    CHOICES,
    HISTORY,
    LETTER,
    NUMBERS,
    PROMPT,
    SOLUTION,
    SYSTEM,
    TESTS,
    TRUTH,
    WEAK,
)
from curate.ingest.columns import ColumnMap, Record, is_in
from curate.ingest.seen_columns import Paths, SeenColumns
from curate.records import KINDS, OWN_KIND
from curate.verify.code.public_sets import tests_from_row

FIELDS: Final = tuple(ColumnMap.model_fields)
_OR: Final = re.compile(r"\s+or\s+")
_MAX_ALTERNATIVES: Final = 5
_OWN: Final = frozenset({"key", "prompt", "messages", "source_row", "extra"})


class NoProblemColumnError(UserError):
    """No column of a source looks like the problem."""

    ADVICE: ClassVar = "name it with --map prompt=COLUMN"

    def for_readers_of_artifacts(self, source: str) -> UserError:
        """The same error for a command that has no --map but reads artifacts."""
        advice = f"import it with `gradus curate ingest {source} --map prompt=COLUMN --out FOLDER` and give that folder"
        return UserError(str(self).replace(self.ADVICE, advice))


def guess(records: Sequence[Record], stated: Mapping[str, str], where: str) -> ColumnMap:
    """The column map of a source with these first records: `stated` fields unchanged, the others guessed.

    Raises `UserError` if a stated field or column does not exist, or no column looks like the problem.
    """
    columns = SeenColumns(records)
    chosen = {field: _stated(field, value, columns, where) for field, value in stated.items()}
    columns.take(path for alternatives in chosen.values() for path in chain.from_iterable(alternatives))
    prompt = chosen.get("prompt") or _prompt(columns)
    if not prompt:
        raise NoProblemColumnError(
            f"{where}: no column looks like the problem (columns: {_listed(with_fields(records))}); "
            + ("is the first line a header? " if _look_like_a_row(columns.names) else "")
            + NoProblemColumnError.ADVICE
        )
    return _with_the_rest({field: _flat(paths) for field, paths in chosen.items()}, prompt, columns, records)


def _with_the_rest(
    chosen: Mapping[str, Paths], prompt: tuple[Paths, ...], columns: SeenColumns, records: Sequence[Record]
) -> ColumnMap:
    """The map with these alternatives for the prompt, the stated fields, and the other ones guessed."""
    columns.take(chain.from_iterable(prompt))
    if "prompt" not in chosen and (before := columns.first(BEFORE_PROMPT)):
        columns.take(before)
        prompt = tuple((*before, *paths) for paths in prompt)
    tests = chosen.get("tests") or columns.first(TESTS)
    choices = chosen.get("choices") or columns.first(CHOICES) or columns.options()
    columns.take((*tests, *choices))
    truth = chosen.get("ground_truth") or _truth(columns, prompt)
    if not tests and any(tests_from_row(record) for record in records):
        # tests in an answer column, as in `reward_model.ground_truth`
        tests = truth[:1]
    if not tests and "ground_truth" not in chosen and (choices or not truth):
        truth = (*truth, *columns.all(LETTER))
    columns.take(truth)
    solution = chosen.get("solution") or columns.all(SOLUTION)
    kind = chosen.get("kind") or columns.first(("kind",))
    return ColumnMap(
        prompt=prompt,
        ground_truth=_with_solutions(truth, solution, records) if not tests else truth,
        kind=kind[0] if kind else None,
        kind_is=_how_kind_is_stated(chosen.get("kind"), columns),
        choices=choices,
        tests=tests,
        solution=solution,
        system=chosen.get("system") or columns.first(SYSTEM),
        history=chosen.get("history") or columns.first(HISTORY),
        images=chosen.get("images") or columns.images(),
        numbers=chosen.get("numbers") or columns.first(NUMBERS),
    )


def _prompt(columns: SeenColumns) -> tuple[Paths, ...]:
    """The columns of the problem, and for rows without them, the next ones."""
    if _OWN.issubset(columns.names):
        # rows of an artifact: the turns of a conversation say more than their text
        return tuple((path,) for path in ("messages", "prompt") if columns.has_value(path))
    named = [*columns.each(PROMPT), *columns.resembling("prompt")]
    found = list(dict.fromkeys(columns.in_table(paths) for paths in named))
    able = [paths for paths in found if not columns.is_constant(paths, found)] or found
    able.sort(key=lambda paths: not columns.holds_texts(paths))
    chosen: list[Paths] = []
    rest = columns
    while able and len(chosen) < _MAX_ALTERNATIVES:
        chosen.append(able[0])
        rest = SeenColumns(columns.without(chosen))
        able = [paths for paths in able[1:] if _replaces(paths, chosen, rest)]
    return tuple(chosen)


def _replaces(paths: Paths, chosen: Sequence[Paths], rest: SeenColumns) -> bool:
    """Whether columns hold the problem of the rows in which the chosen ones are empty."""
    if not rest.has_value(paths[-1]):
        return False
    is_weak = paths[-1].lower() in WEAK
    return not is_weak or all(rest.is_absent(one) for one in chosen)


def _truth(columns: SeenColumns, prompt: tuple[Paths, ...]) -> Paths:
    """The columns of the answer; ones that repeat a text while another varies come last."""
    found = columns.each(TRUTH)
    if not found and any(paths[-1].lower() == "q" for paths in prompt):
        # `a` beside `q`
        return columns.first(("a",))
    if not found and not columns.all(SOLUTION):
        # a `reference` that is not a citation
        found = columns.each(("reference",))
    alike = [paths for paths in columns.resembling("ground_truth") if paths not in found]
    if all(columns.repeats(paths, [*found, *alike]) for paths in found):
        found = [*alike, *found]
    found.sort(key=lambda paths: columns.repeats(paths, found))
    return _flat(found)


def _with_solutions(truth: Paths, solution: Paths, records: Sequence[Record]) -> Paths:
    """The answer's columns and, for rows that have none of them, the solutions, which may mark an answer."""
    if all(any(is_in(record, path) for path in truth) for record in records):
        return truth
    return (*truth, *(path for path in solution if path not in truth))


def stated_in(columns: SeenColumns, stated: Mapping[str, str]) -> dict[str, str]:
    """The stated fields of a source that some of its files have columns for, with these alternatives alone."""
    found = {}
    for field, value in stated.items():
        if _is_kind(field, value) or columns.has(value):
            found[field] = value
        elif there := [one for one in _OR.split(value) if all(columns.has(path.strip()) for path in one.split("+"))]:
            found[field] = " or ".join(there)
    return found


def unread_constants(columns: ColumnMap, records: Sequence[Record]) -> list[str]:
    """Columns that are named like the problem but repeat one text, and that are not read."""
    seen, read = SeenColumns(records), columns.paths()
    found = [*seen.each(PROMPT), *seen.resembling("prompt")]
    constant = [paths for paths in found if seen.is_constant(paths, columns.prompt) and paths[-1] not in read]
    return list(dict.fromkeys(paths[-1] for paths in constant))


def with_fields(records: Sequence[Record]) -> list[str]:
    """The columns' names; for a column of tables, the paths of its fields, as `--map` accepts them."""
    names = [
        path
        for record in records
        for name, value in record.items()
        for path in ([f"{name}.{field}" for field in value] if isinstance(value, Mapping) and value else [name])
    ]
    return list(dict.fromkeys(names))


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(names[:_SHOWN_NAMES]) or "none"
    return shown if len(names) <= _SHOWN_NAMES else f"{shown} and {len(names) - _SHOWN_NAMES} more"


_SHOWN_NAMES: Final = 30


def _look_like_a_row(names: Sequence[str]) -> bool:
    return any(name.strip().isdecimal() or "?" in name or len(name) > 60 for name in names)


def _is_kind(field: str, value: str) -> bool:
    """Whether a stated kind is a kind by itself, one of ours or the user's own, rather than a column."""
    return field == "kind" and (value in KINDS or OWN_KIND.fullmatch(value) is not None)


def _how_kind_is_stated(kind: Paths | None, columns: SeenColumns) -> Literal["guessed", "column", "value"]:
    if kind is None:
        return "guessed"
    return "column" if columns.has(kind[0]) and kind[0] not in KINDS else "value"


def _flat(alternatives: Iterable[Paths]) -> Paths:
    return tuple(chain.from_iterable(alternatives))


def _stated(field: str, value: str, columns: SeenColumns, where: str) -> tuple[Paths, ...]:
    """The columns that a user states: `a+b` are joined, `a or b` are alternatives."""
    if field not in FIELDS:
        raise UserError(f"{where}: map.{field} is no field of a problem; {nearest(field, list(FIELDS))}")
    if columns.has(value) or _is_kind(field, value):
        return ((value,),)
    alternatives = tuple(tuple(path.strip() for path in one.split("+")) for one in _OR.split(value))
    for path in chain.from_iterable(alternatives):
        if not columns.has(path):
            raise UserError(f"{where}: map.{field} is {path!r}, which is no column; {nearest(path, columns.names)}")
    return alternatives
