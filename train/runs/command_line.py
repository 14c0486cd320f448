"""Command-line arguments that the commands of this room share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Model = Annotated[str, typer.Option("--model", help="Model to start from: a folder or a Hub name.", show_default=False)]
DataFile = Annotated[
    Path, typer.Option("--data", help="Artifact folder, or JSONL or Parquet file.", show_default=False)
]
Out = Annotated[Path, typer.Option("--out", help="Run folder to write.", show_default=False)]
Force = Annotated[bool, typer.Option("--force", help="Replace another run in --out.")]
