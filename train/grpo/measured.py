"""The prompt and length that a dataset's pass rates were measured with, which training takes where none is given."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from curate.artifacts.chain import ancestors_of
from curate.artifacts.manifest import MANIFEST, Manifest, read_manifest
from curate.engines.prompts import PromptConfig
from curate.errors import UserError
from curate.stages import FIRST
from train.data.problems import read_problems
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


def with_recorded_mix(config: GrpoConfig, data: Path) -> GrpoConfig:
    """The config with the weights of the pipeline's sources as its mixture, where `curriculum.mix` is `recorded`."""
    if config.curriculum.mix != "recorded":
        return config
    sources: list[dict[str, Any]] = next((one.facts["sources"] for one in _chain(data) if one.stage == FIRST), [])
    weights = {str(source["name"]): float(source["weight"]) for source in sources}
    if not weights or config.curriculum.mix_by != "source":
        why = "mix_by is not source" if weights else "no weights are recorded"
        raise UserError(
            f"{data}: curriculum.mix is recorded, but {why}; give an artifact of gradus curate, or the shares"
        )
    left = set(read_problems(data).frame["source"].drop_nulls().unique())
    mix = {name: weight for name, weight in weights.items() if name in left}
    return config.model_copy(update={"curriculum": config.curriculum.model_copy(update={"mix": mix})})


def _places() -> list[tuple[str, str]]:
    return [("sampling", "max_tokens"), *(("prompt", name) for name in PromptConfig.model_fields)]


def _settings(data: Path) -> dict[str, Any]:  # Any: values of a manifest's config
    return next((stage.config for stage in _chain(data) if stage.stage == STAGE), {})


def _chain(data: Path) -> list[Manifest]:
    """The manifests of an artifact and of those it was made from, the last one first; empty for other data.

    A dataset holds them; the ancestors of an artifact lie beside it.
    """
    if not (data / MANIFEST).is_file():
        return []
    manifest = read_manifest(data)
    earlier = [Manifest.model_validate(entry) for entry in manifest.facts.get("chain", [])]
    if not earlier:
        beside = {path.parent: read_manifest(path.parent) for path in data.resolve().parent.glob(f"*/{MANIFEST}")}
        earlier = [beside[path] for path in ancestors_of(manifest, beside)]
    return [manifest, *reversed(earlier)]
