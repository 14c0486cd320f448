"""Fixtures of the objective tests: an untrained model with problems, and one generation of it."""

from pathlib import Path

import pytest
from support.training.generations import Generating
from support.training.toy_runs import copying_problems, small_toy


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("objectives")
    small_toy(folder / "toy")
    copying_problems(folder / "problems.jsonl")
    return folder


@pytest.fixture
def generate(place: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Generating:
    return Generating(place, tmp_path, monkeypatch)
