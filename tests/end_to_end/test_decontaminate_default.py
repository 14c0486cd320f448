"""`--against default` on a Hub that answers on loopback: eleven benchmarks, each at its commit, none named by hand."""

import json
import os
import subprocess
import sys
from pathlib import Path

import polars as pl
from huggingface_hub import HfApi
from support.hub_server import running_hub
from support.hub_state import TOKEN, Fault, Hub
from support.places import ROOT
from support.small_run import problems, write_pool

from curate.artifacts.artifact import open_artifact
from curate.decontaminate.benchmarks import DEFAULT
from curate.ingest.sources import Source


def published(hub: Hub, source: Source) -> None:
    """The dataset as a Hub repository of one problem, at the revision that the bundle names."""
    name = str(source.hub)
    HfApi(endpoint=hub.url, token=TOKEN).create_repo(name, repo_type="dataset")
    row = {"problem": f"How many {source.name} lamps are lit when 7 of the 19 lamps go out?", "answer": "12"}
    files = source.files or ("data.jsonl",)
    config = [
        {"config_name": source.subset or "default", "data_files": [{"split": source.split, "path": "data.jsonl"}]}
    ]
    card = f"---\nlicense: mit\nconfigs: {json.dumps(config)}\n---\n"
    content = {"README.md": card.encode(), **dict.fromkeys(files, json.dumps(row).encode())}
    if source.files:
        content |= {"README.md": b"---\nlicense: cc\n---\n", f"{name.split('/')[1]}.py": b"# a loader"}
    hub.repos[name].tags[str(source.revision)] = hub.commit(name, "rows", content)
    hub.commit(name, "later", dict.fromkeys(files, b'{"problem": "Moved on?", "answer": "0"}'))


def decontaminated(hub: Hub, folder: Path, *more: str) -> subprocess.CompletedProcess[str]:
    """The command, as a user of this Hub would give it."""
    environment = {**os.environ, "HF_ENDPOINT": hub.url, "HF_TOKEN": TOKEN, "HF_HOME": str(folder / "home")}
    words = ["decontaminate", str(folder / "pool"), "--against", "default", "--out", str(folder / "out"), *more]
    command = [sys.executable, "-c", "import gradus; gradus.main()", "curate", *words]
    root = ROOT
    return subprocess.run(command, capture_output=True, text=True, cwd=root, env=environment, timeout=110)


def test_a_benchmark_that_asks_for_its_terms_is_told_and_can_be_left_out(tmp_path: Path) -> None:
    write_pool(tmp_path / "pool", problems(["How many gsm8k lamps are lit when 7 of the 19 lamps go out?"]))
    with running_hub() as hub:
        for source in DEFAULT:
            published(hub, source)
        hub.faults.append(Fault("GET /datasets/Idavidrein/gpqa/resolve", 401, code="GatedRepo"))
        refused = decontaminated(hub, tmp_path)
        done = decontaminated(hub, tmp_path, "--skip", "gpqa", "--skip", "livecodebench")
    assert (refused.returncode, refused.stderr.count("\n")) == (1, 1)
    assert "accept its terms" in refused.stderr
    assert "--skip gpqa" in refused.stderr
    assert done.returncode == 0, done.stderr
    assert len(open_artifact(tmp_path / "out").manifest.inputs) == len(DEFAULT) - 1  # the pool, and all but two


def test_the_bundle_is_read_at_its_commits_and_named_in_the_manifest(tmp_path: Path) -> None:
    names = [source.name for source in DEFAULT]
    write_pool(
        tmp_path / "pool", problems([f"How many {n} lamps are lit when 7 of the 19 lamps go out?" for n in names])
    )
    with running_hub() as hub:
        for source in DEFAULT:
            published(hub, source)
        done = decontaminated(hub, tmp_path)
    assert done.returncode == 0, done.stderr
    out = open_artifact(tmp_path / "out")
    assert out.manifest.num_kept == 0
    assert sorted(out.read("dropped")["contaminated_by"].str.split("/").list.first()) == sorted(names)
    inputs = out.manifest.inputs
    shas = {source.name: hub.repos[str(source.hub)].tags[str(source.revision)] for source in DEFAULT}
    assert all(f"@{shas[name]}/" in inputs[f"benchmark {name}"] for name in names)
    assert isinstance(out.read("dropped"), pl.DataFrame)
