"""Finds the packages beyond the standard library that programs may import, where this machine has them.

They come from the system's Python, or from this one if both have the same version; each is mounted alone, read-only.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final

# in reach of programs, if they are installed
PACKAGES: Final = ("numpy", "sortedcontainers")
SYSTEM: Final = (Path("/usr/lib/python3/dist-packages"), Path("/usr/local/lib/python3/dist-packages"))
MOUNT: Final = "/packages"


@cache
def packages(python: str) -> tuple[Path, ...]:
    """The folders of the packages for this interpreter, with the libraries that they bring."""
    return tuple(folder for name in PACKAGES for folder in _folders(name, python))


def _folders(name: str, python: str) -> Iterator[Path]:
    home = next((path for path in SYSTEM if (path / name / "__init__.py").is_file()), None) or _own(name, python)
    if home is not None and is_open(home / name):
        yield home / name
        if (libraries := home / f"{name}.libs").is_dir():
            yield libraries


def is_open(folder: Path) -> bool:
    """Whether the user of a sandbox can read a folder: another one, if this process is root."""
    if os.geteuid() != 0:
        return os.access(folder, os.R_OK | os.X_OK)
    return all(part.stat().st_mode & 1 for part in (folder, *folder.resolve().parents))


def _own(name: str, python: str) -> Path | None:
    """Where this Python has the package, if the other can load it."""
    found = importlib.util.find_spec(name)
    if found is None or found.origin is None or not found.submodule_search_locations:
        return None
    return Path(found.origin).parent.parent if _version(python) == sys.version_info[:2] else None


@cache
def _version(python: str) -> tuple[int, ...]:
    command = [python, "-I", "-S", "-c", "import sys; print(*sys.version_info[:2])"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=20, check=False)
    return tuple(map(int, done.stdout.split()))
