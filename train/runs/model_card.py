"""The model card of a trained model: its base, the data with their digest, and how it was trained.

TRL writes a card of its own beside the checkpoints, which names no base ("None") where the model is given as a folder;
this card takes its place, in `model/README.md`.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import yaml

# settings that tell one training from another, by their place in config.yaml
TOLD: Final = (
    ("objective",), ("max_steps",), ("generation", "num_problems"), ("generation", "group_size"),
    ("optimizer", "learning_rate"), ("sampling", "max_tokens"), ("rewards", "names"), ("curriculum", "policy"),
    ("seed",),
)  # fmt: skip
CARD: Final = """---
{head}---

# {title}

{base} trained by `gradus train {command}` on `{data}`.

| | |
|---|---|
{rows}
All settings are in `config.yaml` of the run, versions and machine in `environment.json`, and every step in `log.jsonl`.
"""


def model_card(identity: Mapping[str, Any], title: str) -> str:  # Any: the values of config.yaml
    """The card of a run with this identity: its command, model, data, their digests and its settings."""
    base, command = str(identity["model"]), str(identity["command"])
    head: dict[str, Any] = {"library_name": "transformers", "pipeline_tag": "text-generation"}
    if not Path(base).exists() and base.count("/") == 1:
        head["base_model"] = base  # an id on the Hub
    head["tags"] = ["gradus", "trl", *(["rlvr"] if command == "grpo" else []), command]
    settings = {".".join(place): _at(identity["config"], place) for place in TOLD}
    facts = {
        "base, digest of its files": f"`{str(identity['model_digest'])[:16]}`",
        "data, digest": f"`{str(identity['data_digest'])[:16]}`",
        **{name: _cell(value) for name, value in settings.items() if value is not None},
    }
    if fork := identity.get("fork"):
        facts = {"fork of": f"`{Path(str(fork['run'])).name}` at step {fork['step']}", **facts}
    return CARD.format(
        head=yaml.safe_dump(head, sort_keys=False),
        title=title,
        base=f"[{base}](https://huggingface.co/{base})" if "base_model" in head else f"`{Path(base).name}`",
        command=command,
        data=Path(str(identity["data"])).name,
        rows="".join(f"| {name} | {value} |\n" for name, value in facts.items()),
    )


def _at(settings: Any, place: tuple[str, ...]) -> Any:
    for name in place:
        settings = settings.get(name) if isinstance(settings, Mapping) else None
    return settings


def _cell(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
