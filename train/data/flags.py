"""The flags in a prompt that ask for reasoning or for a direct answer: `/think`, `/no_think`; the last one wins."""

from __future__ import annotations

import random
import re
from typing import Final

THINK: Final = "/think"
NO_THINK: Final = "/no_think"
FLAG: Final = re.compile(rf"(?<!\S)(?:{THINK}|{NO_THINK})(?!\S)")


def flagged(prompt: str, flag: str, overruled_rate: float, chance: random.Random) -> str:
    """The prompt with a flag at its end, behind earlier ones at the given rate."""
    is_overruling = chance.random() < overruled_rate
    earlier = chance.choices((THINK, NO_THINK), k=chance.randint(1, 2)) if is_overruling else []
    return " ".join([prompt, *earlier, flag])


def asks_to_think(prompt: str) -> bool:
    """Whether a prompt's last flag, or the lack of one, asks for reasoning."""
    flags = FLAG.findall(prompt)
    return not flags or flags[-1] == THINK
