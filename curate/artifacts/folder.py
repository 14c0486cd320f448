"""The folder of a stage's artifact: its finished batches, and how it becomes complete.

    state.json       fingerprint of the run in progress, written before the first shard
    kept/ dropped/   one shard each per finished batch; dropped is written second: its presence means the batch is done
    samples.jsonl    the model's samples so far
    scratch.tmp/     temporary files of a running stage
    manifest.json    written last

The life cycle is that of `curate.artifacts.claimed`. A rerun with the same fingerprint resumes, or reuses a complete
artifact. Another fingerprint is refused unless `force`, which starts over. An earlier run that left only its state does
not block the next one.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Final, Literal, Self

import polars as pl

from curate.artifacts.artifact import PARTS, scan_part, seal, shard_path, write_shard
from curate.artifacts.claimed import CLEARING, ClaimedFolder
from curate.artifacts.lock import LOCK
from curate.artifacts.manifest import (
    MANIFEST,
    Manifest,
    canonical_json,
    fingerprint,
    read_manifest,
    verify_files,
    write_atomic,
)
from curate.artifacts.samples import LOG
from curate.errors import UserError
from curate.records import DECISION

Scan = Callable[[str], pl.LazyFrame]
Facts = Callable[[Scan], dict[str, Any]]
Plots = Callable[[Scan], dict[str, bytes]]
Prospect = Literal["run", "go on", "reuse", "replace"]
STATE: Final = "state.json"
SCRATCH: Final = "scratch.tmp"
OURS: Final = (*PARTS, "plots", "README.md", MANIFEST, STATE, LOG, LOCK)


def prospect(folder: Path, wanted: str | None) -> Prospect:
    """What a run with the fingerprint `wanted` would do in a folder; writes nothing.

    `replace` is refused without force; `wanted` is None while the input of the run is unknown.
    """
    earlier = None if (folder / CLEARING).exists() else _fingerprint_in(folder)
    if earlier is not None and earlier == wanted:
        return "reuse" if (folder / MANIFEST).exists() else "go on"
    return "replace" if earlier is not None and _has_begun(folder) else "run"


class OutFolder(ClaimedFolder):
    """`with OutFolder(out, identity, reads=[...]) as folder:` — locked, checked, ready to resume."""

    BUSY: ClassVar = "another gradus process writes here; wait for it or choose another folder"
    INSTEAD: ClassVar = "choose another folder"
    FORCE_STARTS_OVER: ClassVar = False

    def __init__(
        self, folder: Path, identity: Mapping[str, Any], *, reads: Sequence[Path] = (), force: bool = False
    ) -> None:
        """`identity` holds stage, version, config and inputs, from which the fingerprint is computed.

        `reads` are the paths that the run reads; none may be in this folder, whose contents `force` deletes.
        """
        super().__init__(folder, folder, force=force)
        self._reads = reads
        self._identity = dict(identity)
        self._identity["fingerprint"] = fingerprint(**identity)

    def __enter__(self) -> Self:
        here = self.folder.resolve()
        if any(here in (path.resolve(), *path.resolve().parents) for path in self._reads):
            raise UserError(f"{self.folder}: is an input of the run; choose another folder for --out")
        if within := next((path for path in self._reads if path.resolve() in here.parents), None):
            raise UserError(f"{self.folder}: is inside {within}, which the run reads; choose a folder beside it")
        return super().__enter__()

    def complete(self) -> Manifest | None:
        """The manifest, after checking every file, if the artifact is complete; else None."""
        if not (self.folder / MANIFEST).exists():
            return None
        manifest = read_manifest(self.folder)
        verify_files(self.folder, manifest)
        return manifest

    def has_batch(self, index: int) -> bool:
        """Whether batch `index` was finished by an earlier run."""
        return shard_path(self.folder, "dropped", index).exists()

    def write_batch(self, index: int, rows: pl.DataFrame) -> None:
        """Write a batch's kept rows (without the decision columns) and then its dropped rows."""
        is_kept = pl.col("drop_reason").is_null()
        write_shard(shard_path(self.folder, "kept", index), rows.filter(is_kept).drop(*DECISION))
        write_shard(shard_path(self.folder, "dropped", index), rows.filter(~is_kept))

    @contextmanager
    def scratch(self) -> Iterator[Path]:
        """An empty folder inside this one for temporary files; deleted on exit, or on the next entry after a kill."""
        folder = self.folder / SCRATCH
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def finish(self, facts: Facts | None = None, plots: Plots | None = None) -> Manifest:
        """Count the rows of the shards and write README and manifest, which completes the artifact.

        `facts` computes further figures for the manifest from the parts on disk, `plots` draws pictures for `plots/`.
        """
        kept = scan_part(self.folder, "kept").select(pl.len()).collect().item()
        reasons = scan_part(self.folder, "dropped").group_by("drop_reason").len().sort("drop_reason").collect()
        counts = dict(reasons.iter_rows())
        num_dropped = sum(counts.values())
        fields = {
            **self._identity,
            "num_in": kept + num_dropped,
            "num_kept": kept,
            "num_dropped": num_dropped,
            "reasons": counts,
            "facts": facts(partial(scan_part, self.folder)) if facts else {},
        }
        for name, picture in (plots(partial(scan_part, self.folder)) if plots else {}).items():
            write_atomic(self.folder / "plots" / name, picture)
        manifest = seal(self.folder, fields)
        self._tidy()
        return manifest

    def _objection(self) -> str | None:
        foreign = sorted(path.name for path in self.folder.iterdir() if not _is_ours(path))
        if foreign:
            raise UserError(
                f"{self.folder}: holds files that gradus did not write ({foreign[0]}); choose an empty folder"
            )
        if _fingerprint_in(self.folder) in (None, self._identity["fingerprint"]):
            return None
        return "holds the result of another configuration or input; choose another folder, or --force to replace it"

    def _has_begun(self) -> bool:
        return _has_begun(self.folder)

    def _kept(self) -> str | None:
        if (self.folder / MANIFEST).exists():
            return "the artifact is complete"
        num_batches = sum(1 for _ in (self.folder / "dropped").glob("*.parquet"))
        log = self.folder / LOG
        parts = [f"finished batches ({num_batches})"] if num_batches else []
        parts += ["samples"] if log.is_file() and log.stat().st_size else []
        return f"its {' and '.join(parts)} are kept" if parts else None

    def _owned(self) -> list[Path]:
        return [path for path in self.folder.iterdir() if _is_ours(path) and path.name != LOCK]

    def _begin(self) -> None:
        if (self.folder / MANIFEST).exists():
            self._tidy()  # a kill may have come between the manifest and this step
        else:
            state = {name: self._identity[name] for name in ("stage", "version", "fingerprint", "config", "inputs")}
            write_atomic(self.folder / STATE, (canonical_json(state) + "\n").encode())

    def _tidy(self) -> None:
        """Delete the files that only a run in progress needs."""
        for name in (STATE, LOG):
            (self.folder / name).unlink(missing_ok=True)


def _is_ours(path: Path) -> bool:
    return path.name in OURS or path.name.endswith(".tmp")


def _fingerprint_in(folder: Path) -> str | None:
    """The fingerprint of the complete artifact or of the run in progress; None if the folder has neither."""
    if (folder / MANIFEST).exists():
        return read_manifest(folder).fingerprint
    state = folder / STATE
    return str(json.loads(state.read_bytes())["fingerprint"]) if state.exists() else None


def _has_begun(folder: Path) -> bool:
    """Whether a run in this folder left anything to lose; one that failed to start leaves only its state."""
    files = (path for path in folder.rglob("*") if path.is_file() and SCRATCH not in path.relative_to(folder).parts)
    return any(path.stat().st_size > 0 for path in files if path.name != STATE)
