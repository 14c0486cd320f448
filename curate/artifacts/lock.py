"""The lock of a folder: one process holds it, and the system releases it when that process ends in any way."""

from __future__ import annotations

import os
from pathlib import Path
from typing import IO, Final

from curate.errors import UserError

LOCK: Final = ".lock"


def take_lock(folder: Path) -> IO[str]:
    """Lock a folder; the lock is held until `drop_lock`.

    Raises `BlockingIOError` where another process holds it, and `UserError` on a system without file locks.
    """
    path = folder / LOCK
    while True:
        file = path.open("w")
        try:
            _flock(file, folder)
            if _is_in_place(file, path):
                return file
        except BaseException:
            file.close()
            raise
        # the holder removed the file between our open and our lock, so our lock excludes no other process
        file.close()


def drop_lock(folder: Path, file: IO[str]) -> None:
    """Remove the lock file and release the lock."""
    try:
        (folder / LOCK).unlink(missing_ok=True)
    finally:
        file.close()


def _flock(file: IO[str], folder: Path) -> None:
    try:
        import fcntl
    except ModuleNotFoundError:
        raise UserError(
            f"{folder}: this system has no fcntl, which keeps two processes from writing into one folder; "
            "use Linux, macOS, or WSL on Windows"
        ) from None
    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _is_in_place(file: IO[str], path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(file.fileno()), path.stat())
    except FileNotFoundError:
        return False
