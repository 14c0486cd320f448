"""Push and pull against a real HTTP server on loopback: whole or not at all, in every way a push can go wrong."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import yaml
from datasets import load_dataset
from huggingface_hub import DatasetCard, HfApi, constants
from support.hub_server import TOKEN, Fault, Hub, running_hub
from support.small_run import write_run

from curate.artifacts.artifact import open_artifact
from curate.errors import UserError
from curriculum import Curriculum, CurriculumConfig
from curriculum.state.files import newest
from data_cards.build import build
from data_cards.config import CardConfig, PushConfig
from data_cards.hub.hub import Pushed, pull, tags
from data_cards.hub.hub import push as send

REPO = "someone/problems"
# the client's own LFS uploads pass bytes to httpx in a way that httpx wants to see changed
pytestmark = pytest.mark.filterwarnings("ignore:Use 'content=:DeprecationWarning")


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


def test_what_was_pushed_is_pulled_to_the_byte(hub: Hub, api: HfApi, dataset: Path, tmp_path: Path) -> None:
    pushed = push(api, dataset, REPO, tag="v1.0.0")
    _, commit, _ = pull(api, REPO, "v1.0.0", tmp_path / "pulled")
    assert commit == pushed.commit == hub.repos[REPO].tags["v1.0.0"]
    assert contents(tmp_path / "pulled") == contents(dataset)


def test_a_push_is_one_commit_that_names_the_digest(hub: Hub, api: HfApi, dataset: Path) -> None:
    push(api, dataset, REPO, tag="v1.0.0")
    assert len(hub.repos[REPO].commits) == 2  # that of the new repository, and ours
    assert open_artifact(dataset).manifest.digest in hub.head(REPO).message


def test_a_push_repeated_sends_nothing(hub: Hub, api: HfApi, dataset: Path) -> None:
    push(api, dataset, REPO, tag="v1.0.0")
    hub.log.clear()
    assert push(api, dataset, REPO, tag="v1.0.0").is_reused
    assert not hub.num_sent("PUT|commit|tag/")


def test_a_tag_that_stands_is_never_moved(hub: Hub, api: HfApi, dataset: Path, second: Path) -> None:
    push(api, dataset, REPO, tag="v1.0.0")
    before = (dict(hub.repos[REPO].tags), dict(hub.repos[REPO].branches), len(hub.blobs))
    with pytest.raises(UserError, match=r"tag v1\.0\.0 stands already") as error:
        push(api, second, REPO, tag="v1.0.0")
    assert open_artifact(second).manifest.digest[:16] in one_line(error)
    assert (hub.repos[REPO].tags, hub.repos[REPO].branches, len(hub.blobs)) == before


def test_an_upload_that_fails_leaves_no_commit_and_the_next_one_sends_only_the_rest(
    hub: Hub, api: HfApi, dataset: Path
) -> None:
    hub.faults.append(Fault(r"PUT /lfs/[0-7]", 403))
    with pytest.raises(UserError, match="nothing on the Hub was changed") as error:
        push(api, dataset, REPO, tag="v1.0.0")
    one_line(error)
    assert list(hub.head(REPO).files) == [".gitattributes"]
    assert not hub.repos[REPO].tags
    arrived = hub.num_sent("PUT /lfs/[89a-f]")
    hub.faults.clear()
    hub.log.clear()
    push(api, dataset, REPO, tag="v1.0.0")
    assert arrived + hub.num_sent("PUT") == sum(path.endswith((".parquet", ".png")) for path in contents(dataset))
    assert hub.num_sent("PUT") > 0


def test_an_upload_that_breaks_off_once_is_tried_again(hub: Hub, api: HfApi, dataset: Path) -> None:
    hub.faults += [Fault(r"PUT /lfs", 0, times=1), Fault(r"PUT /lfs", 500, times=1)]
    push(api, dataset, REPO)
    assert set(contents(dataset)) <= set(hub.head(REPO).files)


@pytest.mark.parametrize("status", [0, 500, 409])
def test_a_commit_that_fails_changes_nothing_and_can_be_repeated(
    hub: Hub, api: HfApi, dataset: Path, status: int
) -> None:
    hub.faults.append(Fault("POST .*/commit/", status, times=1))
    with pytest.raises(UserError, match="nothing on the Hub was changed") as error:
        push(api, dataset, REPO, tag="v1.0.0")
    one_line(error)
    assert list(hub.head(REPO).files) == [".gitattributes"]
    push(api, dataset, REPO, tag="v1.0.0")
    assert hub.repos[REPO].tags["v1.0.0"] == hub.repos[REPO].branches["main"]


def test_a_tag_that_fails_is_set_by_the_next_push_without_a_second_commit(hub: Hub, api: HfApi, dataset: Path) -> None:
    hub.faults.append(Fault("POST .*/tag/", 500, times=1))
    with pytest.raises(UserError, match=r"committed, the tag v1\.0\.0 is not set") as error:
        push(api, dataset, REPO, tag="v1.0.0")
    one_line(error)
    num_commits = len(hub.repos[REPO].commits)
    push(api, dataset, REPO, tag="v1.0.0")
    assert len(hub.repos[REPO].commits) == num_commits
    assert hub.repos[REPO].tags["v1.0.0"] == hub.repos[REPO].branches["main"]


def test_an_expired_token_is_one_line_without_the_token(hub: Hub, api: HfApi, dataset: Path, tmp_path: Path) -> None:
    push(api, dataset, REPO)
    hub.tokens.clear()
    for act in (lambda: push(api, dataset, REPO), lambda: pull(api, REPO, "main", tmp_path / "out")):
        with pytest.raises(UserError, match="refused the token") as error:
            act()
        one_line(error)


def test_no_token_is_one_line(hub: Hub, dataset: Path) -> None:
    with pytest.raises(UserError, match="hf auth login") as error:
        push(HfApi(endpoint=hub.url, token=False), dataset, REPO)
    one_line(error)
    assert not hub.repos


def test_what_somebody_pushes_meanwhile_is_not_overwritten(hub: Hub, api: HfApi, dataset: Path, second: Path) -> None:
    push(api, dataset, REPO)
    hub.before_commit.append(lambda: hub.commit(REPO, "theirs", {"README.md": b"theirs"}))
    with pytest.raises(UserError, match="somebody else changed it") as error:
        push(api, second, REPO)
    one_line(error)
    assert hub.read(REPO, "README.md") == b"theirs"


def test_a_new_version_removes_the_files_of_the_old_and_keeps_what_others_added(
    hub: Hub, api: HfApi, dataset: Path, second: Path
) -> None:
    push(api, dataset, REPO, tag="v1.0.0")
    card = DatasetCard(hub.read(REPO, "README.md").decode())
    card.data["extra_gated_prompt"] = "Be kind."
    card.data["tags"] = [*card.data["tags"], "theirs"]
    card.data["dataset_info"] = {"features": []}
    hub.commit(REPO, "by hand", {"README.md": str(card).encode(), "LICENSE": b"mine"})
    push(api, second, REPO, tag="v2.0.0")
    after = DatasetCard(hub.read(REPO, "README.md").decode()).data
    assert after["extra_gated_prompt"] == "Be kind."
    assert "theirs" in after["tags"]
    assert "dataset_info" not in after.to_dict()
    assert [entry["config_name"] for entry in after["configs"]] == ["default"]
    files = set(hub.head(REPO).files)
    assert {"LICENSE", ".gitattributes"} <= files
    assert not {path for path in files if path.startswith(("dropped/", "samples/"))}
    assert hub.read(REPO, "dropped/part-00000.parquet", "v1.0.0")
    assert tags(api, REPO) == ["v1.0.0", "v2.0.0"]


@pytest.mark.parametrize("head", ["---\nconfigs: [\n---\nbroken", "---\n- a list\n---\n", "no head at all", "\xff"])
def test_a_card_on_the_hub_that_nobody_can_read_is_replaced(hub: Hub, api: HfApi, dataset: Path, head: str) -> None:
    push(api, dataset, REPO)
    hub.commit(REPO, "by hand", {"README.md": head.encode("latin-1")})
    push(api, dataset, REPO)
    card = DatasetCard(hub.read(REPO, "README.md").decode())
    assert [entry["config_name"] for entry in card.data["configs"]] == ["default", "dropped", "samples"]


def test_a_rewritten_card_keeps_its_words_and_gets_its_configs_back(
    hub: Hub, api: HfApi, dataset: Path, tmp_path: Path
) -> None:
    copy = copied(dataset, tmp_path / "copy")
    (copy / "README.md").write_text("---\nlicense: mit\n---\n\n# My own words\n")
    push(api, copy, REPO)
    card = DatasetCard(hub.read(REPO, "README.md").decode())
    assert "My own words" in card.text
    assert [entry["config_name"] for entry in card.data["configs"]] == ["default", "dropped", "samples"]
    (copy / "README.md").write_text("---\nlicense: [\n---\n")
    with pytest.raises(UserError, match="head is no YAML table") as error:
        push(api, copy, REPO)
    one_line(error)


def test_a_pull_request_leaves_main_and_tags_alone(hub: Hub, api: HfApi, dataset: Path, tmp_path: Path) -> None:
    hub.repos.clear()
    push(api, dataset, REPO)
    main = dict(hub.repos[REPO].branches)
    hub.commit(REPO, "by hand", {"README.md": b"---\nconfigs: []\n---\n"})
    main = dict(hub.repos[REPO].branches)
    pushed = push(api, dataset, REPO, tag="v1.0.0", create_pr=True)
    assert "discussions/1" in pushed.url
    assert {name: sha for name, sha in hub.repos[REPO].branches.items() if name in main} == main
    assert not hub.repos[REPO].tags
    assert pull(api, REPO, "refs/pr/1", tmp_path / "pulled")[1] == pushed.commit


def test_private_is_private_and_never_goes_into_a_public_repository(
    hub: Hub, api: HfApi, dataset: Path, second: Path
) -> None:
    push(api, dataset, "someone/secret", private=True)
    assert hub.repos["someone/secret"].private
    push(api, dataset, REPO)
    before = len(hub.repos[REPO].commits)
    with pytest.raises(UserError, match="exists and is public"):
        push(api, second, REPO, private=True)
    assert len(hub.repos[REPO].commits) == before


@pytest.mark.parametrize("repo", ["problems", "a/b/c", "some one/problems", "someone/", "-x/..", "someone/p.git", ""])
def test_a_repo_id_of_the_wrong_form_is_refused_before_anything_is_sent(
    hub: Hub, api: HfApi, dataset: Path, tmp_path: Path, repo: str
) -> None:
    for act in (lambda: push(api, dataset, repo), lambda: pull(api, repo, "main", tmp_path / "out")):
        with pytest.raises(UserError, match="use ORG/NAME") as error:
            act()
        one_line(error)
    assert not hub.log


@pytest.mark.parametrize("tag", ["1.0.0", "v1", "v1.0", "latest", "v1.0.0 ", "v1.0.0/x"])
def test_a_tag_that_is_no_version_is_refused_before_anything_is_sent(
    hub: Hub, api: HfApi, dataset: Path, tag: str
) -> None:
    with pytest.raises(UserError, match=r"use vMAJOR\.MINOR\.PATCH"):
        push(api, dataset, REPO, tag=tag)
    assert not hub.log


DAMAGE = {
    "is not finished": lambda folder: (folder / "manifest.json").unlink(),
    "missing, though": lambda folder: (folder / "kept" / "part-00000.parquet").unlink(),
    "changed since": lambda folder: (folder / "kept" / "part-00000.parquet").write_bytes(b"PAR1"),
    "is not listed": lambda folder: (folder / "kept" / "part-00001.parquet").write_bytes(b"PAR1"),
    "funnel.png is not what": lambda folder: (folder / "plots" / "funnel.png").write_bytes(b"PNG"),
    "funnel.png is missing": lambda folder: (folder / "plots" / "funnel.png").unlink(),
    "README.md is missing": lambda folder: (folder / "README.md").unlink(),
}


@pytest.mark.parametrize("message", DAMAGE)
def test_a_damaged_dataset_is_refused_before_anything_is_sent(
    hub: Hub, api: HfApi, dataset: Path, tmp_path: Path, message: str
) -> None:
    copy = copied(dataset, tmp_path / "copy")
    DAMAGE[message](copy)
    with pytest.raises(UserError, match=message) as error:
        push(api, copy, REPO)
    one_line(error)
    assert not hub.log


def test_an_artifact_that_is_no_dataset_is_refused(hub: Hub, api: HfApi, tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", ["What is 1 + 1?"])
    with pytest.raises(UserError, match="is the artifact of stage ingest"):
        push(api, run / "ingest", REPO)
    assert not hub.log


@pytest.mark.parametrize(
    ("path", "content", "message"),
    [
        ("kept/part-00000.parquet", b"PAR1 tampered PAR1", "changed since"),
        ("kept/part-00001.parquet", b"PAR1 smuggled PAR1", "is not listed"),
        ("plots/funnel.png", b"PNG", "is not what was published"),
        ("samples/part-00000.parquet", None, "missing, though"),
        ("manifest.json", None, "has no manifest"),
        ("manifest.json", b"{}", "make the artifact again"),
    ],
)
def test_what_does_not_match_its_digest_is_not_pulled(
    hub: Hub, api: HfApi, dataset: Path, tmp_path: Path, path: str, content: bytes | None, message: str
) -> None:
    push(api, dataset, REPO)
    hub.commit(REPO, "tampered", {path: content})
    with pytest.raises(UserError, match=message) as error:
        pull(api, REPO, "main", tmp_path / "out")
    assert str(tmp_path) not in one_line(error)
    assert not list(tmp_path.iterdir())


def test_a_missing_revision_or_dataset_is_one_line(hub: Hub, api: HfApi, dataset: Path, tmp_path: Path) -> None:
    push(api, dataset, REPO)
    with pytest.raises(UserError, match=r"v9\.9\.9: has no such revision") as error:
        pull(api, REPO, "v9.9.9", tmp_path / "out")
    one_line(error)
    with pytest.raises(UserError, match="no such dataset") as error:
        pull(api, "someone/nothing", "main", tmp_path / "out")
    one_line(error)
    assert not (tmp_path / "out").exists()


def test_a_pull_that_breaks_off_goes_on_with_what_is_missing(
    hub: Hub, api: HfApi, dataset: Path, tmp_path: Path
) -> None:
    push(api, dataset, REPO)
    hub.faults.append(Fault("GET .*/samples/", 403))
    hub.log.clear()
    with pytest.raises(UserError, match="was not written") as error:
        pull(api, REPO, "main", tmp_path / "out")
    one_line(error)
    assert not (tmp_path / "out").exists()
    hub.faults.clear()
    hub.log.clear()
    pull(api, REPO, "main", tmp_path / "out")
    assert contents(tmp_path / "out") == contents(dataset)
    assert hub.num_sent("GET .*/samples/") == 1
    assert not hub.num_sent("GET .*/kept/")
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_a_pull_repeated_fetches_nothing_and_another_folder_is_left_alone(
    hub: Hub, api: HfApi, dataset: Path, tmp_path: Path
) -> None:
    push(api, dataset, REPO)
    pull(api, REPO, "main", tmp_path / "out")
    hub.log.clear()
    assert pull(api, REPO, "main", tmp_path / "out")[2]
    assert not hub.num_sent("GET .*/kept/")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("years")
    with pytest.raises(UserError, match="holds something else"):
        pull(api, REPO, "main", tmp_path / "mine")
    assert contents(tmp_path / "mine") == {"thesis.txt": b"years"}


def test_a_place_that_cannot_be_written_is_one_line(hub: Hub, api: HfApi, dataset: Path, tmp_path: Path) -> None:
    push(api, dataset, REPO)
    (tmp_path / "file").write_text("no folder")
    with pytest.raises(UserError, match="cannot write on this machine") as error:
        pull(api, REPO, "main", tmp_path / "file" / "out")
    one_line(error)


def test_a_hub_that_is_not_there_is_one_line(dataset: Path, tmp_path: Path) -> None:
    with running_hub() as gone:
        url = gone.url
    api = HfApi(endpoint=url, token=TOKEN)
    for act in (lambda: push(api, dataset, REPO), lambda: pull(api, REPO, "main", tmp_path / "out")):
        with pytest.raises(UserError, match="cannot be reached") as error:
            act()
        one_line(error)


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
