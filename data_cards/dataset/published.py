"""The files of a published dataset, and their verification.

The manifest lists the digests of data files, its facts those of plots and Croissant, and a checksum file those of a
curriculum. The card is not verified: people may edit its text.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any, Final

import yaml

from curate.artifacts.artifact import PARTS, open_artifact
from curate.artifacts.manifest import MANIFEST, Manifest, digest_of, sha256_of, without_path
from curate.errors import UserError
from data_cards.dataset.lineage import DATASET
from data_cards.dataset.training import state_folder

CURRICULUM: Final = "curriculum"
CHECKSUMS: Final = "checksums.json"
MANAGED: Final = ("README.md", MANIFEST, "croissant.json", *(f"{part}/*" for part in (*PARTS, "plots", CURRICULUM)))
STATE_FILES: Final = "curriculum*"
SUMMARY_FILES: Final = ("config.yaml", "log.jsonl", "draws.jsonl")


def open_published(dataset: Path, name: str = "") -> Manifest:
    """The manifest of a dataset, after verifying every file; `UserError` names the fault, and the dataset as `name`."""
    try:
        manifest = open_artifact(dataset).manifest
    except UserError as error:
        raise UserError(str(error).replace(str(dataset), name or str(dataset))) from None
    where = name or str(dataset)
    if manifest.stage != DATASET:
        raise UserError(f"{where}: is the artifact of stage {manifest.stage}; make a dataset with gradus card build")
    if not (dataset / "README.md").is_file():
        raise UserError(f"{where}: its README.md is missing; build the dataset again")
    if digest_of(manifest.files) != manifest.digest:
        raise UserError(f"{where}: {MANIFEST} names another digest than its files have; build or pull it again")
    _refuse_unlisted(dataset, manifest, where)
    _prove(dataset, manifest.facts["documents"], where)
    checksums = dataset / CURRICULUM / CHECKSUMS
    if checksums.is_file():
        _prove(dataset / CURRICULUM, json.loads(checksums.read_bytes()), f"{where}/{CURRICULUM}")
    return manifest


def dataset_files(dataset: Path, manifest: Manifest) -> dict[str, Path | bytes]:
    """The published files of a dataset folder, by path."""
    names = ["README.md", MANIFEST, *(entry.path for entry in manifest.files), *manifest.facts["documents"]]
    curriculum = sorted(path for path in (dataset / CURRICULUM).glob("*") if path.is_file())
    return {
        **{name: dataset / name for name in names},
        **{f"{CURRICULUM}/{path.name}": path for path in curriculum},
    }


def curriculum_files(run: Path) -> dict[str, Path | bytes]:
    """The newest curriculum state and summary files of a training run, with their checksums, by path."""
    folder = state_folder(run) if run.is_dir() else None
    if folder is None:
        raise UserError(f"{run}: holds no curriculum state; give a run that gradus train grpo wrote")
    found = {path.name: path for path in sorted(folder.glob(STATE_FILES)) if path.is_file()}
    found |= {name: run / name for name in SUMMARY_FILES if (run / name).is_file()}
    contents = {name: path.read_bytes() for name, path in found.items()}
    if "config.yaml" in contents:
        contents["config.yaml"] = yaml.safe_dump(_without_paths(yaml.safe_load(contents["config.yaml"]))).encode()
    sums = {name: hashlib.sha256(content).hexdigest() for name, content in contents.items()}
    contents[CHECKSUMS] = (json.dumps(sums, indent=1, sort_keys=True) + "\n").encode()
    return {f"{CURRICULUM}/{name}": content for name, content in contents.items()}


def _without_paths(value: Any) -> Any:  # Any: YAML values
    """The value with absolute paths cut to their last two names, to keep local paths private."""
    if isinstance(value, dict):
        return {name: _without_paths(part) for name, part in value.items()}
    if isinstance(value, list):
        return [_without_paths(part) for part in value]
    is_path = isinstance(value, str) and Path(value).is_absolute() and "\n" not in value
    return without_path(Path(value)) if is_path else value


def _prove(folder: Path, sums: dict[str, str], where: str) -> None:
    for name, expected in sums.items():
        path = folder / name
        if not path.is_file():
            raise UserError(f"{where}: {name} is missing; build or pull the dataset again")
        if sha256_of(path) != expected:
            raise UserError(f"{where}: {name} is not what was published; build or pull the dataset again")


def _refuse_unlisted(dataset: Path, manifest: Manifest, where: str) -> None:
    """Refuse data files that the manifest does not list, since `datasets` would load them."""
    listed = {entry.path for entry in manifest.files}
    for part in PARTS:
        for path in sorted((dataset / part).rglob("*")):
            if (name := path.relative_to(dataset).as_posix()) not in listed:
                raise UserError(f"{where}: {name} is not listed in {MANIFEST}; build or pull the dataset again")
