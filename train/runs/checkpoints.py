"""Checkpoints of a run: marks of whole ones, and removal of what an interrupted run wrote after the last.

checkpoint-N/gradus.json    written last: its presence means whole
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Final

from curate.artifacts.manifest import write_atomic
from curate.errors import UserError

MARK: Final = "gradus.json"
FORMAT: Final = 1


def mark_checkpoint(folder: Path, step: int) -> None:
    """Mark a checkpoint as whole; call it after everything else is written."""
    write_atomic(folder / MARK, (json.dumps({"format": FORMAT, "step": step}) + "\n").encode())


def last_whole(run: Path) -> Path | None:
    """The last whole checkpoint of a run; None where there is none, `UserError` where another version wrote it."""
    whole = {_step_of(path): path for path in run.glob("checkpoint-*") if (path / MARK).is_file()}
    if not whole:
        return None
    last = whole[max(whole)]
    written = json.loads((last / MARK).read_text())["format"]
    if written != FORMAT:
        raise UserError(
            f"{last}: written by another version of gradus (format {written}, this one reads {FORMAT}); "
            "continue with that version, or --force to start over"
        )
    return last


def rewind(run: Path, *logs: str) -> None:
    """Remove what a run wrote after its last whole checkpoint: torn checkpoints and later log lines."""
    last = last_whole(run)
    step = _step_of(last) if last else 0
    for path in run.glob("checkpoint-*"):
        if not (path / MARK).is_file():
            shutil.rmtree(path)
    for name in logs:
        cut_after(run / name, step)


def cut_after(path: Path, step: int) -> None:
    """Keep the whole lines of a JSONL log whose `step` is at most `step`; a torn last line is removed too."""
    if not path.exists():
        return
    kept = []
    for line in path.read_text(encoding="utf-8").splitlines(keepends=True):
        if not line.endswith("\n") or json.loads(line)["step"] > step:
            break
        kept.append(line)
    write_atomic(path, "".join(kept).encode())


def _step_of(checkpoint: Path) -> int:
    """The optimizer step in a checkpoint's name."""
    return int(checkpoint.name.removeprefix("checkpoint-"))
