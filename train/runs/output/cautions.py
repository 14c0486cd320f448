"""Warnings about a run's log lines, each given once while it holds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from curate.sampling.breakdown import cautions

CUT_OFF: Final = "completions/clipped_ratio"
NO_ANSWER: Final = "completions/no_answer_ratio"


class Cautions:
    """Warns when a share first exceeds a fifth, and again only after it was below."""

    def __init__(self) -> None:
        self._above: set[str] = set()

    def due(self, logs: Mapping[str, Any]) -> list[str]:  # Any: TRL's figures
        """The lines to print after a log line; one without these figures changes nothing."""
        if CUT_OFF not in logs and NO_ANSWER not in logs:
            return []
        found = cautions(logs.get(CUT_OFF) or 0.0, logs.get(NO_ANSWER) or 0.0)
        lines = [line for name, line in found.items() if name not in self._above]
        self._above = set(found)
        return lines
