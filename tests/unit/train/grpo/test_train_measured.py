"""Training asks as the difficulty stage asked, unless the user says otherwise."""

import json
from pathlib import Path

import pytest
from support.model_pool import pool, script, sums

from curate.artifacts.artifact import open_artifact
from curate.config import parse
from curate.dedup import stage as dedup
from curate.difficulty.stage import DifficultyConfig, stage
from curate.errors import UserError
from curate.ingest import stage as ingest
from curate.ingest.plan import IngestConfig, plan
from curate.ingest.sources import sources_from
from curate.runner.run import run_stage
from data_cards.build import build
from data_cards.config import CardConfig
from train.grpo.config import GrpoConfig
from train.grpo.measured import as_measured, with_recorded_mix


@pytest.fixture
def measured(tmp_path: Path) -> Path:
    """A pool whose pass rates were measured with a template and 96 tokens."""
    answers = script(tmp_path / "answers.json", {"*": ["\\boxed{2}", "\\boxed{3}"]})
    settings = {"script": str(answers), "template": "boxed", "max_tokens": 96, "thinking": "on", "keep": "0..8"}
    problems = pool(tmp_path / "pool", sums(4))
    run_stage(stage(parse(DifficultyConfig, settings, "--")), problems, tmp_path / "run" / "difficulty")
    return tmp_path / "run" / "difficulty"


def config(**tables: dict[str, object]) -> GrpoConfig:
    return parse(GrpoConfig, tables, "--")


def test_what_is_not_given_is_as_the_pass_rates_were_measured(measured: Path) -> None:
    found = as_measured(config(), measured)
    assert found.config.sampling.max_tokens == 96
    assert "put your final answer within" in found.config.prompt.template
    assert found.config.prompt.thinking == "on"
    assert len(found.lines) == 1
    assert found.lines[0].startswith("as the pass rates were measured: sampling.max_tokens 96, prompt.template ")


def test_what_is_given_stays_and_a_difference_is_named(measured: Path) -> None:
    found = as_measured(config(sampling={"max_tokens": 64}, prompt={"thinking": "on"}), measured)
    assert found.config.sampling.max_tokens == 64
    assert found.lines[0] == "warning: sampling.max_tokens is 64, but the pass rates were measured with 96"
    assert "thinking" not in found.lines[1]


def test_a_dataset_of_card_build_carries_them(measured: Path, tmp_path: Path) -> None:
    build(measured, tmp_path / "dataset", CardConfig())
    assert as_measured(config(), tmp_path / "dataset").config.sampling.max_tokens == 96


def test_a_recorded_mixture_is_the_weights_of_the_sources_that_are_left(tmp_path: Path) -> None:
    for name, num in (("math", 3), ("code", 2)):
        rows = "".join(json.dumps({"prompt": f"{name} {n} + {n}?", "answer": str(2 * n)}) + "\n" for n in range(num))
        (tmp_path / f"{name}.jsonl").write_text(rows)
    sources = sources_from([str(tmp_path / "math.jsonl"), str(tmp_path / "code.jsonl")], [], {"weight": ["math=3"]})
    settings = IngestConfig()
    run = tmp_path / "run"
    run_stage(ingest.stage(settings, [plan(one, settings) for one in sources]), None, run / "ingest")
    run_stage(dedup.stage(dedup.DedupConfig()), open_artifact(run / "ingest"), run / "dedup")
    build(run, tmp_path / "dataset", CardConfig())
    recorded = config(curriculum={"mix": "recorded"})
    for data in (run / "ingest", run / "dedup", tmp_path / "dataset"):
        assert with_recorded_mix(recorded, data).curriculum.mix == {"math": 3.0, "code": 1.0}
    with pytest.raises(UserError, match="no weights are recorded"):
        with_recorded_mix(recorded, tmp_path / "math.jsonl")
    with pytest.raises(UserError, match="mix_by is not source"):
        with_recorded_mix(config(curriculum={"mix": "recorded", "mix_by": "kind"}), run / "dedup")


def test_data_without_pass_rates_change_nothing(measured: Path, tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_text('{"prompt": "1 + 1?", "ground_truth": "2"}\n')
    for data in (tmp_path / "pool", tmp_path / "rows.jsonl"):
        assert as_measured(config(), data) == (config(), [])
