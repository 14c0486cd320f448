"""The chain of artifacts behind a dataset: finds, orders and verifies it.

A run folder names its stages in `pipeline.json`; the ancestors of a single artifact are found beside it, by the digest
of its input pool; in a folder of artifacts the chain ends with the one that is no other's input. Each link is verified:
a stage's input digest equals the output digest of the stage before it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import polars as pl

from curate.artifacts.artifact import Artifact, open_artifact
from curate.artifacts.chain import ancestors_of, ends_of
from curate.artifacts.manifest import MANIFEST, Manifest, read_manifest
from curate.errors import UserError

PIPELINE: Final = "pipeline.json"
DATASET: Final = "card"  # the `stage` of a dataset's own manifest
Chain = tuple[Artifact, ...]


def open_chain(folder: Path) -> Chain:
    """The artifacts of a run, first stage first, every file and every link verified.

    Args:
        folder: a run folder with `pipeline.json`, an artifact with its ancestors beside it, or their parent folder.

    Raises:
        UserError: if an artifact is missing, incomplete or changed, or two stages do not link.
    """
    if (folder / PIPELINE).exists():
        chain = tuple(open_artifact(folder / name) for name in _stage_names(folder / PIPELINE))
    else:
        chain = _with_ancestors(open_artifact(folder if (folder / MANIFEST).exists() else _last_in(folder)))
    if chain[-1].manifest.stage == DATASET:
        raise UserError(f"{folder}: is a dataset already; give the run folder that it was built from")
    _check_links(chain)
    return chain


def added_columns(chain: Sequence[Artifact]) -> list[list[str]]:
    """For each stage, the columns of its kept rows that the previous stage's lack."""
    columns = [list(_columns(artifact)) for artifact in chain]
    return [
        [name for name in mine if name not in before] for before, mine in zip([[], *columns], columns, strict=False)
    ]


def _stage_names(path: Path) -> list[str]:
    try:
        names: Any = json.loads(path.read_bytes())["stages"]
    except (ValueError, KeyError, TypeError):
        names = None
    if not isinstance(names, list) or not names or not all(isinstance(name, str) for name in names):
        raise UserError(f'{path}: names no stages; write {{"stages": ["ingest", ...]}} or run the pipeline again')
    return names


def _last_in(folder: Path) -> Path:
    """The one artifact in a folder that no other was made from; the folder itself if it holds none."""
    artifacts = _artifacts_in(folder)
    last = ends_of(artifacts)
    if len(last) > 1:
        raise UserError(f"{folder}: several artifacts end a chain; give one: {', '.join(map(str, last))}")
    return last[0] if last else folder


def _with_ancestors(last: Artifact) -> Chain:
    """`last` and its ancestors beside it, first stage first; missing ones are left out."""
    artifacts = _artifacts_in(last.folder.absolute().parent)
    beside = {path: manifest for path, manifest in artifacts.items() if path != last.folder.absolute()}
    return (*map(open_artifact, ancestors_of(last.manifest, beside)), last)


def _artifacts_in(folder: Path) -> dict[Path, Manifest]:
    """The complete stage artifacts in a folder; damaged ones are left out."""
    found = {}
    for path in sorted(folder.glob(f"*/{MANIFEST}")):
        with suppress(UserError):
            manifest = read_manifest(path.parent)
            if manifest.stage != DATASET:
                found[path.parent] = manifest
    return found


def _check_links(chain: Chain) -> None:
    for before, after in pairwise(chain):
        if after.manifest.inputs.get("pool") != before.manifest.digest:
            raise UserError(
                f"{after.folder}: was not made from the current {before.folder}; run the pipeline again from there"
            )


def _columns(artifact: Artifact) -> pl.Schema:
    return artifact.scan("kept").collect_schema()
