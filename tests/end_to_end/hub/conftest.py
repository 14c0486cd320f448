"""What the tests of push and pull share: a Hub on loopback and two datasets."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from huggingface_hub import HfApi, constants
from support.hub_server import running_hub
from support.hub_state import TOKEN, Hub
from support.small_run import write_run

from data_cards.build import build
from data_cards.config import CardConfig


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    monkeypatch.setattr(constants, "HF_HUB_DISABLE_XET", True)  # the loopback Hub speaks LFS
    with running_hub() as running:
        yield running


@pytest.fixture
def api(hub: Hub) -> HfApi:
    return HfApi(endpoint=hub.url, token=TOKEN)


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("datasets")
    build(write_run(folder / "run"), folder / "first", CardConfig(name="First"))
    return folder / "first"


@pytest.fixture(scope="module")
def second(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Another dataset: nothing of it was dropped, so it has no dropped rows."""
    folder = tmp_path_factory.mktemp("second")
    run = write_run(folder / "run", ["What is 1 + 1?", "What is 10 + 11?"])
    build(run / "ingest", folder / "second", CardConfig(name="Second"))
    return folder / "second"
