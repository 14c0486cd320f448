"""Parts of a dataset, such as its sources, and the figures of a batch by part."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from curriculum.statistics.visits import Ints, Visit

FIGURES: Final = ("slots", "correct", "judged", "undecided", "truncated", "groups", "live")


@dataclass(frozen=True)
class Parts:
    """The names of the parts, sorted, and the part of each problem as a position in them."""

    names: tuple[str, ...]
    of: Ints

    def name(self, row: int) -> str:
        """The part of the problem at position `row`."""
        return self.names[int(self.of[row])]


def by_part(parts: Parts, visits: Sequence[Visit]) -> list[dict[str, Any]]:  # Any: counts, and the name
    """Counts of each part that was drawn; empty where the dataset has one part.

    slots: groups drawn; correct of judged completions, undecided and truncated ones; live of groups with a judged
    completion: those with right and wrong ones.
    """
    if len(parts.names) < 2:
        return []
    found: dict[str, dict[str, int]] = {}
    for visit in visits:
        counts = found.setdefault(parts.name(visit.row), dict.fromkeys(FIGURES, 0))
        judged = visit.num_correct + visit.num_wrong
        one = {
            "slots": 1, "correct": visit.num_correct, "judged": judged, "undecided": visit.num_undecided,
            "truncated": visit.num_truncated, "groups": judged > 0, "live": 0 < visit.num_correct < judged,
        }  # fmt: skip
        for name, number in one.items():
            counts[name] += int(number)
    return [{"part": name, **counts} for name, counts in sorted(found.items())]


def rates(counts: dict[str, Any]) -> dict[str, float]:  # Any: counts, and the name
    """Success rate, share of groups with a signal, and shares of undecided and truncated completions.

    A figure without data is left out.
    """
    completions = counts["judged"] + counts["undecided"]
    found = {
        "rate": (counts["correct"], counts["judged"]),
        "signal": (counts["live"], counts["groups"]),
        "undecided": (counts["undecided"], completions),
        "truncated": (counts["truncated"], completions),
    }
    return {name: over / under for name, (over, under) in found.items() if under}


def all_rates(parts: Sequence[dict[str, Any]]) -> dict[str, float]:  # Any: counts, and the name
    """The rates of all parts as figures for the log, `by_part/NAME/FIGURE`."""
    return {f"by_part/{counts['part']}/{name}": value for counts in parts for name, value in rates(counts).items()}


def summed(batches: Sequence[Sequence[dict[str, Any]]]) -> list[dict[str, Any]]:  # Any: counts, and the name
    """The counts of several batches together, by part."""
    found: dict[str, dict[str, int]] = {}
    for batch in batches:
        for counts in batch:
            total = found.setdefault(counts["part"], dict.fromkeys(FIGURES, 0))
            for name in FIGURES:
                total[name] += counts[name]
    return [{"part": name, **counts} for name, counts in sorted(found.items())]
