"""Warnings about a run's log lines: completions that are cut off or hold no answer, with what to change."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

# figure of the log: the name of its completions, and the advice
WATCHED: Final = {
    "completions/clipped_ratio": (
        "are cut off at max_tokens",
        "raise --max-tokens, or --truncated undecided to keep them out of the baseline",
    ),
    "completions/no_answer_ratio": (
        "hold no answer that the verifier finds",
        "ask for one (--template '{prompt} Put the answer in \\boxed{}.'), or begin with gradus train sft",
    ),
}
LIMIT: Final = 0.2


class Cautions:
    """Warns of each figure when it first exceeds a fifth, and again only after it was below."""

    def __init__(self) -> None:
        self._above: set[str] = set()

    def due(self, logs: Mapping[str, Any]) -> list[str]:
        """The lines to print after a log line."""
        lines = []
        for name, (what, advice) in WATCHED.items():
            rate = logs.get(name)
            if rate is None:
                continue
            if rate > LIMIT and name not in self._above:
                lines.append(f"warning: {rate:.0%} of completions {what}: {advice}")
                self._above.add(name)
            elif rate <= LIMIT:
                self._above.discard(name)
        return lines
