"""Problems with a rule from a source's rows to pass rates, benchmark scores and rewards: the pipeline of the docs."""

import json
import re
import subprocess
import sys
from pathlib import Path

import yaml
from support.places import ROOT

from curate.artifacts.artifact import open_artifact
from curate.sampling.grading import GradingConfig
from train.rewards.rewards import Setting, rewards_named

LONG = "word " * 60
ROWS = [
    {
        "prompt": "Write a long story.",
        "instruction_id_list": ["length_constraints:number_words"],
        "kwargs": [{"num_words": 50, "relation": "at least"}],
    },
    {"prompt": "Write anything.", "instruction_id_list": ["punctuation:no_comma"], "kwargs": [{}]},
]
SCHEMA = {"type": "array", "items": {"type": "integer"}, "minItems": 2}


def gradus(folder: Path, *words: str) -> str:
    environment = {"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"}
    command = [sys.executable, "-m", "gradus", *words]
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder, env=environment, timeout=110)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_pipeline_of_the_docs_measures_the_kinds_with_a_rule(tmp_path: Path) -> None:
    example = next(text for text in re.findall(r"```yaml\n(.*?)```", (ROOT / "docs/verify.md").read_text(), re.DOTALL))
    pipeline = yaml.safe_load(example)
    ruled, schemas = (Path(source["path"]) for source in pipeline["sources"])
    (tmp_path / ruled.parent).mkdir()
    (tmp_path / ruled).write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    (tmp_path / schemas).write_text(json.dumps({"prompt": "Two numbers as JSON.", "schema": json.dumps(SCHEMA)}) + "\n")
    # a scripted engine in place of the model
    pipeline["stages"]["difficulty"] = {"script": "answers.json", "k": 4, "keep": "1..3"}
    (tmp_path / "pipeline.yaml").write_text(yaml.safe_dump(pipeline, sort_keys=False))
    texts = [LONG, "[1, 2]", "no", "<think>[1, 2]"]
    (tmp_path / "answers.json").write_text(json.dumps({"*": [{"text": text} for text in texts]}))
    gradus(tmp_path, "curate", "run", "pipeline.yaml", "--out", "run")

    dropped = open_artifact(tmp_path / "run/verifiable").read("dropped")
    assert dropped["prompt"].to_list() == ["Write anything."]
    kept = open_artifact(tmp_path / "run/difficulty").read()
    # sampling stops where the band is decided
    assert sorted(kept.select("kind", "num_correct", "num_wrong").iter_rows()) == [
        ("instructions", 1, 1), ("json", 1, 1),
    ]  # fmt: skip

    [reward] = rewards_named(["accuracy"], Setting(GradingConfig(), max_tokens=64, end_ids=frozenset({1})))
    columns = {name: kept[name].to_list() for name in ("ground_truth", "kind", "tests")}
    columns["question"] = kept["prompt"].to_list()
    for text, right in ((LONG, "instructions"), ("[1, 2]", "json"), ("", None)):
        prompts, completions = [[{"role": "user", "content": "?"}]] * 2, [[{"role": "assistant", "content": text}]] * 2
        values = reward(prompts=prompts, completions=completions, completion_ids=[[1], [1]], **columns)
        assert values == [float(kind == right) for kind in columns["kind"]]
