"""One run in a tracker for one run folder, over all its resumes: its id, name and place.

TRL and transformers begin a new run in wandb, trackio and TensorBoard at every start. Here the id of the first start is
kept in `tracker.json`, and the variables that the trackers read are set, unless the user set them.
"""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Sequence
from typing import Any, Final

from curate.artifacts.manifest import write_atomic
from train.environment import first_process_says, is_main_process
from train.runs.folder import TRACKER, RunFolder

PROJECT: Final = "gradus"


def tracked(names: Sequence[str], run: RunFolder) -> dict[str, Any]:
    """Arguments of a TRL config for the trackers `names`; empty without one. Sets what they read from the environment.

    wandb and trackio get a project, and a name that ends in the run's id; TensorBoard writes to `tensorboard/` in the
    run folder.
    """
    if not names:
        return {}
    known = first_process_says(_id_of(run) if is_main_process() else "")
    name = f"{run.folder.resolve().name}-{known}"
    given = {
        "TENSORBOARD_LOGGING_DIR": str(run.folder / "tensorboard"),
        "WANDB_RUN_ID": known, "WANDB_RESUME": "allow", "WANDB_PROJECT": PROJECT, "WANDB_DIR": str(run.folder),
    }  # fmt: skip
    for variable, value in given.items():
        os.environ.setdefault(variable, value)
    return {"run_name": name, "project": PROJECT}


def _id_of(run: RunFolder) -> str:
    """The id that the first start drew."""
    path = run.folder / TRACKER
    if path.exists():
        return str(json.loads(path.read_bytes())["id"])
    drawn = secrets.token_hex(4)
    write_atomic(path, (json.dumps({"id": drawn}) + "\n").encode())
    return drawn
