"""Notes what a test does that the solution's process does not see: a failure of such a test is undecided.

A test may patch a module, write a file, set a seed or an environment variable, or pass an object of its own. `DOUBT`
holds for the test that runs; what the tests do outside of functions holds for all of them.
"""

from __future__ import annotations

import ast
import os
import random
import sys
from typing import Any

WRITING = os.O_WRONLY | os.O_RDWR
EVENTS = frozenset(("os.mkdir", "os.remove", "os.rename", "os.putenv", "subprocess.Popen", "os.symlink", "os.link"))
# what is read of the solution's process, and time limits around it
NAMES = frozenset(("inspect", "wait_for", "assertLogs", "stdin", "getrefcount", "settrace"))


class Doubt:
    """Whether the test that runs is doubtful."""

    def __init__(self) -> None:
        self.is_present = False
        self._is_base = False

    def settle(self) -> None:
        """Keep the doubt for all tests that follow."""
        self._is_base = self.is_present

    def end_test(self) -> None:
        """Forget what the test did that has passed."""
        self.is_present = self._is_base


DOUBT = Doubt()


def watch(sources: list[str]) -> None:
    """Note what tests do from now on."""
    nodes = [node for source in sources for node in ast.walk(ast.parse(source))]
    names = {node.id for node in nodes if isinstance(node, ast.Name)}
    names |= {node.attr for node in nodes if isinstance(node, ast.Attribute)}
    if NAMES & names:
        DOUBT.is_present = True
    sys.addaudithook(_note_event)
    random.seed = _noting(random.seed)
    if any("mock" in source for source in sources):
        from unittest import mock

        kinds: Any = (mock._patch, mock._patch_dict)  # noqa: SLF001  # there are no public names
        for kind in kinds:
            kind.__enter__ = _noting_patch(kind.__enter__)


def _note_event(event: str, args: tuple[Any, ...]) -> None:
    if event in EVENTS or (event == "open" and isinstance(args[2], int) and args[2] & WRITING):
        DOUBT.is_present = True


def _noting(function: Any) -> Any:
    def noting(*args: Any, **kwargs: Any) -> Any:
        DOUBT.is_present = True
        return function(*args, **kwargs)

    return noting


def _noting_patch(enter: Any) -> Any:
    def noting(patch: Any) -> Any:
        # what the solution prints does arrive here
        if getattr(patch, "attribute", None) not in ("stdout", "stderr"):
            DOUBT.is_present = True
        return enter(patch)

    return noting
