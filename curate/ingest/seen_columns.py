"""The columns of a source's first records: which exist, which hold values, and which hold one text in every row."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Final

from curate.ingest.column_names import IMAGES, TEXT_FIELDS, resembles
from curate.ingest.columns import EMPTY, Record, cell, is_in, is_table

Paths = tuple[str, ...]
# a column for each option: option_a, option1, choiceA, opa; single letters only if A to D are there
_OPTION_COLUMN: Final = re.compile(r"(?P<name>(?:option|choice|opt|op)[_ ]?|)(?P<label>[a-j]|[0-9])")
_MIN_LETTERS: Final = 4
_MANY: Final = 20
_LONG: Final = 30  # characters of a text that is no name or number


class SeenColumns:
    """The columns of a source's first records, and which of them are assigned to a field."""

    def __init__(self, records: Sequence[Record]) -> None:
        self._records = records
        self.names = list(dict.fromkeys(column for record in records for column in record))
        # `Correct Answer` is `correct_answer`
        self._by_lower = {name.lower().replace(" ", "_"): name for name in reversed(self.names)}
        self._taken: set[str] = set()
        self._texts = cache(self._uncached_texts)

    def take(self, paths: Iterable[str]) -> None:
        """Mark columns as assigned to a field, so that no other field is guessed from them."""
        self._taken |= set(paths)

    def first(self, candidates: Sequence[str]) -> Paths:
        """The first candidate with a value in the source, as its columns; `a+b` needs all of them."""
        return next(iter(self.each(candidates)), ())

    def all(self, candidates: Sequence[str]) -> Paths:
        """Every candidate with a value in the source, in the order of the candidates."""
        return tuple(path for found in self.each(candidates) for path in found)

    def each(self, candidates: Sequence[str]) -> list[Paths]:
        """Every candidate with a value in the source, as its columns."""
        split = [[self._find(path) for path in candidate.split("+")] for candidate in candidates]
        whole = [tuple(path for path in paths if path is not None) for paths in split if None not in paths]
        return [paths for paths in whole if any(self.has_value(path) for path in paths)]

    def resembling(self, field: str) -> list[Paths]:
        """The columns whose names are made of words for a field, in the source's order."""
        names = [name for name in self.names if name and name not in self._taken and resembles(name, field)]
        return [(name,) for name in names if self.has_value(name)]

    def images(self) -> Paths:
        """The columns that hold pictures or their addresses."""
        return tuple(name for name in self.names if name and IMAGES.fullmatch(name.lower()) and self.has_value(name))

    def options(self) -> Paths:
        """The longest run of columns that hold one option each."""
        families: dict[str, list[str]] = {}
        for name in sorted(self._by_lower):
            if (match := _OPTION_COLUMN.fullmatch(name)) and self._by_lower[name] not in self._taken:
                families.setdefault(match["name"] + ("" if match["label"].isalpha() else "#"), []).append(name)
        rows = [_unbroken(names) for name, names in families.items() if name != "#"]
        best = max(rows, key=len, default=[])
        least = 2 if best and len(best[0]) > 1 else _MIN_LETTERS
        return tuple(self._by_lower[name] for name in best) if len(best) >= least else ()

    def has(self, path: str) -> bool:
        """Whether any record has a column, or a field inside one (`reward_model.ground_truth`)."""
        return any(is_in(record, path) for record in self._records)

    def has_value(self, path: str) -> bool:
        """Whether any record has a value there."""
        return any(cell(record, path) not in EMPTY for record in self._records)

    def may_hold(self, path: str) -> bool:
        """Whether later rows may have a value there: it is a column, or a field of one that holds no other values."""
        head, dot, _ = path.partition(".")
        values = [value for record in self._records if (value := record.get(head)) not in EMPTY]
        return not dot or not values or any(is_table(value) for value in values)

    def without(self, alternatives: Sequence[Paths]) -> list[Record]:
        """The records in which the last column of every alternative is empty."""
        return [record for record in self._records if all(cell(record, paths[-1]) in EMPTY for paths in alternatives)]

    def is_absent(self, paths: Paths) -> bool:
        """Whether some records do not have a column at all, as where the rows of two sets are mixed."""
        return any(not is_in(record, paths[-1]) for record in self._records)

    def in_table(self, paths: Paths) -> Paths:
        """The columns or, where the cells of the last are tables, the field with their text."""
        values = [value for record in self._records if (value := cell(record, paths[-1])) not in EMPTY]
        if not values or not all(isinstance(value, Mapping) for value in values):
            return paths
        fields = [field for field in TEXT_FIELDS if any(isinstance(value.get(field), str) for value in values)]
        return (*paths[:-1], f"{paths[-1]}.{fields[0]}") if fields else paths

    def holds_texts(self, paths: Paths) -> bool:
        """Whether most values are texts of several words, or conversations, rather than names and numbers."""
        texts = self._texts(paths)
        return 2 * sum(len(text) > _LONG or " " in text or not text.isascii() for text in texts) >= len(texts)

    def is_constant(self, paths: Paths, others: Sequence[Paths]) -> bool:
        """Whether a column repeats a few texts while another varies: an instruction beside the problems."""
        texts = self._texts(paths)
        num_texts = len(set(texts))
        if len(texts) < 2 or num_texts > max(1, len(texts) // 20):
            return False
        least = max(2, min(len(texts), 5 * num_texts) // 2 + 1)
        return any(len(set(self._texts(other))) >= least for other in others)

    def repeats(self, paths: Paths, others: Sequence[Paths]) -> bool:
        """Whether a column has one value in at least twenty rows while another varies."""
        texts = self._texts(paths)
        return len(texts) >= _MANY and len(set(texts)) == 1 and any(len(set(self._texts(one))) > 1 for one in others)

    def _uncached_texts(self, paths: Paths) -> list[str]:
        rows = [[cell(record, path) for path in paths] for record in self._records]
        return ["\n".join(str(value) for value in row if value not in EMPTY) for row in rows if row[-1] not in EMPTY]

    def _find(self, candidate: str) -> str | None:
        head, dot, rest = candidate.partition(".")
        if not self._by_lower.get(head):  # also None for the nameless column of an index
            return None
        path = self._by_lower[head] + dot + rest
        return path if path not in self._taken and self.has(path) else None


def _unbroken(names: Sequence[str]) -> list[str]:
    """The names up to the first gap: option_a, option_b of option_a, option_b, option_d."""
    if names[0][-1] not in "a01":
        return []
    steps = [ord(name[-1]) - ord(names[0][-1]) for name in names]
    return [name for place, (name, step) in enumerate(zip(names, steps, strict=True)) if place == step]
