"""Table for a terminal, printed row by row: a label, then columns as wide as their heads need."""

from __future__ import annotations

from collections.abc import Sequence


class Table:
    """Prints the heads on construction; cells are texts, whole numbers, or numbers with one decimal."""

    def __init__(self, title: str, heads: Sequence[str], label_width: int = 20, least_width: int = 9) -> None:
        self._label_width = label_width
        self._widths = [max(len(head), least_width) + 2 for head in heads]
        print(f"\n{title}\n")
        self.row("", *heads)

    def row(self, label: str, *cells: str | float) -> None:
        """Print a row; `cells` are in the order of the heads."""
        shown = [_shown(cell).rjust(width) for cell, width in zip(cells, self._widths, strict=True)]
        print(f"{label:{self._label_width}}{''.join(shown)}", flush=True)


def shares(counts: Sequence[float], total: float) -> str:
    """Counts as percentages of a total, in columns of their own."""
    return "".join(f"{100 * count / total if total else float('nan'):>8.1f}" for count in counts)


def _shown(cell: str | float) -> str:
    return cell if isinstance(cell, str) else f"{cell:,.1f}" if isinstance(cell, float) else f"{cell:,}"
