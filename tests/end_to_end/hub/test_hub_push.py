"""Push to a real HTTP server on loopback: whole or not at all, in every way a push can go wrong."""

from pathlib import Path

import pytest
from huggingface_hub import DatasetCard, HfApi
from support.hub_client import REPO, contents, copied, one_line, push
from support.hub_state import Fault, Hub

from curate.artifacts.artifact import open_artifact
from curate.errors import UserError
from data_cards.hub.hub import pull, tags

# the client's own LFS uploads pass bytes to httpx in a way that httpx wants to see changed
pytestmark = pytest.mark.filterwarnings("ignore:Use 'content=:DeprecationWarning")


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
    with pytest.raises(UserError, match=r"tag v1\.0\.0 already exists") as error:
        push(api, second, REPO, tag="v1.0.0")
    assert open_artifact(second).manifest.digest[:16] in one_line(error)
    assert (hub.repos[REPO].tags, hub.repos[REPO].branches, len(hub.blobs)) == before


def test_an_upload_that_fails_leaves_no_commit_and_the_next_one_sends_only_the_rest(
    hub: Hub, api: HfApi, dataset: Path
) -> None:
    hub.faults.append(Fault(r"PUT /lfs/[0-7]", 403))
    with pytest.raises(UserError, match="was created on the Hub and is still empty") as error:
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
def test_a_commit_that_fails_adds_nothing_says_so_and_can_be_repeated(
    hub: Hub, api: HfApi, dataset: Path, status: int
) -> None:
    for left in ("was created on the Hub and is still empty", "nothing on the Hub was changed"):
        hub.faults.append(Fault("POST .*/commit/", status, times=1))
        with pytest.raises(UserError, match=left) as error:
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
