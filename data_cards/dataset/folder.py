"""The folder of a dataset: built beside its place and moved there when complete, so that a failure leaves no part.

    .NAME.building/    the dataset while it is built
    .NAME.old/         the previous dataset, while the new one is moved

It is claimed like every output folder (`curate.artifacts.claimed`). The same dataset is reused, another one is replaced
only by `force`, and a folder that holds no dataset is never replaced.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, ClassVar

from curate.artifacts.artifact import open_artifact
from curate.artifacts.claimed import ClaimedFolder
from curate.artifacts.lock import LOCK
from curate.artifacts.manifest import MANIFEST, Manifest, read_manifest
from curate.errors import UserError
from data_cards.dataset.lineage import DATASET


class DatasetFolder(ClaimedFolder):
    """`with DatasetFolder(out, identity) as made:` — write into `made.folder`; it becomes `out` on success."""

    BUSY: ClassVar = "another gradus process builds it; wait for it or choose another folder"
    INSTEAD: ClassVar = "choose another folder or make room"
    FORCE_STARTS_OVER: ClassVar = True

    def __init__(self, out: Path, identity: Mapping[str, Any], *, force: bool = False) -> None:
        """`identity` is the part of the manifest known before the build, with its fingerprint."""
        super().__init__(out, out.absolute().with_name(f".{out.absolute().name}.building"), force=force)
        self._identity = identity
        self._is_moved = False

    def complete(self) -> Manifest | None:
        """The manifest of the same dataset, after verifying every file; None if it must be built. Writes nothing.

        Raises `UserError` if the place holds something else that may not be replaced.
        """
        if self._makes_way() or not (self.place / MANIFEST).exists():
            return None
        return open_artifact(self.place).manifest

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if error is None:
                self._move()
        except OSError as trouble:
            error = trouble
        finally:
            self._release()
        if isinstance(error, OSError):
            raise self._cannot_write(error) from error

    def _move(self) -> None:
        """Replace the old dataset by the new one; at every moment one of the two is complete."""
        (self.folder / LOCK).unlink()
        old = self.folder.with_suffix(".old")
        shutil.rmtree(old, ignore_errors=True)
        if self.place.exists():
            self.place.rename(old)
        self.folder.rename(self.place)
        self._is_moved = True
        shutil.rmtree(old, ignore_errors=True)

    def _release(self) -> None:
        if self._lock is not None:
            if not self._is_moved:
                shutil.rmtree(self.folder, ignore_errors=True)
            # the lock file went with the folder; one of that name now belongs to another process
            self._lock.close()
            self._lock = None

    def _kept(self) -> str | None:
        return None

    def _objection(self) -> str | None:
        if not self.place.exists() or (self.place.is_dir() and not any(self.place.iterdir())):
            return None
        if not (self.place / MANIFEST).exists():
            raise UserError(f"{self.place}: holds something that gradus did not write; choose a new folder")
        found = read_manifest(self.place)
        if found.stage != DATASET:
            raise UserError(f"{self.place}: holds the artifact of stage {found.stage}; choose a new folder")
        if found.fingerprint == self._identity["fingerprint"]:
            return None
        return "holds another dataset; choose a new folder, or --force to replace it"

    def _has_begun(self) -> bool:
        return True  # a folder with a manifest is complete

    def _owned(self) -> list[Path]:
        return [path for path in self.folder.iterdir() if path.name != LOCK]

    def _begin(self) -> None:
        self._clear()  # remains of a killed build
