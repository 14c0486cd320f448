"""Pull from a real HTTP server on loopback: every digest is checked, and what broke off resumes."""

from pathlib import Path

import pytest
from huggingface_hub import HfApi
from support.hub_client import REPO, contents, one_line, push
from support.hub_server import running_hub
from support.hub_state import TOKEN, Fault, Hub

from curate.errors import UserError
from data_cards.hub.hub import pull

# the client's own LFS uploads pass bytes to httpx in a way that httpx wants to see changed
pytestmark = pytest.mark.filterwarnings("ignore:Use 'content=:DeprecationWarning")


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
