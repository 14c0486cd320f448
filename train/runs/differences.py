"""The first setting in which two runs differ, with the part of its values that shows it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from curate.tables import dotted

INPUTS: Final = ("command", "model_digest", "data_digest")
MAX_SHOWN: Final = 40


def difference(earlier: Mapping[str, Any], now: Mapping[str, Any]) -> str | None:  # Any: JSON values
    """The first difference of two identities, as `name: old there, new here`; None where they agree.

    Settings of tables are compared one by one, and named in full: `trl.adam_beta2`.
    """
    (old_inputs, old), (new_inputs, new) = (_parts(identity) for identity in (earlier, now))
    pairs = [(name, old_inputs.get(name), new_inputs.get(name)) for name in {**old_inputs, **new_inputs}]
    pairs += [(name, old.get(name), new.get(name)) for name in sorted({*old, *new})]
    for name, was, will_be in pairs:
        if was != will_be:
            there, here = _shown(str(was), str(will_be))
            return f"{name}: {there} there, {here} here"
    return None


def steps_before(earlier: Mapping[str, Any], now: Mapping[str, Any]) -> int | None:
    """The steps of an earlier run that differs in nothing but fewer steps; None for any other."""
    old, new = earlier.get("config") or {}, now.get("config") or {}
    steps, more = old.get("max_steps"), new.get("max_steps")
    if not isinstance(steps, int) or not isinstance(more, int) or steps >= more:
        return None
    return steps if difference(earlier, {**now, "config": {**new, "max_steps": steps}}) is None else None


def _parts(identity: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The command with its inputs, and the settings, each by its full name."""
    return dotted({name: identity.get(name) for name in INPUTS}), dotted(identity.get("config") or {})


def _shown(there: str, here: str) -> tuple[str, str]:
    """Two texts, long ones cut to where they differ."""
    num_common = next((place for place, (a, b) in enumerate(zip(there, here, strict=False)) if a != b), 0)
    start = max(0, num_common - MAX_SHOWN // 4)
    return _cut(there, start), _cut(here, start)


def _cut(text: str, start: int) -> str:
    if len(text) <= MAX_SHOWN:
        return text
    end = start + MAX_SHOWN // 2
    return f"{'…' if start else ''}{text[start:end]}{'…' if end < len(text) else ''}"
