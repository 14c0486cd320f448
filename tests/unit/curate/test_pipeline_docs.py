"""The pipeline's page agrees with the code."""

import re
from pathlib import Path

import yaml
from support.places import ROOT

from curate.ingest.plan import IngestConfig
from curate.ingest.sources import Source
from curate.pipeline import read_pipeline

PAGE = (ROOT / "docs" / "pipeline.md").read_text()


def test_the_example_is_a_valid_pipeline(tmp_path: Path) -> None:
    example = yaml.safe_load(re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)[0])
    for table in example["sources"]:
        Source.model_validate(table)
    (tmp_path / "pool.jsonl").write_text('{"question": "Q?", "answer": "1"}\n')
    pipeline = {**example, "sources": [{"path": str(tmp_path / "pool.jsonl")}]}
    (tmp_path / "pipeline.yaml").write_text(yaml.safe_dump(pipeline, sort_keys=False))
    read = read_pipeline(tmp_path / "pipeline.yaml")
    assert read.names() == ["ingest", *example["stages"]]
    assert read.stages["ingest"] == IngestConfig()


def test_the_page_lists_the_reasons_of_ingest() -> None:
    listed = set(re.findall(r"`([a-z0-9_]+)`", PAGE.split("dropped with its line:")[1].split("\n\n")[0]))
    code = "".join(path.read_text() for path in sorted((ROOT / "curate" / "ingest").rglob("*.py")))
    given = set(re.findall(r'Unusable\(\s*"(\w+)"|Row\((?:f"[^"]*"|[^",]*), None, "(\w+)"', code))
    assert {one or other for one, other in given} | {"too_large"} == listed
