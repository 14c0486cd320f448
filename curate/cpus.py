"""Number of CPU cores that this process may use, which bounds the threads and sandboxes it starts."""

from __future__ import annotations

import os
from typing import Final

# Python 3.13 reads the same variable
VARIABLE: Final = "PYTHON_CPU_COUNT"


def usable_cores() -> int:
    """The value of `PYTHON_CPU_COUNT` if it is a positive number, else the cores that the system allows."""
    stated = os.environ.get(VARIABLE, "")
    if stated.isdecimal() and int(stated):
        return int(stated)
    # not every system reports it
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
