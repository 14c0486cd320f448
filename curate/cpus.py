"""The number of processors that this process may use, which bounds the threads and sandboxes it starts."""

from __future__ import annotations

import os
from typing import Final

# as Python 3.13 reads it
VARIABLE: Final = "PYTHON_CPU_COUNT"


def usable_cores() -> int:
    """The number in `PYTHON_CPU_COUNT` where there is one, else the processors that the system lets it run on."""
    stated = os.environ.get(VARIABLE, "")
    if stated.isdecimal() and int(stated):
        return int(stated)
    # not every system reports it
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
