"""Short forms of push and pull, and what a pushed dataset is compared by."""

import shutil
from pathlib import Path
from typing import Any

import pytest
from huggingface_hub import HfApi

from curate.errors import UserError
from data_cards.config import PushConfig
from data_cards.hub.hub import Pushed
from data_cards.hub.hub import push as send
from support.hub_state import TOKEN

REPO = "someone/problems"


def push(api: HfApi, dataset: Path, repo: str, **settings: Any) -> Pushed:
    return send(api, dataset, PushConfig(repo=repo, **settings))


def contents(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def copied(folder: Path, copy: Path) -> Path:
    return Path(shutil.copytree(folder, copy))


def one_line(error: pytest.ExceptionInfo[UserError]) -> str:
    text = str(error.value)
    assert "\n" not in text
    assert TOKEN not in text
    return text
