"""A damaged dataset is never sent."""

from pathlib import Path

import pytest
from huggingface_hub import HfApi
from support.hub_client import REPO, copied, one_line, push
from support.hub_state import Hub
from support.small_run import write_run

from curate.errors import UserError

# the client's own LFS uploads pass bytes to httpx in a way that httpx wants to see changed
pytestmark = pytest.mark.filterwarnings("ignore:Use 'content=:DeprecationWarning")


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
