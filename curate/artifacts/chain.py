"""The order of the artifacts in a folder, from the digests in their manifests.

An artifact records the digest of its pool. A stage that drops and adds nothing keeps the digest of its pool, so several
artifacts can share one digest; they follow the artifact that first had it, in the order they were written. Two such
artifacts of one stage are alternatives, not successors.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from curate.artifacts.manifest import MANIFEST, Manifest


def ends_of(made: Mapping[Path, Manifest]) -> list[Path]:
    """The artifacts from which no other was made: exactly one if all form a single chain."""
    pools = {manifest.inputs.get("pool") for manifest in made.values() if not _changes_nothing(manifest)}
    ends: dict[str, list[Path]] = {}
    for path, manifest in made.items():
        if manifest.digest not in pools:
            ends.setdefault(manifest.digest, []).append(path)
    latest = {digest: max(paths, key=lambda path: _place(path, made[path])) for digest, paths in ends.items()}
    return [path for digest, paths in ends.items() for path in paths if made[path].stage == made[latest[digest]].stage]


def ancestors_of(last: Manifest, made: Mapping[Path, Manifest]) -> list[Path]:
    """The artifacts among `made` from which `last` was made, oldest first; absent ones are left out."""
    chain: list[Path] = []
    left, wanted = dict(made), last.inputs.get("pool")
    seen = {(last.digest, last.stage)}
    while found := [
        path
        for path, manifest in left.items()
        if manifest.digest == wanted and not (_changes_nothing(manifest) and (wanted, manifest.stage) in seen)
    ]:
        parent = max(found, key=lambda path: _place(path, made[path]))
        seen.add((made[parent].digest, made[parent].stage))
        wanted = left.pop(parent).inputs.get("pool")
        chain.insert(0, parent)
    return chain


def _changes_nothing(manifest: Manifest) -> bool:
    return manifest.inputs.get("pool") == manifest.digest


def _place(path: Path, manifest: Manifest) -> tuple[bool, int]:
    """The sort key among artifacts of one digest: the one that first had it, then by time."""
    return _changes_nothing(manifest), (path / MANIFEST).stat().st_mtime_ns
