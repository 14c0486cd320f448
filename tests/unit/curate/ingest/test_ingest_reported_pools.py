"""The pools that others reported as lost at the door are read whole; their texts stay beside the project."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from curate.artifacts.artifact import Artifact, open_artifact
from curate.decontaminate.benchmarks import read_items
from curate.errors import UserError
from curate.ingest.plan import IngestConfig, plan
from curate.ingest.sources import Source
from curate.ingest.stage import stage
from curate.runner.run import run_stage
from curate.verifiable.stage import VerifiableConfig
from curate.verifiable.stage import stage as verifiable

pytestmark = pytest.mark.shared


@pytest.fixture
def cases(shared: Path) -> dict[str, Any]:
    path = shared / "cases" / "pools_2.jsonl"
    if not path.exists():
        pytest.skip(f"{path} is not there")
    return {case["id"]: case["input"] for case in map(json.loads, path.read_text().splitlines())}


def imported(folder: Path, name: str, data: str | bytes) -> Artifact:
    (folder / name).write_bytes(data.encode() if isinstance(data, str) else data)
    config = IngestConfig()
    run_stage(stage(config, [plan(Source(path=folder / name), config)]), None, folder / "out")
    return open_artifact(folder / "out")


def test_a_boilerplate_column_is_not_the_problem(cases: dict[str, Any], tmp_path: Path) -> None:
    pool = imported(tmp_path, "a.json", json.dumps(cases["C05"])).read()
    assert pool["prompt"].to_list() == [row["problem_description"] for row in cases["C05"]]


def test_columns_that_repeat_each_other_are_not_doubled(cases: dict[str, Any], tmp_path: Path) -> None:
    pool = imported(tmp_path, "a.json", json.dumps([cases["C06"]])).read()
    assert pool["prompt"].to_list() == [cases["C06"]["Question"]]


def test_placeholders_are_filled(cases: dict[str, Any], tmp_path: Path) -> None:
    (prompt,) = imported(tmp_path, "a.json", json.dumps([cases["C07"]])).read()["prompt"]
    assert "number" not in prompt
    assert "56" in prompt
    assert "9" in prompt


def test_layouts_of_json_are_read_under_other_names(cases: dict[str, Any], tmp_path: Path) -> None:
    for case, name, num_rows in (("C11", "a.jsonl", 2), ("C13", "b.jsonl", 2)):
        folder = tmp_path / case
        folder.mkdir()
        assert imported(folder, name, cases[case]).manifest.num_kept == num_rows
    packed = imported(tmp_path, "pool.jsonl", gzip.compress(b'{"question": "Q?", "answer": "1"}\n'))
    assert packed.manifest.num_kept == 1


def test_the_advice_for_a_benchmark_of_unknown_columns_works(cases: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "benchmark.jsonl"
    path.write_text(json.dumps(cases["C17"]["benchmark.jsonl"]) + "\n")
    with pytest.raises(UserError, match=r"import it with `gradus curate ingest .* --map prompt=COLUMN --out FOLDER`"):
        read_items([Source(path=path)])


def test_a_system_text_sets_two_problems_apart(cases: dict[str, Any], tmp_path: Path) -> None:
    assert imported(tmp_path, "a.json", json.dumps(cases["C18"])).manifest.num_kept == 2


def test_a_picture_is_seen_by_verifiable(cases: dict[str, Any], tmp_path: Path) -> None:
    pool = imported(tmp_path, "a.json", json.dumps([cases["C20"]]))
    run_stage(verifiable(VerifiableConfig()), pool, tmp_path / "verifiable")
    assert open_artifact(tmp_path / "verifiable").manifest.reasons == {"figure_needed": 1}
