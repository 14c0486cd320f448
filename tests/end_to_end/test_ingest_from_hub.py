"""`gradus curate ingest owner/name` from a Hub that answers on loopback: the commit is pinned, the licence recorded."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from huggingface_hub import CommitOperationAdd, HfApi
from support.hub_server import running_hub
from support.hub_state import TOKEN, Hub
from support.places import ROOT

from curate.artifacts.artifact import open_artifact

# the client's own uploads pass bytes to httpx in a way that httpx wants to see changed
pytestmark = pytest.mark.filterwarnings("ignore:Use 'content=:DeprecationWarning")

REPO = "someone/sums"
CARD = "---\nlicense: mit\nconfigs:\n- config_name: default\n  data_files: data.jsonl\n---\n"


def committed(hub: Hub, answers: list[str]) -> str:
    """Commit a dataset with these answers; its commit."""
    api = HfApi(endpoint=hub.url, token=TOKEN)
    api.create_repo(REPO, repo_type="dataset", exist_ok=True)
    rows = "".join(json.dumps({"question": f"Question {n}?", "answer": a}) + "\n" for n, a in enumerate(answers))
    files = {"README.md": CARD, "data.jsonl": rows}
    operations = [CommitOperationAdd(path, text.encode()) for path, text in files.items()]
    return api.create_commit(REPO, operations, repo_type="dataset", commit_message="rows").oid


def gradus(hub: Hub, home: Path, *words: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "HF_ENDPOINT": hub.url, "HF_TOKEN": TOKEN, "HF_HOME": str(home)}
    command = [sys.executable, "-c", "import gradus; gradus.main()", "curate", "ingest", *words]
    root = ROOT
    return subprocess.run(command, capture_output=True, text=True, cwd=root, env=environment, timeout=100)


def test_a_hub_dataset_is_imported_at_the_commit_that_was_asked_for(tmp_path: Path) -> None:
    with running_hub() as hub:
        old = committed(hub, ["1", "2"])
        new = committed(hub, ["1", "2", "3"])
        names = ["--name", "newest", "--name", "older", "--revision", f"older={old}"]
        done = gradus(hub, tmp_path / "home", REPO, REPO, *names, "--out", str(tmp_path / "out"))
        missing = gradus(hub, tmp_path / "home", "someone/nothing", "--out", str(tmp_path / "none"))
    silent = gradus(hub, tmp_path / "other", REPO, "--out", str(tmp_path / "silent"))
    assert done.returncode == 0, done.stderr
    pool = open_artifact(tmp_path / "out")
    assert pool.read()["also_in"].to_list() == [["older#0"], ["older#1"], None]
    facts = [(fact["name"], fact["hub"], fact["revision"], fact["licence"]) for fact in pool.manifest.facts["sources"]]
    assert facts == [("newest", REPO, new, "mit"), ("older", REPO, old, "mit")]
    for failed, name in ((missing, "someone/nothing"), (silent, REPO)):
        assert failed.returncode == 1
        assert failed.stderr.startswith(f"gradus: {name}: not found on the Hub")
        assert failed.stderr.count("\n") == 1
