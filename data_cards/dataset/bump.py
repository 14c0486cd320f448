"""Proposes the next version of a dataset, by semantic versioning of data, with the reasons.

major: the columns changed, so code that reads the dataset may break. minor: rows, contents, decisions or rates changed,
so a run on it gives other results. patch: only card text or settings changed, and no row.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from curate.errors import UserError
from data_cards.dataset.diff import KEPT, Diff

Level = Literal["major", "minor", "patch", "none"]
FIRST: Final = "v1.0.0"


@dataclass(frozen=True)
class Proposal:
    """A level of change and its reasons."""

    level: Level
    reasons: list[str]


def propose(diff: Diff) -> Proposal:
    """The highest level that the diff requires, with all reasons for that level."""
    by_level: dict[Level, list[str]] = {
        "major": [_column(name, *types) for name, types in diff.columns.items()],
        "minor": [*_rows(diff), *_contents(diff)],
        "patch": [*(f"setting {name} changed" for name in diff.config), *(["the card's text changed"] * diff.text)],
    }
    for level, reasons in by_level.items():
        if reasons:
            return Proposal(level, reasons)
    return Proposal("none", ["nothing differs"])


def next_version(current: str, level: Level) -> str:
    """The version after `current` (`vMAJOR.MINOR.PATCH`), or `current` if nothing changed.

    Raises `UserError` if `current` is no version.
    """
    numbers = current.removeprefix("v").split("-")[0].split(".")
    if len(numbers) != 3 or not all(number.isdecimal() for number in numbers):
        raise UserError(f"{current}: is no version; use vMAJOR.MINOR.PATCH, such as {FIRST}")
    major, minor, patch = map(int, numbers)
    after = {
        "major": (major + 1, 0, 0),
        "minor": (major, minor + 1, 0),
        "patch": (major, minor, patch + 1),
        "none": (major, minor, patch),
    }[level]
    return "v" + ".".join(map(str, after))


def _column(name: str, old: str | None, new: str | None) -> str:
    if old is None:
        return f"column {name} is new ({new})"
    return f"column {name} is gone" if new is None else f"column {name} was {old}, is {new}"


def _rows(diff: Diff) -> list[str]:
    gained = sum(len(move.keys) for move in diff.moves if move.after == KEPT)
    lost = sum(len(move.keys) for move in diff.moves if move.before == KEPT)
    other = sum(len(move.keys) for move in diff.moves if KEPT not in (move.before, move.after))
    changes = (("newly kept", gained), ("no longer kept", lost), ("with another drop decision", other))
    return [f"{_count(number)} {what}" for what, number in changes if number]


def _count(number: int) -> str:
    return f"{number:,} row{'s' if number != 1 else ''}"


def _contents(diff: Diff) -> list[str]:
    reasons = [f"{_count(len(keys))} with another {name}" for name, keys in diff.contents.items()]
    if diff.rates is not None:
        reasons.append(
            f"{_count(diff.rates.num_changed)} with another pass rate, by {diff.rates.mean_change:.3f} on average"
        )
    return reasons
