"""Progress counters of a curriculum, all of them saved."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Canaries:
    """Counts of the canaries, and the stakes of the bets against luck."""

    owed: float = 0.0  # slots that rounding owes
    num_drawn: int = 0
    num_visits: int = 0
    num_completions: int = 0
    num_correct: int = 0
    stakes: list[float] = field(default_factory=list)
    alarm_step: int | None = None


@dataclass
class Clock:
    """Counts of draws, steps and slots, and what carries over from batch to batch."""

    draw_number: int = 0
    step: int = 0  # training steps, not generations
    num_slots: int = 0
    num_rechecks: int = 0
    num_floor: int = 0
    num_fill: int = 0
    num_repeats: int = 0
    group_size: int = 0  # completions per problem in the last batch; 0 before the first
    outages: dict[str, int] = field(default_factory=dict)  # consecutive ones, by source
    doubts: dict[str, float] = field(default_factory=dict)  # log probability since the last success, by source
    mix_carried: dict[str, float] = field(default_factory=dict)  # slots that rounding owes each part of a mixture
    canaries: Canaries = field(default_factory=Canaries)

    @classmethod
    def from_json(cls, saved: Mapping[str, Any]) -> Clock:  # Any: JSON values
        """The counters as `dataclasses.asdict` gives them; what an earlier version lacks has its default."""
        return cls(**{**saved, "canaries": Canaries(**saved.get("canaries", {}))})
