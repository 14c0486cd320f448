"""Folder of a training run: its files, its identity, and the checkpoint from which an interrupted run resumes.

    config.yaml         identity of the run: command, model, data, their digests, every setting
    environment.json    versions, commit and machine of the last start
    log.jsonl           one JSON line per logged step
    completions/        every completion with its rewards, a Parquet file per generation
    draws.jsonl         one JSON line per generation: the problems drawn and their outcomes
    checkpoint-N/       the trainer's files, plus ours (`train.runs.checkpoints`)
    model/              the trained model, renamed into place last: its presence means finished

The folder is claimed as in `curate.artifacts.claimed`. A rerun with the same settings, model and data resumes from the
last whole checkpoint, or reuses a finished run. A rerun that differs is refused, naming the first difference, unless
`force` starts over or the earlier run has written no result. Of several processes only the first one writes.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, ClassVar, Final, Self

import yaml

from curate.artifacts.claimed import ClaimedFolder
from curate.artifacts.lock import LOCK
from curate.artifacts.manifest import temporary_of, write_atomic
from curate.errors import UserError
from curate.tables import dotted
from train.environment import describe_environment, is_main_process, num_processes
from train.runs import checkpoints
from train.runs.earlier import in_current_form

CONFIG: Final = "config.yaml"
ENVIRONMENT: Final = "environment.json"
LOG: Final = "log.jsonl"
DRAWS: Final = "draws.jsonl"
COMPLETIONS: Final = "completions"
UNFINISHED: Final = ".model.tmp"  # renamed to `model/`
OURS: Final = (
    CONFIG, ENVIRONMENT, LOG, DRAWS, "model", UNFINISHED, "evaluations", COMPLETIONS, "rounds", "plots", "README.md",
    "samples.jsonl", "samples.parquet", "budgets.parquet", "results.json", "curriculum.png",
)  # fmt: skip


class RunFolder(ClaimedFolder):
    """`with RunFolder(out, identity, force=False) as run:` — locked, checked, ready to train.

    `identity` is the content of config.yaml: `command`, `model`, `data` as the user named them, `model_digest`,
    `data_digest` and `config`. The last three decide whether a rerun continues this run; with `adopts_data` an
    unfinished run resumes with other data, which config.yaml then names.
    """

    BUSY: ClassVar = "another gradus process trains here; wait, or choose another --out"
    INSTEAD: ClassVar = "choose another --out"
    FORCE_STARTS_OVER: ClassVar = True

    def __init__(
        self, folder: Path, identity: Mapping[str, Any], *, force: bool = False, adopts_data: bool = False
    ) -> None:
        super().__init__(folder, folder, force=force)
        self._identity = dict(identity)
        self._adopts_data = adopts_data

    def __enter__(self) -> Self:
        if self._force and num_processes() > 1 and (self.folder / CONFIG).exists():
            # the other processes would read it before the first one has cleared it
            raise UserError(f"{self.folder}: --force needs one process; remove the folder and start again")
        return super().__enter__() if is_main_process() else self

    @property
    def model(self) -> Path:
        """Folder of the trained model, present once the run is finished."""
        return self.folder / "model"

    def is_finished(self) -> bool:
        """Whether an earlier start of this run has finished."""
        return self.model.is_dir()

    def checkpoint(self) -> Path | None:
        """The last whole checkpoint, or None at the start of a run."""
        return checkpoints.last_whole(self.folder)

    def append(self, name: str, record: Mapping[str, Any]) -> None:
        """Add one line to `log.jsonl` or `draws.jsonl`; only the first process writes."""
        if is_main_process():
            with (self.folder / name).open("a", encoding="utf-8") as file:
                file.write(json.dumps(record) + "\n")

    def _objection(self) -> str | None:
        earlier = self._earlier()
        if earlier is None:
            if self._holds_beside(LOCK, temporary_of(self.folder / CONFIG).name):
                raise UserError(f"{self.folder}: holds files that are not a training run; choose an empty --out")
            return None
        changed = self._changed(earlier)
        if changed is None:
            return None
        is_adoptable = changed.startswith("data_digest") and self._identity["command"] == "grpo"
        adopt = "--adopt-dataset to resume with these data, " if is_adoptable else ""
        return f"holds a run with other settings ({changed}); choose another --out, {adopt}or --force to replace it"

    def _has_begun(self) -> bool:
        """Whether anything would be lost: a run that failed to start has left only its identity and environment."""
        start = [self.folder / name for name in (CONFIG, ENVIRONMENT)]
        return self._holds_beside(LOCK, *(path.name for file in start for path in (file, temporary_of(file))))

    def _owned(self) -> Iterable[Path]:
        return [*self.folder.glob("checkpoint-*"), *(self.folder / name for name in OURS)]

    def _begin(self) -> None:
        checkpoints.rewind(self.folder, LOG, DRAWS)
        if self._earlier() != self._identity:
            text = yaml.safe_dump(self._identity, sort_keys=False, allow_unicode=True)
            write_atomic(self.folder / CONFIG, text.encode())
        environment = json.dumps(describe_environment(), indent=1) + "\n"
        write_atomic(self.folder / ENVIRONMENT, environment.encode())

    def _holds_beside(self, *names: str) -> bool:
        return any(path.name not in names for path in self.folder.iterdir())

    def _changed(self, earlier: Mapping[str, Any]) -> str | None:
        now = dict(self._identity)
        if self._adopts_data and now["data_digest"] != earlier.get("data_digest"):
            if self.is_finished():
                raise UserError(
                    f"{self.folder}: this run is finished; choose another --out, with --curriculum-from "
                    f"{self.folder} to carry its statistics over to the new data"
                )
            now["data_digest"] = earlier.get("data_digest")
        return difference(earlier, now)

    def _earlier(self) -> dict[str, Any] | None:
        path = self.folder / CONFIG
        written = yaml.safe_load(path.read_text(encoding="utf-8")) if path.exists() else None
        return in_current_form(written) if written else None


def difference(earlier: Mapping[str, Any], now: Mapping[str, Any]) -> str | None:
    """The first setting in which two runs' identities differ, as `name: old there, new here`; None where they agree."""
    pairs = [(name, earlier.get(name), now.get(name)) for name in ("command", "model_digest", "data_digest")]
    old, new = dotted(earlier.get("config", {})), dotted(now.get("config", {}))
    pairs += [(name, old.get(name), new.get(name)) for name in sorted({*old, *new})]
    for name, there, here in pairs:
        if there != here:
            return f"{name}: {_short(there)} there, {_short(here)} here"
    return None


def _short(value: Any) -> str:
    text = str(value)
    return f"{text[:12]}…" if len(text) > 40 else text
