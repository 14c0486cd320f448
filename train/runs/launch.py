"""`gradus train accelerate-config`: configuration files of accelerate for several GPUs or machines."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final

import typer

from curate.config import nearest
from curate.errors import UserError

FOLDER: Final = Path(__file__).parent / "accelerate"
Name = Annotated[str, typer.Argument(help="Name of a configuration; without it, all are listed.")]


def accelerate_config(name: Name = "") -> None:
    """Print a configuration file of accelerate.

    Without a name, all are listed. Save one, set num_processes to your number of GPUs, and start a training with it:
    accelerate launch --config_file fsdp.yaml --no_python gradus train grpo ...

    Example: gradus train accelerate-config fsdp > fsdp.yaml
    """
    if not name:
        typer.echo("\n".join(f"{known:<12} {about(known)}" for known in config_names()))
        return
    if name not in config_names():
        raise UserError(f"{name}: no such configuration; {nearest(name, config_names())}")
    typer.echo((FOLDER / f"{name}.yaml").read_text(encoding="utf-8"), nl=False)


def config_names() -> list[str]:
    """Names of the configurations that Gradus ships."""
    return sorted(path.stem for path in FOLDER.glob("*.yaml"))


def about(name: str) -> str:
    """The first sentence of a file's comment."""
    first = (FOLDER / f"{name}.yaml").read_text(encoding="utf-8").splitlines()[0]
    return first.removeprefix("# ").split(". ")[0].rstrip(".")
