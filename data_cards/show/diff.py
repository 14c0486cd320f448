"""A diff as terminal text: each change with its count and a few examples."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from data_cards.dataset.diff import NUM_EXAMPLES, Diff
from data_cards.show.trace import visible

MAX_SHOWN: Final = 20
MAX_CHARS: Final = 40


def lines(diff: Diff) -> Iterator[str]:
    """The diff as lines; `nothing differs` for an empty one."""
    if diff.is_empty:
        yield "nothing differs"
    if diff.moves:
        yield "rows"
        yield from _capped(
            f"  {len(move.keys):>9,}  {move.before} -> {move.after}  {_some(move.keys)}" for move in diff.moves
        )
    if diff.contents:
        yield "contents of rows kept in both"
        yield from _capped(f"  {len(keys):>9,}  {name}  {_some(keys)}" for name, keys in diff.contents.items())
    if diff.rates is not None:
        yield f"pass rates\n  {diff.rates.num_changed:>9,}  changed, by {diff.rates.mean_change:.3f} on average"
        yield from (f"{'':13}{key}  {old:.3f} -> {new:.3f}" for key, old, new in diff.rates.largest)
    for title, changes in (("columns", diff.columns), ("settings", diff.config)):
        if changes:
            yield title
            yield from _capped(f"  {name}: {_short(old)} -> {_short(new)}" for name, (old, new) in changes.items())
    if diff.text:
        yield "the card's text differs"


def _capped(rows: Iterator[str]) -> Iterator[str]:
    whole = list(rows)
    yield from whole[:MAX_SHOWN]
    if len(whole) > MAX_SHOWN:
        yield f"  … and {len(whole) - MAX_SHOWN} more"


def _some(keys: list[str]) -> str:
    return ", ".join(key[:8] for key in keys[:NUM_EXAMPLES]) + (", …" if len(keys) > NUM_EXAMPLES else "")


def _short(value: Any) -> str:  # Any: a setting
    text = " ".join(visible("nothing" if value is None else str(value)).split())
    return text if len(text) <= MAX_CHARS else text[: MAX_CHARS - 1] + "…"
