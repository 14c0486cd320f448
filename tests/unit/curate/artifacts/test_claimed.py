"""A claimed folder: one process at a time, and a kill while an earlier run's files are deleted mixes no two runs."""

import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from support.interruption import REMOVALS, cut_everywhere
from support.pools import pool_of

from curate.artifacts.artifact import open_artifact
from curate.artifacts.folder import OutFolder, prospect
from curate.artifacts.lock import LOCK, drop_lock, take_lock
from curate.artifacts.manifest import fingerprint
from curate.errors import UserError

NUM_BATCHES = 3


def identity(name: str) -> dict[str, Any]:
    return {"stage": "test", "version": 1, "config": {"name": name}, "inputs": {}}


def write(folder: OutFolder, name: str, num_batches: int = NUM_BATCHES) -> None:
    """Batches whose every prompt names the run that wrote them."""
    for index in range(num_batches):
        if not folder.has_batch(index):
            rows = pool_of([f"{name} {index} {row}" for row in range(2)])
            folder.write_batch(index, rows.with_columns(drop_reason=None, drop_detail=None))


def run(out: Path, name: str, *, force: bool = False) -> None:
    with OutFolder(out, identity(name), force=force) as folder:
        if folder.complete() is None:
            write(folder, name)
            folder.finish()


def interrupted(out: Path) -> None:
    with OutFolder(out, identity("one")) as folder:
        write(folder, "one", NUM_BATCHES - 1)


def complete(out: Path) -> None:
    run(out, "one")


@pytest.mark.parametrize("earlier", [interrupted, complete])
@pytest.mark.parametrize("after", ["one", "two"])
def test_a_kill_while_an_earlier_run_is_deleted_mixes_no_two_runs(
    earlier: Callable[[Path], None], after: str, tmp_path: Path
) -> None:
    earlier(tmp_path / "earlier")

    def replace(number: int) -> None:
        run(shutil.copytree(tmp_path / "earlier", tmp_path / str(number)), "two", force=True)

    num_cuts = 0
    for number in cut_everywhere(replace, REMOVALS):
        out = tmp_path / str(number)
        if (out / ".clearing.tmp").exists():
            num_cuts += 1
            assert prospect(out, fingerprint(**identity("one"))) == "run"
            run(out, after)  # needs no second --force
        else:  # all is there still, or all is gone
            run(out, after, force=True)
        assert all(prompt.startswith(after) for prompt in open_artifact(out).read()["prompt"])
        assert open_artifact(out).manifest.num_in == 2 * NUM_BATCHES
    assert num_cuts > 2 * (NUM_BATCHES - 1)


@pytest.fixture
def snatched(tmp_path: Path) -> Iterator[Path]:
    """A folder whose lock's file is removed once, between opening and locking it."""
    hook = _Snatch(tmp_path / LOCK)
    sys.addaudithook(hook)
    yield tmp_path
    hook.is_armed = False


class _Snatch:
    def __init__(self, path: Path) -> None:
        self._path, self.is_armed = path, True

    def __call__(self, event: str, _: object) -> None:
        if self.is_armed and event == "fcntl.flock":
            self.is_armed = False
            self._path.unlink()


def test_a_lock_whose_file_was_removed_is_taken_again(snatched: Path) -> None:
    file = take_lock(snatched)
    with pytest.raises(BlockingIOError):
        take_lock(snatched)
    drop_lock(snatched, file)
    drop_lock(snatched, take_lock(snatched))
    assert not list(snatched.iterdir())


def test_a_system_without_file_locks_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fcntl", None)
    with (
        pytest.raises(UserError, match=r"has no fcntl, .* use Linux, macOS, or WSL"),
        OutFolder(tmp_path, identity("")),
    ):
        pass
