"""The command that usually follows a training, with the prompt and the length that the run was trained with."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from curate.config import read_yaml
from curate.engines.prompts import TEMPLATES
from train.runs.folder import CONFIG

_MEASURE: Final = "train evaluate --model {model} --data BENCHMARK --out {beside}/evaluate"
NEXT: Final = {
    "sft": "train grpo --model {model} --data DATA --out {beside}/grpo",
    **dict.fromkeys(("grpo", "expert-iteration", "distill", "distill-on-policy", "fuse", "shortest"), _MEASURE),
}
LONGEST: Final = 60  # characters of a template on a line; a longer one is named as a file


def following(command: str, out: Path) -> str | None:
    """The line after a training of `command` in `out`; None where it left no model."""
    if command not in NEXT or not (out / "model").is_dir():
        return None
    words = NEXT[command].format(model=out / "model", beside=out.parent)
    asked = _asked(out) if NEXT[command] == _MEASURE else ()
    return " ".join(["next: gradus", words, *asked])


def _asked(out: Path) -> Iterator[str]:
    """The options of an evaluation that asks as the run did."""
    config: dict[str, Any] = read_yaml(out / CONFIG)["config"]  # Any: the settings of any trainer
    prompt, sampling = config.get("prompt", {}), config.get("sampling", {})
    template = prompt.get("template", "{prompt}")
    names = {text: name for name, text in TEMPLATES.items()}
    if template in names:
        yield f"--template {names[template]}"
    elif template != "{prompt}":
        yield (
            f"--template {shlex.quote(template)}"
            if len(template) <= LONGEST and template.isprintable()
            else ("--template @FILE")
        )
    if prompt.get("thinking", "default") != "default":
        yield f"--thinking {prompt['thinking']}"
    if (most := sampling.get("max_tokens", config.get("max_tokens"))) is not None:
        yield f"--max-tokens {most}"
