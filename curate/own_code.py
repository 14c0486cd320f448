"""Functions of a user's own, named `FILE.py:FUNCTION` or `MODULE:FUNCTION`: found, loaded, told apart by digest.

Rewards, verifiers and draw policies are named so. Every error is one line with the option that named the function.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from curate.errors import UserError

DIGEST_CHARS: Final = 12


def is_own(name: str) -> bool:
    """Whether a name is a place of a function rather than a name of a table."""
    return ":" in name


def has_digest(name: str) -> bool:
    """Whether a name was settled before: it holds the digest of the file as it was then."""
    return "@" in name.rpartition(":")[2]


def plain(name: str) -> str:
    """The name without a digest."""
    return ":".join(_parts(name))


def with_digest(name: str, option: str) -> str:
    """The name with the digest of its source file, so that settings tell one version from another."""
    place, function = _parts(name)
    origin = getattr(_module(place, name, option), "__file__", None)
    if origin is None:
        return f"{place}:{function}"
    return f"{place}:{function}@{hashlib.sha256(Path(origin).read_bytes()).hexdigest()[:DIGEST_CHARS]}"


def load(name: str, option: str) -> Callable[..., Any]:  # Any: what a user's function returns
    """The function; raises `UserError` if there is none, or its file cannot be imported."""
    place, function = _parts(name)
    found = getattr(_module(place, name, option), function, None)
    if not callable(found):
        raise UserError(f"{option}: {place} has no function {function}")
    return found  # type: ignore[no-any-return]  # callable, as just checked


def told(error: BaseException) -> str:
    """An exception in one line, with the place where it was raised."""
    frames = traceback.extract_tb(error.__traceback__)
    place = f" at {Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else ""
    text = " ".join(str(error).split())
    return f"{type(error).__name__}{place}{': ' + text if text else ''}"[:300]


def _parts(name: str) -> tuple[str, str]:
    """The place of a function and its name, without a digest."""
    place, _, function = name.rpartition(":")
    return place, function.partition("@")[0]


def _module(place: str, name: str, option: str) -> ModuleType:
    try:
        return _from_file(Path(place)) if place.endswith(".py") else importlib.import_module(place)
    except FileNotFoundError:
        raise UserError(f"{option}: {place}: no such file, for {name}") from None
    except ModuleNotFoundError as error:
        raise UserError(f"{option}: {name}: {error}; install it, or name a file as FILE.py:FUNCTION") from None
    except Exception as error:  # noqa: BLE001  # a user's code: its place in one line
        raise UserError(f"{option}: {place} cannot be imported: {told(error)}") from None


def _from_file(path: Path) -> ModuleType:
    """A file as a module, once for each content; its folder is on the import path while it loads, and after."""
    name = f"gradus_own_{hashlib.sha256(path.resolve().as_posix().encode() + path.read_bytes()).hexdigest()[:16]}"
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    if (folder := str(path.resolve().parent)) not in sys.path:
        sys.path.append(folder)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module
