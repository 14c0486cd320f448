"""Prompt flags that turn reasoning on or off: `/think` and `/no_think`; the last one in a prompt applies."""

from __future__ import annotations

import random
import re
from typing import Final

THINK: Final = "/think"
NO_THINK: Final = "/no_think"
FLAG: Final = re.compile(rf"(?<!\S)(?:{THINK}|{NO_THINK})(?!\S)")


def flagged(prompt: str, flag: str, overruled_rate: float, chance: random.Random) -> str:
    """The prompt with `flag` at its end; one or two random flags precede it at `overruled_rate`."""
    is_overruling = chance.random() < overruled_rate
    earlier = chance.choices((THINK, NO_THINK), k=chance.randint(1, 2)) if is_overruling else []
    return " ".join([prompt, *earlier, flag])


def asks_to_think(prompt: str) -> bool:
    """Whether a prompt requests reasoning: its last flag is `/think`, or it has none."""
    flags = FLAG.findall(prompt)
    return not flags or flags[-1] == THINK
