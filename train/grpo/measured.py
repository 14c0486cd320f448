"""The prompt and length that a dataset's pass rates were measured with, which training takes where none is given."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from curate.artifacts.manifest import MANIFEST, Manifest, read_manifest
from curate.engines.prompts import PromptConfig
from train.grpo.config import GrpoConfig

STAGE = "difficulty"


class Adopted(NamedTuple):
    """A config with the measured settings, and the lines that report them."""

    config: GrpoConfig
    lines: list[str]


def as_measured(config: GrpoConfig, data: Path) -> Adopted:
    """Take `max_tokens` and the prompt's settings from the difficulty stage of an artifact or dataset.

    A pass rate holds for one prompt and one length: the forecasts of the curriculum start from it. Settings that are
    given stay, with a warning where they differ.
    """
    measured = _settings(data)
    if not measured:
        return Adopted(config, [])
    lines: list[str] = []
    taken: dict[str, dict[str, Any]] = {}
    for table, name in _places():
        own = getattr(config, table)
        was, now = measured.get(name), getattr(own, name)
        if name not in measured or was == now:
            continue
        if name in own.model_fields_set:
            lines.append(f"warning: {table}.{name} is {now!r}, but the pass rates were measured with {was!r}")
        else:
            taken.setdefault(table, {})[name] = was
    if taken:
        settings = ", ".join(f"{table}.{name} {value!r}" for table, of in taken.items() for name, value in of.items())
        lines.append(f"as the pass rates were measured: {settings}")
    update = {table: getattr(config, table).model_copy(update=values) for table, values in taken.items()}
    return Adopted(config.model_copy(update=update), lines)


def _places() -> list[tuple[str, str]]:
    return [("sampling", "max_tokens"), *(("prompt", name) for name in PromptConfig.model_fields)]


def _settings(data: Path) -> dict[str, Any]:  # Any: values of a manifest's config
    if not (data / MANIFEST).is_file():
        return {}
    manifest = read_manifest(data)
    chain = [Manifest.model_validate(entry) for entry in manifest.facts.get("chain", [])]
    return next((stage.config for stage in [manifest, *reversed(chain)] if stage.stage == STAGE), {})
