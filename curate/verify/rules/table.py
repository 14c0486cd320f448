"""The rule of each kind: the module that judges it, and the answers without content that must not meet it.

A module has `judge(response, ground_truth)`, called in a worker, `is_readable(ground_truth)`, and
`fault(ground_truth)`, which says in one line why a ground truth cannot be judged. Modules load when a problem of their
kind is met.
"""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import Final, NamedTuple


class Rule(NamedTuple):
    """The module of a kind, and answers that anyone can give without reading the question."""

    module: str
    empty_answers: tuple[str, ...]

    @property
    def function(self) -> str:
        """The function that judges a response, as workers name it."""
        return f"{self.module}:judge"


RULES: Final = {
    "instructions": Rule(f"{__package__}.instructions", ("", "ok", "OK")),
    "json": Rule(f"{__package__}.json_schema", ("", "{}", "[]", "null", '""', "0", "true", "false")),
    "words": Rule(f"{__package__}.word_set", ("", r"\boxed{}")),
    "puzzle": Rule(f"{__package__}.puzzle", ("", "ok")),
}


def fault(kind: str, ground_truth: str | None) -> str | None:
    """What is wrong with the ground truth of a problem of a ruled kind, in one line; None if it can be judged."""
    if not ground_truth or not ground_truth.strip():
        return "there is no ground truth"
    found: str | None = _module(kind).fault(ground_truth)
    return found


def is_readable(kind: str, ground_truth: str) -> bool:
    """Whether a ground truth states a rule of its kind, whether or not what judges it is installed."""
    found: bool = _module(kind).is_readable(ground_truth)
    return found


def reference(kind: str, ground_truth: str) -> str | None:
    """The answer that a ground truth itself gives; None if its kind gives none, as most do, or this one has none."""
    if kind != "puzzle":
        return None
    found: str | None = _module(kind).reference(ground_truth)
    return found


def _module(kind: str) -> ModuleType:
    return importlib.import_module(RULES[kind].module)
