r"""Puzzles of reasoning-gym, judged by the scorer of the task that made them; correct is its full score.

A ground truth is the JSON of the entry: `question`, `answer` and `metadata`, whose `source_dataset` names the task. The
answer of a response is its last `<answer>` block or `\boxed{}`, else the whole response.
"""

from __future__ import annotations

import importlib
import json
import re
from functools import cache
from typing import Any, Final

from curate.parts import is_installed, require
from curate.verify.spelling.normalise import matching_brace

LIBRARY: Final = "reasoning_gym"
_ANSWER: Final = re.compile(r"<answer>(.*?)</answer>", re.DOTALL | re.IGNORECASE)
_BOX: Final = re.compile(r"\\boxed\s*\{")
_FULL: Final = 1.0 - 1e-9
_GRIDS: Final = ("arc_agi", "rearc")  # their scorers compare with tuples


def judge(response: str, ground_truth: str) -> bool | None:
    """Whether the task's scorer gives the answer of a response its full score; None if there is no such task."""
    entry = entry_of(ground_truth)
    if entry is None or not response.strip():
        return None if entry is None else False
    try:
        return _is_full(answer_in(response), entry)
    except Exception:  # noqa: BLE001  # many scorers raise on an answer of another form
        return False if entry["answer"] is not None and _is_full(entry["answer"], entry) else None


def reference(ground_truth: str) -> str | None:
    """The answer of an entry itself; None if it has none, as where many are right."""
    entry = entry_of(ground_truth)
    return str(entry["answer"]) if entry is not None and entry["answer"] is not None else None


def is_readable(ground_truth: str) -> bool:
    """Whether a ground truth is an entry of reasoning-gym, of any task."""
    return entry_of(ground_truth) is not None


def fault(ground_truth: str) -> str | None:
    """What is wrong with an entry, in one line; the library that judges it may be missing."""
    entry = entry_of(ground_truth)
    if entry is None:
        return "is no entry of reasoning-gym: question, answer and metadata with source_dataset"
    if not is_installed(LIBRARY):
        return "reasoning-gym, which judges it, is not installed; pip install 'gradus-rlvr[puzzles]'"
    name = entry["metadata"]["source_dataset"]
    return None if name in _tasks() else f"reasoning-gym has no task {name}"


def written(question: Any, answer: Any, metadata: Any) -> str | None:  # Any: cells of a source
    """The ground truth of a row of reasoning-gym; None if it is none."""
    table = _parsed(metadata)
    if not isinstance(table, dict) or not isinstance(table.get("source_dataset"), str):
        return None
    entry = {"question": question, "answer": answer, "metadata": table}
    return json.dumps(entry, ensure_ascii=False, sort_keys=True, default=str)


def entry_of(ground_truth: str) -> dict[str, Any] | None:  # Any: an entry's values
    """The entry in a ground truth; None if it is none."""
    entry = _parsed(ground_truth)
    if not isinstance(entry, dict) or not isinstance(entry.get("metadata"), dict):
        return None
    return entry if isinstance(entry["metadata"].get("source_dataset"), str) and "answer" in entry else None


def answer_in(response: str) -> str:
    r"""The answer of a response: in its last `<answer>` or `\boxed{}`, whichever comes last, else all of it."""
    tags, boxes = list(_ANSWER.finditer(response)), list(_BOX.finditer(response))
    if boxes and (not tags or boxes[-1].start() > tags[-1].start()):
        end = matching_brace(response, boxes[-1].end() - 1)
        if end > 0:
            return response[boxes[-1].end() : end].strip()
    return (tags[-1][1] if tags else response).strip()


def _parsed(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return None


def _is_full(answer: str, entry: dict[str, Any]) -> bool:
    name = entry["metadata"]["source_dataset"]
    if name in _GRIDS:
        entry = {**entry, "metadata": _as_made(entry["metadata"])}
    return float(_library().get_score_answer_fn(name)(answer, entry)) >= _FULL


def _as_made(value: Any) -> Any:
    """A value with tuples in place of lists, which JSON and Parquet have for them."""
    if isinstance(value, dict):
        return {name: _as_made(one) for name, one in value.items()}
    return tuple(map(_as_made, value)) if isinstance(value, list) else value


@cache
def _library() -> Any:  # Any: an optional library
    require("a puzzle", LIBRARY)
    return importlib.import_module(LIBRARY)


@cache
def _tasks() -> frozenset[str]:
    return frozenset(importlib.import_module(f"{LIBRARY}.factory").DATASETS)


if is_installed(LIBRARY):
    _library()  # once for a worker, before it forks
