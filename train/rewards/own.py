"""Rewards of one's own: `FILE.py:FUNCTION` or `PACKAGE.MODULE:FUNCTION`, with the signature of TRL's reward functions.

A function is called with `prompts`, `completions`, `completion_ids`, `trainer_state`, `log_extra`, `log_metric`,
and the columns of the problems (`key`, `question`, `ground_truth`, `kind`, `tests`, `source`, `solution`, `extra`), and
returns a number or None for each completion; NaN counts as None, undecided. It may be a coroutine. TRL's own rewards
work as they are: `trl.rewards:think_format_reward`.
"""

from __future__ import annotations

import asyncio
import hashlib
import importlib
import importlib.util
import inspect
import math
import sys
import threading
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, Final

from curate.errors import UserError

Value = float | None
DIGEST_CHARS: Final = 12
TRIED: Final = 10
NOTHING: Final = 0.0


def is_own(name: str) -> bool:
    """Whether a reward's name is a place of a function rather than a name of the table."""
    return ":" in name


def with_digest(name: str) -> str:
    """The name with the digest of its source file, so that a run's settings tell one version from another."""
    place, function = _parts(name)
    origin = getattr(_module(place, name), "__file__", None)
    if origin is None:
        return f"{place}:{function}"
    return f"{place}:{function}@{hashlib.sha256(Path(origin).read_bytes()).hexdigest()[:DIGEST_CHARS]}"


class OwnReward:
    """A user's function as a reward: checks what it returns, bounds its time, and names it in every error."""

    def __init__(self, name: str, timeout_s: float) -> None:
        """Raises `UserError` if there is no such function, or its file cannot be imported."""
        place, function = _parts(name)
        self._name, self._timeout_s = f"{place}:{function}", timeout_s
        found = getattr(_module(place, name), function, None)
        if not callable(found):
            raise UserError(f"--rewards: {place} has no function {function}")
        self._function: Callable[..., Any] = found
        self.__name__ = function

    def __call__(self, completions: Sequence[Any], **given: Any) -> list[Value]:
        """One entry per completion. Raises `UserError` where the function raises, hangs or returns something else."""
        values = self._bounded({"completions": completions, **given})
        if isinstance(values, str | bytes | dict) or not hasattr(values, "__len__"):
            raise UserError(f"reward {self._name} returned {type(values).__name__}; return a list of numbers")
        if len(values) != len(completions):
            raise UserError(f"reward {self._name} returned {len(values)} values for {len(completions)} completions")
        return [self._number(value) for value in values]

    def _bounded(self, given: dict[str, Any]) -> Any:
        """What the function returns; it runs in a thread, which cannot be killed but need not be waited for."""
        done: dict[str, Any] = {}

        def work() -> None:
            try:
                values = self._function(**given)
                done["values"] = asyncio.run(_awaited(values)) if inspect.isawaitable(values) else values
            except BaseException as error:  # noqa: BLE001  # a user's code: reported below, in one line
                done["error"] = error

        thread = threading.Thread(target=work, name=f"reward {self._name}", daemon=True)
        thread.start()
        thread.join(self._timeout_s)
        if thread.is_alive():
            raise UserError(
                f"reward {self._name} took over {self._timeout_s:g} s for a batch; make it faster, or raise "
                "--rewards.timeout-s"
            )
        if "error" in done:
            raise UserError(f"reward {self._name} failed: {_told(done['error'])}")
        return done["values"]

    def _number(self, value: Any) -> Value:
        if value is None:
            return None
        try:
            number = float(value)
        except (TypeError, ValueError):
            raise UserError(
                f"reward {self._name} returned {type(value).__name__} for a completion; return a number or None"
            ) from None
        if math.isinf(number):
            raise UserError(f"reward {self._name} returned {number}; return a finite number, or None where undecided")
        return None if math.isnan(number) else number


def try_out(rewards: Sequence[OwnReward], rows: Sequence[dict[str, Any]]) -> list[str]:
    """Call each reward on made completions of some problems, before a model is loaded; a line on what each returned."""
    rows = [rows[at % len(rows)] for at in range(TRIED)]
    texts = [_made(at, row) for at, row in enumerate(rows)]
    columns = {name: [row[name] for row in rows] for name in rows[0] if name != "prompt"}
    is_chat = not isinstance(rows[0]["prompt"], str)
    lines = []
    for reward in rewards:
        values = reward(
            completions=[[{"role": "assistant", "content": text}] if is_chat else text for text in texts],
            prompts=[row["prompt"] for row in rows], completion_ids=[list(range(len(text))) for text in texts],
            trainer_state=SimpleNamespace(global_step=0, max_steps=1, epoch=0.0), log_extra=lambda *_: None,
            log_metric=lambda *_: None, **columns,
        )  # fmt: skip
        told = ", ".join("none" if value is None else f"{value or 0.0:g}" for value in values)
        lines.append(f"reward {reward.__name__} on {TRIED} made completions: {told}")
    return lines


def _made(at: int, row: dict[str, Any]) -> str:
    """Completions of several forms: empty, right, wrong, in a box, with reasoning, cut off, code."""
    truth = row.get("ground_truth") or "1"
    forms = (
        "", f"The answer is {truth}.", f"\\boxed{{{truth}}}", f"<think>Let me see.</think>\\boxed{{{truth}}}",
        "I do not know.",
        "<think>Let me see", "\\boxed{-987654321}", "```python\nprint(1)\n```", "答案是 1。 🙂", f"{truth} " * 200,
    )  # fmt: skip
    return forms[at % len(forms)]


async def _awaited(values: Any) -> Any:
    return await values


def _parts(name: str) -> tuple[str, str]:
    """The place of a function and its name, without a digest."""
    place, _, function = name.rpartition(":")
    return place, function.partition("@")[0]


def _module(place: str, name: str) -> ModuleType:
    try:
        return _from_file(Path(place)) if place.endswith(".py") else importlib.import_module(place)
    except FileNotFoundError:
        raise UserError(f"--rewards: {place}: no such file, for {name}") from None
    except ModuleNotFoundError as error:
        raise UserError(f"--rewards: {name}: {error}; install it, or name a file as FILE.py:FUNCTION") from None
    except Exception as error:  # noqa: BLE001  # a user's code: its place in one line
        raise UserError(f"--rewards: {place} cannot be imported: {_told(error)}") from None


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


def _told(error: BaseException) -> str:
    """An exception in one line, with the place where it was raised."""
    frames = traceback.extract_tb(error.__traceback__)
    place = f" at {Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else ""
    text = " ".join(str(error).split())
    return f"{type(error).__name__}{place}{': ' + text if text else ''}"[:300]
