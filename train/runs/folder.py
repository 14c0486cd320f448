"""Folder of a training run: its files, its identity, and the checkpoint from which an interrupted run resumes.

    config.yaml         identity of the run: command, model, data, their digests, every setting
    environment.json    versions, commit and machine of the last start; step and processes of every start
    log.jsonl           one JSON line per logged step
    prompts.parquet     length of every prompt, and the problems that are left out because of it
    completions/        every completion with its rewards, a Parquet file per generation
    draws.jsonl         one JSON line per generation: the problems drawn and their outcomes
    evaluations.jsonl   one JSON line per benchmark and evaluation; best.json names the best step
    ended.json          step and reason of an end by `stop_when`
    checkpoint-N/       the trainer's files, plus ours (`train.runs.checkpoints`)
    tracker.json        id of the run in trackers (`train.runs.trackers`); tensorboard/, wandb/ are theirs
    model/              the trained model, renamed into place last: its presence means finished

The folder is claimed as in `curate.artifacts.claimed`. A rerun with the same settings, model and data resumes from the
last whole checkpoint, or reuses a finished run. A damaged checkpoint or log is reported, and the run continues from the
checkpoint before it. A rerun with more steps goes on from the last one if its learning rate is constant; the model
before it is kept as `model-STEPS/`. A rerun that differs otherwise is refused, naming the first difference, unless
`force` starts over or the earlier run has written no result. Of several processes only the first one writes; the others
wait until it has claimed the folder.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, ClassVar, Final, Self

import typer
import yaml

from curate.artifacts.claimed import ClaimedFolder
from curate.artifacts.lock import LOCK
from curate.artifacts.manifest import temporary_of, write_atomic
from curate.errors import UserError
from train.environment import first_process_says, is_main_process, note_start, num_processes
from train.runs import checkpoints
from train.runs.differences import difference, steps_before
from train.runs.earlier import in_current_form

CONFIG: Final = "config.yaml"
ENVIRONMENT: Final = "environment.json"
LOG: Final = "log.jsonl"
DRAWS: Final = "draws.jsonl"
COMPLETIONS: Final = "completions"
CANARY: Final = "canary"  # column of the completions: the wrong truth, null for problems that are learned from
EVALUATIONS: Final = "evaluations.jsonl"
BEST: Final = "best.json"
ENDED: Final = "ended.json"
TRACKER: Final = "tracker.json"
PROBE: Final = "probe"  # the evaluation set that is a part of the problems
UNFINISHED: Final = ".model.tmp"  # renamed to `model/`
OURS: Final = (
    CONFIG, ENVIRONMENT, LOG, DRAWS, EVALUATIONS, BEST, ENDED, TRACKER, "model", UNFINISHED, "evaluations", COMPLETIONS,
    "rounds", "plots", "README.md",
    "samples.jsonl", "samples.parquet", "budgets.parquet", "prompts.parquet", "results.json", "curriculum.png",
    "tensorboard", "wandb",
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
        self,
        folder: Path,
        identity: Mapping[str, Any],
        *,
        force: bool = False,
        adopts_data: bool = False,
        runtime: Mapping[str, Any] = {},
    ) -> None:
        """`runtime` are settings that may change when the run resumes; environment.json lists them for each start."""
        super().__init__(folder, folder, force=force)
        self._runtime = dict(runtime)
        self._identity = dict(identity)
        self._adopts_data = adopts_data

    def __enter__(self) -> Self:
        if num_processes() == 1:
            return super().__enter__()
        if self._force and (self.folder / CONFIG).exists():
            raise UserError(f"{self.folder}: --force needs one process; remove the folder and start again")
        refusal: UserError | None = None
        if is_main_process():
            try:
                super().__enter__()
            except UserError as error:
                refusal = error
        if not first_process_says(refusal is None):
            # one line, by the first process
            raise refusal or SystemExit(1)
        return self

    @property
    def identity(self) -> Mapping[str, Any]:
        """What config.yaml holds."""
        return self._identity

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

    def ended_at(self) -> int | None:
        """The step at which a rule ended training; None if none did."""
        path = self.folder / ENDED
        return int(json.loads(path.read_bytes())["step"]) if path.exists() else None

    def mark_checkpoint(self, step: int) -> None:
        """Mark the checkpoint of a step, now complete, as whole."""
        checkpoints.mark_checkpoint(self.folder / f"checkpoint-{step}", step, self._identity)

    def append(self, name: str, record: Mapping[str, Any]) -> None:
        """Add one line to `log.jsonl` or `draws.jsonl`; only the first process writes."""
        if is_main_process():
            with (self.folder / name).open("a", encoding="utf-8") as file:
                file.write(json.dumps(record) + "\n")

    def _objection(self) -> str | None:
        earlier = self._earlier()
        if earlier is None:
            if checkpoints.last_whole(self.folder) is not None:
                return f"{CONFIG} is damaged, so its settings are unknown; restore it, or --force to replace the run"
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
        before = self.folder.glob("model-*")
        return [*checkpoints.checkpoints_of(self.folder), *before, *(self.folder / name for name in OURS)]

    def _kept(self) -> str | None:
        if self.is_finished():
            return "the model is written"
        if (last := self.checkpoint()) is not None:
            return f"{last.name} is kept"
        samples = self.folder / "samples.jsonl"
        if samples.is_file() and samples.stat().st_size:
            return "its samples are kept"
        return "its finished rounds are kept" if (self.folder / "rounds").is_dir() else None

    def _begin(self) -> None:
        earlier = self._earlier()
        if earlier is not None and (steps := steps_before(earlier, self._identity)) is not None:
            if self.is_finished():
                self.model.rename(self.folder / f"model-{steps}")
            typer.echo(f"{self.folder}: goes on from {steps} to {self._identity['config']['max_steps']} steps")
        if not self.is_finished():
            _say(checkpoints.rewind(self.folder, LOG, DRAWS, EVALUATIONS))
            self._remove_later_completions()
        if self._earlier() != self._identity or _read(self.folder / CONFIG) is None:
            text = yaml.safe_dump(self._identity, sort_keys=False, allow_unicode=True)
            write_atomic(self.folder / CONFIG, text.encode())
        last = self.checkpoint()
        _say(note_start(self.folder / ENVIRONMENT, checkpoints.step_of(last) if last else 0, self._runtime))

    def _remove_later_completions(self) -> None:
        """Remove the completions of draws that are no longer in the log of draws."""
        log = self.folder / DRAWS
        lines = log.read_text(encoding="utf-8").splitlines() if log.exists() else []
        # a log that was lost says nothing about them
        last = json.loads(lines[-1]).get("draw") if lines else 0 if self.checkpoint() is None else None
        if last is None:
            return
        for path in (self.folder / COMPLETIONS).glob("draw-*.parquet"):
            if int(path.stem.removeprefix("draw-")) > last:
                path.unlink()

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
        if (steps := steps_before(earlier, now)) is not None:
            schedule = now["config"]["optimizer"]["schedule"]
            if schedule != "constant":
                raise UserError(
                    f"{self.folder}: has {steps} steps of a {schedule} schedule, which more steps would stretch; "
                    f"choose another --out, with --model {self.model} to train on with a schedule of its own"
                )
            now["config"] = {**now["config"], "max_steps": steps}
        return difference(earlier, now)

    def _earlier(self) -> dict[str, Any] | None:
        """The identity in config.yaml, or in a checkpoint where that file is damaged; None where there is none."""
        path = self.folder / CONFIG
        written = _read(path)
        if written is None and path.exists():
            written = checkpoints.identity_of(self.folder)
        return in_current_form(written) if written else None


def _read(path: Path) -> dict[str, Any] | None:
    """The mapping in a YAML file; None where the file is missing, empty or damaged."""
    try:
        written = yaml.safe_load(path.read_text(encoding="utf-8")) if path.exists() else None
    except (yaml.YAMLError, UnicodeDecodeError):
        return None
    return written if isinstance(written, dict) else None


def _say(notes: Iterable[str]) -> None:
    for note in notes:
        typer.echo(note)
