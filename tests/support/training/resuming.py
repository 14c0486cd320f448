"""A training run that is stopped at every point that leaves something else on disk, and what two runs must share.

The run is not stopped but copied: its folder, as a kill would leave it, before and after each checkpoint is marked and
at the end of each step. Each copy is resumed and compared to the run.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import polars as pl
import pytest

from train.runs import logs
from train.runs.folder import RunFolder

# what a clock measures
TIMES: Final = ("elapsed_s", "step_time", "runtime", "per_second")


@contextmanager
def copies_of(run: Path, to: Path) -> Iterator[list[Path]]:
    """While a run writes into `run`, copy it at every point; yields the list that the copies are appended to."""
    made: list[Path] = []

    def copy(what: str) -> None:
        made.append(to / f"{len(made):03d}-{what}")
        shutil.copytree(run, made[-1], ignore=shutil.ignore_patterns(".gradus.lock"))

    mark, step_end, save = RunFolder.mark_checkpoint, logs.Reporter.on_step_end, logs.Reporter.on_log
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(RunFolder, "mark_checkpoint", _around(mark, copy, "torn", "saved"))
        patch.setattr(logs.Reporter, "on_step_end", _around(step_end, copy, None, "step"))
        patch.setattr(logs.Reporter, "on_log", _around(save, copy, None, "logged"))
        yield made


def _around(do: Callable[..., Any], copy: Callable[[str], None], before: str | None, after: str) -> Callable[..., Any]:
    def done(*given: Any, **named: Any) -> Any:
        if before:
            copy(before)
        result = do(*given, **named)
        copy(after)
        return result

    return done


def assert_same_run(found: Path, wanted: Path) -> None:
    """The same weights, draws, completions and log lines; only times may differ."""
    weights = Path("model") / "model.safetensors"
    if (wanted / "draws.jsonl").exists():
        assert (found / "draws.jsonl").read_bytes() == (wanted / "draws.jsonl").read_bytes()
    assert log_lines(found) == log_lines(wanted)
    assert (found / weights).read_bytes() == (wanted / weights).read_bytes()
    names = [sorted(path.name for path in (run / "completions").glob("*")) for run in (found, wanted)]
    assert names[0] == names[1]
    for name in names[0]:
        assert pl.read_parquet(found / "completions" / name).equals(pl.read_parquet(wanted / "completions" / name))


def log_lines(run: Path) -> list[dict[str, Any]]:
    """The lines of `log.jsonl` without times."""
    lines = [json.loads(line) for line in (run / "log.jsonl").read_text().splitlines()]
    return [{name: value for name, value in line.items() if not name.endswith(TIMES)} for line in lines]
