"""A trained model on the Hub: its files, a card with base, data and figures, and pushes that repeat nothing."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from huggingface_hub import HfApi, snapshot_download
from support.hub_client import one_line
from support.hub_state import TOKEN, Fault, Hub

from curate.errors import UserError
from data_cards.config import PushModelConfig
from data_cards.hub.hub import Pushed
from data_cards.hub.models import push_model
from train.runs.model_card import model_card

pytestmark = pytest.mark.filterwarnings("ignore:Use 'content=:DeprecationWarning")
REPO = "someone/model"


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """The folder of a finished run, as the trainer leaves it, without its weights' contents."""
    folder = tmp_path / "grpo"
    (folder / "model").mkdir(parents=True)
    identity = {
        "command": "grpo", "model": "org/base", "data": "runs/difficulty", "model_digest": "a" * 64,
        "data_digest": "b" * 64, "config": {"objective": "dr_grpo", "max_steps": 40, "seed": 0},
    }  # fmt: skip
    (folder / "config.yaml").write_text(yaml.safe_dump(identity))
    (folder / "model/README.md").write_text(model_card(identity, "grpo"))
    (folder / "model/config.json").write_text("{}")
    (folder / "model/model.safetensors").write_bytes(bytes(range(256)) * 40)
    (folder / "curriculum.png").write_bytes(b"\x89PNG picture")
    figures = {"benchmark": "aime", "low": 0.1, "high": 0.3, "num_correct": {}, "num_judged": {}}
    lines = [{"step": step, "average": value, **figures} for step, value in ((0, 0.2), (40, 0.25))]
    (folder / "evaluations.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return folder


def push(api: HfApi, run: Path, **settings: Any) -> Pushed:
    return push_model(api, run, PushModelConfig(repo=REPO, **settings))


def test_what_was_pushed_downloads_whole_with_its_card(hub: Hub, api: HfApi, run: Path, tmp_path: Path) -> None:
    for name, value in (("before", 0.3), ("after", 0.5)):
        (tmp_path / name).mkdir()
        mean = {"value": value, "low": value - 0.1, "high": value + 0.1}
        results = {"n": 4, "benchmarks": {"math500": {"average": mean}}}
        (tmp_path / name / "results.json").write_text(json.dumps(results))
    evaluated = {"before": tmp_path / "before", "after": tmp_path / "after"}
    pushed = push(api, run, tag="v1.0.0", dataset="me/problems@v2.0.0", **evaluated)
    assert hub.repos[REPO].tags == {"v1.0.0": pushed.commit}
    place = Path(
        snapshot_download(REPO, revision="v1.0.0", endpoint=hub.url, token=TOKEN, cache_dir=tmp_path / "cache")
    )
    assert (place / "model.safetensors").read_bytes() == (run / "model/model.safetensors").read_bytes()
    assert (place / "gradus/config.yaml").read_bytes() == (run / "config.yaml").read_bytes()
    card = (place / "README.md").read_text()
    head = yaml.safe_load(card.split("---")[1])
    assert (head["base_model"], head["datasets"]) == ("org/base", ["me/problems"])
    assert "rlvr" in head["tags"]
    for words in (
        "| math500 | avg@4 0.300 [0.200, 0.400] | avg@4 0.500 [0.400, 0.600] |",
        "| aime, while training | 0.200 [0.100, 0.300] (step 0) | 0.250 [0.100, 0.300] (step 40) |",
        "version v2.0.0", "(gradus/curriculum.png)", "| objective | dr_grpo |", "None" not in card and "grpo",
    ):  # fmt: skip
        assert str(words) in card


def test_a_repeated_push_commits_nothing_and_a_tag_never_moves(hub: Hub, api: HfApi, run: Path) -> None:
    first = push(api, run, tag="v1.0.0")
    again = push(api, run, tag="v1.0.0")
    assert (again.commit, again.is_reused) == (first.commit, True)
    assert push(api, run).is_reused
    num = len(hub.repos[REPO].commits)
    (run / "model/config.json").write_text('{"changed": true}')
    with pytest.raises(UserError, match=r"v1\.0\.0 holds another config\.json; tags never move"):
        push(api, run, tag="v1.0.0")
    assert len(hub.repos[REPO].commits) == num
    assert push(api, run, tag="v1.0.1").commit != first.commit


def test_a_failed_push_says_what_is_there_and_the_next_one_completes_it(hub: Hub, api: HfApi, run: Path) -> None:
    hub.faults.append(Fault(r"POST .*/commit/", 500, times=20))
    with pytest.raises(UserError) as caught:
        push(api, run)
    assert "the repository was created on the Hub and is still empty" in one_line(caught)
    hub.faults.clear()
    assert not push(api, run).is_reused
    assert "model.safetensors" in hub.head(REPO).files


def test_a_push_without_a_token_or_a_model_is_one_line(hub: Hub, api: HfApi, run: Path, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="requires a token"):
        push(HfApi(endpoint=hub.url, token=False), run)
    (tmp_path / "unfinished").mkdir()
    with pytest.raises(UserError, match="holds no trained model"):
        push(api, tmp_path / "unfinished")
    assert REPO not in hub.repos
