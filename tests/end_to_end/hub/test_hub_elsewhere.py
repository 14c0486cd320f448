"""What was pushed serves elsewhere: the curriculum, `datasets`, and the commands over HF_ENDPOINT."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
import yaml
from datasets import load_dataset
from huggingface_hub import HfApi
from support.hub_client import REPO, contents, push
from support.hub_state import TOKEN, Hub

from curate.artifacts.artifact import open_artifact
from curate.errors import UserError
from curriculum import Curriculum, CurriculumConfig
from curriculum.state.files import newest
from data_cards.hub.hub import pull

# the client's own LFS uploads pass bytes to httpx in a way that httpx wants to see changed
pytestmark = pytest.mark.filterwarnings("ignore:Use 'content=:DeprecationWarning")


def training_run(folder: Path, problems: pl.DataFrame) -> Path:
    curriculum = Curriculum.create(problems, CurriculumConfig(), {"dataset": "d", "model": "m"})
    curriculum.save(folder / "checkpoint-3")
    (folder / "config.yaml").write_text("command: grpo\nmodel: /home/someone/secret/runs/first/model\n")
    (folder / "log.jsonl").write_text('{"step": 3, "loss": 0.5}\n')
    return folder


def test_a_curriculum_travels_with_its_dataset_and_goes_on_elsewhere(
    hub: Hub, api: HfApi, dataset: Path, tmp_path: Path
) -> None:
    problems = open_artifact(dataset).read("kept")
    run = training_run(tmp_path / "run", problems)
    push(api, dataset, REPO, tag="v1.0.0", with_curriculum=run)
    pull(api, REPO, "v1.0.0", tmp_path / "pulled")
    state = tmp_path / "pulled" / "curriculum"
    here = Curriculum.load(run / "checkpoint-3", problems, CurriculumConfig(), {"dataset": "d", "model": "m"})
    there = Curriculum.load(state, problems, CurriculumConfig(), {"dataset": "d", "model": "m"})
    assert there.draw(4) == here.draw(4)
    assert newest(tmp_path / "pulled") == state
    assert yaml.safe_load((state / "config.yaml").read_text()) == {"command": "grpo", "model": "first/model"}
    table = load_dataset(str(tmp_path / "pulled"), "curriculum", split="train", cache_dir=str(tmp_path / "cache"))
    assert table["key"] == problems["key"].to_list()
    assert json.loads((state / "log.jsonl").read_text())["loss"] == 0.5
    (state / "curriculum.parquet").write_bytes(b"PAR1")
    with pytest.raises(UserError, match=r"curriculum\.parquet is not what was published"):
        push(api, tmp_path / "pulled", REPO, tag="v1.0.1")


def test_a_run_without_a_curriculum_is_refused_before_anything_is_sent(
    hub: Hub, api: HfApi, dataset: Path, tmp_path: Path
) -> None:
    for run in (tmp_path, tmp_path / "nothing"):
        with pytest.raises(UserError, match="holds no curriculum state"):
            push(api, dataset, REPO, with_curriculum=run)
    assert not hub.log


def elsewhere(hub: Hub, home: Path, *command: object) -> subprocess.CompletedProcess[str]:
    """Run a command as on another machine: its own cache, and the Hub by its address alone."""
    environment = {
        **os.environ,
        "HF_ENDPOINT": hub.url,
        "HF_TOKEN": TOKEN,
        "HF_HOME": str(home),
        "HF_HUB_DISABLE_XET": "1",
        "HF_DEBUG": "1",  # the client then logs every request
    }
    return subprocess.run([*map(str, command)], capture_output=True, text=True, env=environment, timeout=90)


def gradus(hub: Hub, home: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    return elsewhere(hub, home, Path(sys.executable).with_name("gradus"), "card", *arguments)


LOAD = """
import sys, datasets
for config in ("default", "dropped", "samples"):
    print(config, datasets.load_dataset(sys.argv[1], config, revision="v1.0.0", split="train").num_rows)
"""


def test_datasets_loads_what_was_pushed_by_its_name(hub: Hub, api: HfApi, dataset: Path, tmp_path: Path) -> None:
    push(api, dataset, REPO, tag="v1.0.0")
    loaded = elsewhere(hub, tmp_path, sys.executable, "-c", LOAD, REPO)
    names = {"kept": "default"}
    counts = {part: open_artifact(dataset).read(part).height for part in ("kept", "dropped", "samples")}
    assert loaded.stdout.splitlines() == [f"{names.get(part, part)} {count}" for part, count in counts.items()]


def test_the_commands_work_over_hf_endpoint_and_never_show_the_token(hub: Hub, dataset: Path, tmp_path: Path) -> None:
    done = [
        gradus(hub, tmp_path, "push", dataset, "--repo", REPO, "--tag", "v1.0.0"),
        gradus(hub, tmp_path, "pull", "--repo", REPO, "--revision", "v1.0.0", "--out", tmp_path / "pulled"),
    ]
    assert [process.returncode for process in done] == [0, 0]
    assert "25 problems, every file verified" in done[1].stdout
    done.append(gradus(hub, tmp_path, "bump", REPO, tmp_path / "pulled"))
    assert done[-1].stdout.splitlines()[0] == "none: v1.0.0 -> v1.0.0"
    hub.tokens.clear()
    done.append(gradus(hub, tmp_path, "push", dataset, "--repo", REPO, "--tag", "v1.0.1"))
    assert done[-1].returncode == 1
    assert re.fullmatch(r"gradus: someone/problems: the Hub refused the token .*", done[-1].stderr.splitlines()[-1])
    assert "Traceback" not in done[-1].stderr
    for process in done:
        assert TOKEN not in process.stdout + process.stderr
    assert all(TOKEN.encode() not in content for content in contents(tmp_path / "pulled").values())
    assert all(TOKEN.encode() not in content for content in hub.blobs.values())
