"""The life cycle of a folder that a command writes: claim, compare with the earlier run, fill, seal, release.

    .lock            held while a process writes here
    .clearing.tmp    exists while an earlier run's files are deleted; a start that finds it completes the deletion
    .NAME.tmp        a file that is being written (`write_atomic`)

The entering process holds the lock. Files that gradus did not write are refused. An earlier run with another identity
is refused, unless `force` is set or it left nothing to lose; one with the same identity is continued or reused. Three
kinds of folder work this way: a stage's artifact (`curate.artifacts.folder`), a training run (`train.runs.folder`) and
a dataset (`data_cards.dataset.folder`). Each defines its identity, what counts as begun, and the files it owns.
"""

from __future__ import annotations

import shutil
from abc import ABC, abstractmethod
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import IO, ClassVar, Final, Self

from curate.artifacts.lock import drop_lock, take_lock
from curate.errors import Stopped, UserError

CLEARING: Final = ".clearing.tmp"


class ClaimedFolder(ABC):
    """A context manager: inside `with`, the folder is locked, checked and ready to be filled or continued.

    place: the folder that the user named; messages name it.
    folder: the folder that files are written to: the place itself, or one beside it that is moved there when complete.
    """

    BUSY: ClassVar[str]  # the message if another process holds the lock
    INSTEAD: ClassVar[str]  # the advice if the folder cannot be written
    FORCE_STARTS_OVER: ClassVar[bool]  # whether force also replaces a run with the same identity

    def __init__(self, place: Path, folder: Path, *, force: bool) -> None:
        self.place, self.folder = place, folder
        self._force = force
        self._lock: IO[str] | None = None

    def __enter__(self) -> Self:
        try:
            self._claim()
            self._settle()
        except OSError as error:
            self._release()
            raise self._cannot_write(error) from None
        except BaseException:
            self._release()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        kept = self._kept() if isinstance(error, KeyboardInterrupt) else None
        self._release()
        if isinstance(error, KeyboardInterrupt):
            rest = f"{kept}; the same command resumes from there" if kept else "nothing is finished yet"
            raise Stopped(f"{self.place}: stopped; {rest}") from None

    @abstractmethod
    def _objection(self) -> str | None:
        """The message on how the earlier run differs; None if it is this run, or there is none.

        Raises `UserError` where the folder holds files that gradus did not write.
        """

    @abstractmethod
    def _has_begun(self) -> bool:
        """Whether the earlier run left anything to lose."""

    @abstractmethod
    def _kept(self) -> str | None:
        """What a rerun uses of the work so far, as a sentence; None if it would start over."""

    @abstractmethod
    def _owned(self) -> Iterable[Path]:
        """The files and folders that may be deleted when a run starts over."""

    @abstractmethod
    def _begin(self) -> None:
        """Write the identity if the folder lacks it, and delete what a killed run left unfinished."""

    def _claim(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        try:
            self._lock = take_lock(self.folder)
        except BlockingIOError:
            raise UserError(f"{self.place}: {self.BUSY}") from None

    def _makes_way(self) -> bool:
        """Whether the earlier run is replaced; raises `UserError` if it must not be."""
        objection = self._objection()
        if objection and not self._force and self._has_begun():
            raise UserError(f"{self.place}: {objection}")
        return objection is not None or (self._force and self.FORCE_STARTS_OVER)

    def _settle(self) -> None:
        mark = self.folder / CLEARING
        if mark.exists() or self._makes_way():
            # a half-deleted folder belongs to no run: the mark keeps every start from reusing it
            mark.touch()
            self._clear()
        self._begin()
        mark.unlink(missing_ok=True)

    def _clear(self) -> None:
        for path in self._owned():
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            elif path.name != CLEARING:
                path.unlink(missing_ok=True)

    def _release(self) -> None:
        if self._lock is not None:
            drop_lock(self.folder, self._lock)
            self._lock = None

    def _cannot_write(self, error: OSError) -> UserError:
        return UserError(f"{self.place}: cannot write here ({error.strerror}); {self.INSTEAD}")
