"""Checkpoints of a run: marks of whole ones, damage, and removal of what an interrupted run wrote after the last.

checkpoint-N/gradus.json    written last: its presence means whole. It lists the checkpoint's files with their sizes and
                            checksums, and holds the run's identity, from which a lost config.yaml is restored.
"""

from __future__ import annotations

import json
import shutil
import zlib
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final

from curate.artifacts.manifest import write_atomic
from curate.errors import UserError
from train.runs.output.log_lines import cut_after

MARK: Final = "gradus.json"
FORMAT: Final = 1
CHUNK_BYTES: Final = 1 << 22


def mark_checkpoint(folder: Path, step: int, identity: Mapping[str, Any] | None = None) -> None:
    """Mark a checkpoint as whole; call it after everything else is written."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file() and path != folder / MARK)
    with ThreadPoolExecutor() as pool:
        states = list(pool.map(_state_of, paths))
    files = {path.relative_to(folder).as_posix(): state for path, state in zip(paths, states, strict=True)}
    mark = {"format": FORMAT, "step": step, "identity": dict(identity or {}), "files": files}
    write_atomic(folder / MARK, (json.dumps(mark, indent=1, ensure_ascii=False) + "\n").encode())


def drop_old(run: Path, keep: int, best: str | None = None) -> None:
    """Keep the newest whole checkpoints, and the one that the trainer calls its best.

    The trainer's own rotation goes by time, counts copies that a user made, and comes before the new one is marked.
    """
    for path in _marked(run)[keep:]:
        if best is None or path.name != Path(best).name:
            shutil.rmtree(path)


def last_whole(run: Path) -> Path | None:
    """The last whole checkpoint of a run; None where there is none, `UserError` where another version wrote it."""
    whole = _marked(run)
    if not whole:
        return None
    mark = _mark_of(whole[0]) or {}
    if (written := mark.get("format", FORMAT)) != FORMAT:
        raise UserError(
            f"{whole[0]}: written by another version of gradus (format {written}, this one reads {FORMAT}); "
            "continue with that version, or --force to start over"
        )
    return whole[0]


def checkpoints_of(run: Path) -> list[Path]:
    """The folders that the trainer named; a copy such as `checkpoint-20-old` belongs to the user."""
    return [path for path in run.glob("checkpoint-*") if path.name.removeprefix("checkpoint-").isdecimal()]


def step_of(checkpoint: Path) -> int:
    """The optimizer step in a checkpoint's name."""
    return int(checkpoint.name.removeprefix("checkpoint-"))


def is_whole(checkpoint: Path) -> bool:
    """Whether a checkpoint was written to its end."""
    return (checkpoint / MARK).is_file()


def damage(checkpoint: Path) -> str | None:
    """The first file of a checkpoint that is not as it was saved, and how; None where all are.

    A checkpoint of an earlier version, whose mark lists no files, counts as whole.
    """
    mark = _mark_of(checkpoint)
    if mark is None:
        return f"{MARK} is not readable"
    for name, saved in mark.get("files", {}).items():
        path = checkpoint / name
        if not path.is_file():
            return f"{name} is missing"
        if path.stat().st_size != saved["num_bytes"]:
            return f"{name} has {path.stat().st_size:,} bytes, not {saved['num_bytes']:,}"
        try:
            if _state_of(path) != saved:
                return f"{name} has other contents than when it was saved"
        except OSError as error:
            return f"{name} cannot be read ({error.strerror})"
    return None


def identity_of(run: Path) -> dict[str, Any] | None:
    """The run's identity by its newest checkpoint with a readable mark; None where no mark holds it."""
    marks = (_mark_of(path) for path in _marked(run))
    return next((mark["identity"] for mark in marks if mark and mark.get("identity")), None)


def rewind(run: Path, *logs: str) -> list[str]:
    """Go back to the last undamaged checkpoint, and return a line on each loss.

    Torn and damaged checkpoints are removed, and the log lines of later steps. Raises `UserError` where there are
    checkpoints and all are damaged.
    """
    last_whole(run)
    damaged, last = _damaged(run)
    notes = [f"{path}: damaged ({why}); resuming from {last.name if last else 'the start'}" for path, why in damaged]
    for path in checkpoints_of(run):
        if not (path / MARK).is_file() or any(path == broken for broken, _ in damaged):
            shutil.rmtree(path)
    # without a checkpoint the run starts over, step 0 included
    step = step_of(last) if last else -1
    for name in logs:
        was_empty = (run / name).is_file() and not (run / name).stat().st_size
        num_lost = cut_after(run / name, step)
        if num_lost:
            notes.append(f"{run / name}: {num_lost} damaged lines removed")
        if last and (was_empty or (num_lost and not (run / name).stat().st_size)):
            notes.append(f"{run / name}: holds no line of the steps up to {step}; they are lost")
    return notes


def _damaged(run: Path) -> tuple[list[tuple[Path, str]], Path | None]:
    """The damaged checkpoints that are newer than the last good one, and that one."""
    damaged: list[tuple[Path, str]] = []
    for path in _marked(run):
        why = damage(path)
        if why is None:
            return damaged, path
        damaged.append((path, why))
    if damaged:
        path, why = damaged[0]
        raise UserError(
            f"{path}: damaged ({why}), and no earlier checkpoint is whole; restore it from a copy, or --force to start "
            "over"
        )
    return [], None


def _marked(run: Path) -> list[Path]:
    """The checkpoints with a mark, newest first."""
    return sorted((path for path in checkpoints_of(run) if (path / MARK).is_file()), key=step_of, reverse=True)


def _mark_of(checkpoint: Path) -> dict[str, Any] | None:
    try:
        mark = json.loads((checkpoint / MARK).read_bytes())
    except (ValueError, OSError):
        return None
    return mark if isinstance(mark, dict) else None


def _state_of(path: Path) -> dict[str, int]:
    checksum, num_bytes = 0, 0
    with path.open("rb") as file:
        while part := file.read(CHUNK_BYTES):
            checksum, num_bytes = zlib.crc32(part, checksum), num_bytes + len(part)
    return {"num_bytes": num_bytes, "crc32": checksum}
