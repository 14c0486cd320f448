"""Lines of a run's JSONL logs: which of them stay when the run resumes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

from curate.artifacts.manifest import write_atomic

CLOSING: Final = "train_runtime"  # a figure of the last line of a training only


def cut_after(path: Path, step: int) -> int:
    """Keep the lines of a JSONL log whose `step` is at most `step`, and return how many damaged ones were removed.

    A torn last line is removed without counting, and so is the closing line: a resumed run writes it again. Zero bytes
    around a line, as a power failure leaves them, are removed from it.
    """
    if not path.exists():
        return 0
    kept, num_damaged = [], 0
    for line in path.read_bytes().splitlines(keepends=True):
        cleaned = line.strip(b"\0")
        if not cleaned.endswith(b"\n"):
            num_damaged += b"\0" in line
            continue
        record = _record_in(cleaned)
        if record is None:
            num_damaged += 1
        elif record["step"] > step or CLOSING in record:
            break
        else:
            kept.append(cleaned)
    write_atomic(path, b"".join(kept))
    return num_damaged


def _record_in(line: bytes) -> dict[str, Any] | None:
    """The record of a log line; None where it is not one."""
    try:
        record = json.loads(line)
    except ValueError:
        return None
    return record if isinstance(record, dict) and isinstance(record.get("step"), int) else None
