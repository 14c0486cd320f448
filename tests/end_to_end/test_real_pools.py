"""A whole curation without a model, on real pools against real benchmarks, held to facts known about them."""

from itertools import pairwise
from pathlib import Path

import polars as pl
import pytest
import yaml
from typer.testing import CliRunner

from curate.artifacts.artifact import Artifact, open_artifact
from curate.commands import app

pytestmark = pytest.mark.shared

SOURCES = {
    "math": "deepscaler/train_math.json",
    "aime": "deepscaler/train_aime.json",
    "talscq": "talscq/en_single_choice_train_3K.jsonl",
    "gsm8k": "gsm8k/train.jsonl",
}
BENCHMARKS = (
    "math500/test.jsonl",
    "aime24/test.jsonl",
    "aime25/aime25.parquet",
    "amc23/test.jsonl",
    "mmlu_stem/test.jsonl",
)
NUM_ROWS = {"math": 7474, "aime": 975, "talscq": 3000, "gsm8k": 7473}
LEAKED = {
    *(f"intermediate_algebra/{number}" for number in (90, 345, 582, 1365, 1411, 1849, 2146)),
    "counting_and_probability/1003",
}


@pytest.fixture(scope="module")
def run(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The finished run folder."""
    folder = tmp_path_factory.mktemp("real")
    pipeline = {
        "sources": [{"path": str(shared / "data" / path), "name": name} for name, path in SOURCES.items()],
        "stages": {
            "verifiable": None,
            "multiple-choice": None,
            "dedup": None,
            "decontaminate": {"against": [str(shared / "data" / path) for path in BENCHMARKS]},
        },
    }
    (folder / "pipeline.yaml").write_text(yaml.safe_dump(pipeline, sort_keys=False))
    words = ["run", str(folder / "pipeline.yaml"), "--out", str(folder / "run")]
    result = CliRunner().invoke(app, words, catch_exceptions=False)
    assert result.exit_code == 0
    return folder / "run"


def opened(run: Path, stage: str) -> Artifact:
    return open_artifact(run / stage)


def of_source(rows: pl.DataFrame, source: str) -> pl.DataFrame:
    return rows.filter(pl.col("source") == source)


def test_every_row_of_every_source_is_kept_dropped_or_merged(run: Path) -> None:
    ingested = opened(run, "ingest")
    read = {fact["name"]: fact["num_rows"] for fact in ingested.manifest.facts["sources"]}
    assert read == NUM_ROWS
    places = [
        place
        for part in ("kept", "dropped")
        for row in ingested.read(part).select("source", "source_row", "also_in").iter_rows(named=True)
        for place in [f"{row['source']}#{row['source_row']}", *(row["also_in"] or ())]
    ]
    assert len(places) == len(set(places)) == sum(NUM_ROWS.values())


def test_conflicts_stand_only_where_an_exact_text_has_two_answers(run: Path) -> None:
    dropped = opened(run, "ingest").read("dropped")
    assert set(dropped["source"]) == {"talscq"}
    assert 5 <= dropped.height <= 22  # 22 groups by prompt alone; options in another order are other letters
    for detail in dropped["drop_detail"]:
        assert len({place.split(": ")[1] for place in detail.split("; ")}) > 1


def test_rows_without_an_answer_are_dropped_as_such(run: Path) -> None:
    dropped = of_source(opened(run, "verifiable").read("dropped"), "math")
    without = dropped.filter(pl.col("drop_reason") == "no_answer")["source_row"]
    assert {5328, 5330} <= set(without)
    assert len(without) <= 4


def test_multiple_choice_is_found_where_it_is_and_not_where_it_is_not(run: Path) -> None:
    before = opened(run, "verifiable").read()
    stage = opened(run, "multiple-choice")
    dropped = {name: of_source(stage.read("dropped"), name).height for name in SOURCES}
    assert dropped["talscq"] >= 0.99 * of_source(before, "talscq").height
    assert abs(dropped["math"] - 154) <= 8
    assert dropped["aime"] <= 0.001 * NUM_ROWS["aime"]
    assert dropped["gsm8k"] <= 0.001 * NUM_ROWS["gsm8k"]


def test_twins_across_sources_go_and_keep_the_row_with_a_solution(run: Path) -> None:
    stage = opened(run, "dedup")
    dropped, kept = stage.read("dropped"), stage.read()
    twins = dropped.filter(pl.col("drop_reason") == "near_duplicate_of").join(
        kept, left_on="drop_detail", right_on="key", suffix="_kept"
    )
    assert twins.height == dropped.filter(pl.col("drop_reason") == "near_duplicate_of").height
    assert twins.filter((pl.col("source") == "math") & (pl.col("source_kept") == "aime")).height >= 40
    assert of_source(dropped, "aime").height <= 5
    assert of_source(dropped, "gsm8k").height <= 5


def test_the_eight_leaks_of_math_500_are_found_and_their_look_alike_is_not(run: Path) -> None:
    dropped = opened(run, "decontaminate").read("dropped")
    found = dropped.filter(pl.col("contaminated_by").str.starts_with("math500"))
    assert set(found["source"]) == {"aime"}
    assert set(found["contaminated_by"].str.extract(r"test/(\w+/\d+)\.json$")) == LEAKED


def test_the_leaks_of_mmlu_are_found_and_the_recent_exams_are_clean(run: Path) -> None:
    dropped = opened(run, "decontaminate").read("dropped")
    by_benchmark = dict(dropped.group_by(pl.col("contaminated_by").str.extract("^([^/]+)/")).len().iter_rows())
    method = pl.col("drop_detail").str.json_path_match("$.method")
    exact = dropped.filter(pl.col("contaminated_by").str.starts_with("mmlu_stem-test/") & (method == "exact"))
    # one more is set otherwise, and its answer is 12^{1/7} for 12^(1/7)
    assert (exact.height, by_benchmark["mmlu_stem-test"]) == (74, 75)
    assert not any(name.startswith(("aime24", "aime25")) for name in by_benchmark)


def test_the_funnel_adds_up(run: Path) -> None:
    result = CliRunner().invoke(app, ["funnel", str(run), "--png"], catch_exceptions=False)
    assert f"of {sum(NUM_ROWS.values()):,} kept" in result.output
    assert (run / "funnel.png").stat().st_size > 10_000
    stages = [opened(run, name).manifest for name in ("ingest", "verifiable", "multiple-choice", "dedup")]
    for before, behind in pairwise(stages):
        assert behind.num_in == before.num_kept == behind.num_kept + behind.num_dropped
