"""The Python packages that a box shows: pytest, and what a task names, from this environment, read-only.

Each package is mounted alone. The environment as a whole stays out of the box: it may hold the library that a task is
about, with the fix.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Final

from curate.errors import UserError
from curate.verify.code.packages import MOUNT, is_open

ALWAYS: Final = ("pytest",)
_NAME: Final = re.compile(r"[A-Za-z0-9._-]+")


@cache
def mounts(names: tuple[str, ...] = ()) -> tuple[tuple[Path, str], ...]:
    """(here, there) of each top-level file or folder of pytest, the named packages and all that these require.

    Raises `UserError` if a package is not installed here, or the sandbox's user cannot read it.
    """
    found: dict[str, Path] = {}
    for distribution in _closure([*ALWAYS, *names]):
        for top in _tops(distribution):
            found[top.name] = top
    for place in found.values():
        if place.is_dir() and not is_open(place):
            raise UserError(f"the sandbox cannot read {place}; install Gradus outside a home that is closed to others")
    return tuple((place, f"{MOUNT}/{name}") for name, place in sorted(found.items()))


def _closure(names: Sequence[str]) -> Iterator[metadata.Distribution]:
    waiting, seen = list(names), set[str]()
    while waiting:
        name = _canonical(waiting.pop())
        if name in seen:
            continue
        seen.add(name)
        try:
            distribution = metadata.distribution(name)
        except metadata.PackageNotFoundError:
            if name in map(_canonical, names):
                raise UserError(
                    f"a task needs the package {name}, which is not installed here; pip install {name}"
                ) from None
            continue  # a requirement of another platform or version
        yield distribution
        needed = [text for text in distribution.requires or () if "extra ==" not in text]
        waiting += [match[0] for text in needed if (match := _NAME.match(text))]


def _tops(distribution: metadata.Distribution) -> Iterator[Path]:
    """The importable files and folders of a distribution."""
    names = {file.parts[0] for file in distribution.files or () if file.parts[0] not in ("..", "__pycache__")}
    for name in sorted(names):
        place = Path(str(distribution.locate_file(name)))
        if place.exists() and not name.endswith((".dist-info", ".egg-info", ".pth")):
            yield place


def _canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
