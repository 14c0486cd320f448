"""Lines of a run's JSONL logs: which of them stay when the run resumes."""

from __future__ import annotations

import json
from pathlib import Path

from curate.artifacts.manifest import write_atomic


def cut_after(path: Path, step: int) -> int:
    """Keep the lines of a JSONL log whose `step` is at most `step`, and return how many damaged ones were removed.

    A torn last line is removed without counting. Zero bytes around a line, as a power failure leaves them, are removed
    from it.
    """
    if not path.exists():
        return 0
    kept, num_damaged = [], 0
    for line in path.read_bytes().splitlines(keepends=True):
        cleaned = line.strip(b"\0")
        if not cleaned.endswith(b"\n"):
            num_damaged += b"\0" in line
            continue
        found = _step_in(cleaned)
        if found is None:
            num_damaged += 1
        elif found > step:
            break
        else:
            kept.append(cleaned)
    write_atomic(path, b"".join(kept))
    return num_damaged


def _step_in(line: bytes) -> int | None:
    """The step of a log line; None where it is not one."""
    try:
        record = json.loads(line)
    except ValueError:
        return None
    step = record.get("step") if isinstance(record, dict) else None
    return step if isinstance(step, int) else None
