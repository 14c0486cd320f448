"""The folder of a training run: who may write, what is already done, and where an interrupted run goes on.

    config.yaml         what was asked for: command, model, data, their digests, every setting
    environment.json    versions, commit and machine of the last start
    log.jsonl           one JSON line per logged step
    completions/        every completion with its rewards, a Parquet file per generation
    draws.jsonl         one JSON line per generation: the problems drawn and what came of them
    checkpoint-N/       the trainer's own, plus ours; `gradus.json` in it is written last: its presence means whole
    model/              the trained model, renamed into place when all is done: its presence means finished

A rerun with the same settings, model and data goes on at the last whole checkpoint, or reuses a finished run. Another
one is refused by name unless `force`, which starts over; where the earlier one could not even start, nothing is in the
way. Of several processes only the first one writes.
"""

from __future__ import annotations

import fcntl
import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Final, Self

import yaml

from curate.artifacts.manifest import write_atomic
from curate.errors import UserError
from train.environment import describe_environment, is_main_process, num_processes

CONFIG: Final = "config.yaml"
LOG: Final = "log.jsonl"
DRAWS: Final = "draws.jsonl"
COMPLETIONS: Final = "completions"
MARK: Final = "gradus.json"
FORMAT: Final = 1
START: Final = (CONFIG, "environment.json")
OURS: Final = (
    *START, LOG, DRAWS, "model", "evaluations", COMPLETIONS, "rounds", "plots", "README.md",
    "samples.jsonl", "samples.parquet", "budgets.parquet", "results.json", "curriculum.png",
)  # fmt: skip


class RunFolder:
    """`with RunFolder(out, identity, force=False) as run:` — locked, checked, ready to go on.

    `identity` is what config.yaml holds: `command`, `model`, `data` as the user named them, `model_digest`,
    `data_digest` and `config`. The last three decide whether a rerun continues this run; with `adopts_data` an
    unfinished run goes on with other data, which config.yaml then names.
    """

    def __init__(
        self, folder: Path, identity: Mapping[str, Any], *, force: bool = False, adopts_data: bool = False
    ) -> None:
        self.folder = folder
        self._identity = dict(identity)
        self._force, self._adopts_data = force, adopts_data
        self._lock: IO[str] | None = None

    def __enter__(self) -> Self:
        if self._force and num_processes() > 1 and (self.folder / CONFIG).exists():
            # the others would look before the first process has cleared it
            raise UserError(f"{self.folder}: --force needs one process; remove the folder and start again")
        if not is_main_process():
            return self
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            self._lock = _locked(self.folder / ".lock")
        except BlockingIOError:
            raise UserError(
                f"{self.folder}: another gradus process trains here; wait, or choose another --out"
            ) from None
        except OSError as error:
            raise UserError(f"{self.folder}: cannot write here ({error.strerror}); choose another --out") from None
        try:
            self._settle_earlier_run()
        except BaseException:
            self._unlock()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._unlock()

    @property
    def model(self) -> Path:
        """Where the trained model stands once the run is finished."""
        return self.folder / "model"

    def is_finished(self) -> bool:
        """Whether an earlier start of this very run has finished."""
        return self.model.is_dir()

    def checkpoint(self) -> Path | None:
        """The last whole checkpoint, or None at the start of a run."""
        whole = {step_of(path): path for path in self.folder.glob("checkpoint-*") if (path / MARK).is_file()}
        if not whole:
            return None
        last = whole[max(whole)]
        written = json.loads((last / MARK).read_text())["format"]
        if written != FORMAT:
            raise UserError(
                f"{last}: written by another version of gradus (format {written}, this one reads {FORMAT}); "
                "continue with that version, or --force to start over"
            )
        return last

    def rewind(self) -> None:
        """Forget what an interrupted run did after its last whole checkpoint: torn checkpoints and later log lines."""
        if not is_main_process():
            return
        last = self.checkpoint()
        step = step_of(last) if last else 0
        for path in self.folder.glob("checkpoint-*"):
            if not (path / MARK).is_file():
                shutil.rmtree(path)
        for name in (LOG, DRAWS):
            cut_after(self.folder / name, step)

    def append(self, name: str, record: Mapping[str, Any]) -> None:
        """Add one line to `log.jsonl` or `draws.jsonl`; only the first process does."""
        if is_main_process():
            with (self.folder / name).open("a", encoding="utf-8") as file:
                file.write(json.dumps(record) + "\n")

    def _unlock(self) -> None:
        if self._lock is not None:
            (self.folder / ".lock").unlink(missing_ok=True)
            self._lock.close()

    def _settle_earlier_run(self) -> None:
        earlier = self._earlier()
        if earlier is None and any(path.name != ".lock" for path in self.folder.iterdir()):
            raise UserError(f"{self.folder}: holds files that are no training run; choose an empty --out")
        changed = self._changed(earlier) if earlier else None
        if changed and not self._force and self._has_begun():
            is_adoptable = changed.startswith("data_digest") and self._identity["command"] == "grpo"
            adopt = "--adopt-dataset to go on with these data, " if is_adoptable else ""
            raise UserError(
                f"{self.folder}: holds a run with other settings ({changed}); choose another --out, "
                f"{adopt}or --force to replace it"
            )
        if self._force or changed:
            self._clear()
        self.rewind()
        if self._force or earlier != self._identity:
            text = yaml.safe_dump(self._identity, sort_keys=False, allow_unicode=True)
            write_atomic(self.folder / CONFIG, text.encode())
        environment = json.dumps(describe_environment(), indent=1) + "\n"
        write_atomic(self.folder / "environment.json", environment.encode())

    def _has_begun(self) -> bool:
        """Whether anything would be lost: a run that could not even start has left no more than what it was to be."""
        return any(path.name not in (*START, ".lock") for path in self.folder.iterdir())

    def _changed(self, earlier: Mapping[str, Any]) -> str | None:
        now = dict(self._identity)
        if self._adopts_data and now["data_digest"] != earlier.get("data_digest"):
            if self.is_finished():
                raise UserError(
                    f"{self.folder}: this run is finished; choose another --out, with --curriculum-from "
                    f"{self.folder} to take its statistics over to the new data"
                )
            now["data_digest"] = earlier.get("data_digest")
        return difference(earlier, now)

    def _clear(self) -> None:
        for path in [*self.folder.glob("checkpoint-*"), *(self.folder / name for name in OURS)]:
            shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)

    def _earlier(self) -> dict[str, Any] | None:
        path = self.folder / CONFIG
        return yaml.safe_load(path.read_text(encoding="utf-8")) if path.exists() else None


def difference(earlier: Mapping[str, Any], now: Mapping[str, Any]) -> str | None:
    """The first setting in which two runs' identities differ, as `name: old there, new here`; None where they agree."""
    pairs = [(name, earlier.get(name), now.get(name)) for name in ("command", "model_digest", "data_digest")]
    old, new = earlier.get("config", {}), now.get("config", {})
    pairs += [(name, old.get(name), new.get(name)) for name in sorted({*old, *new})]
    for name, there, here in pairs:
        if there != here:
            return f"{name}: {_short(there)} there, {_short(here)} here"
    return None


def mark_checkpoint(folder: Path, step: int) -> None:
    """Declare a checkpoint whole; the last thing written into it."""
    write_atomic(folder / MARK, (json.dumps({"format": FORMAT, "step": step}) + "\n").encode())


def step_of(checkpoint: Path) -> int:
    """The optimizer step in a checkpoint's name."""
    return int(checkpoint.name.removeprefix("checkpoint-"))


def cut_after(path: Path, step: int) -> None:
    """Keep the whole lines of a JSONL log whose `step` is at most `step`; a torn last line goes too."""
    if not path.exists():
        return
    kept = []
    for line in path.read_text(encoding="utf-8").splitlines(keepends=True):
        if not line.endswith("\n") or json.loads(line)["step"] > step:
            break
        kept.append(line)
    write_atomic(path, "".join(kept).encode())


def _locked(path: Path) -> IO[str]:
    file = path.open("w")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.close()
        raise
    return file


def _short(value: Any) -> str:
    text = str(value)
    return f"{text[:12]}…" if len(text) > 40 else text
