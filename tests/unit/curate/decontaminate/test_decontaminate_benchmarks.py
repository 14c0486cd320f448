"""Benchmarks as decontamination reads them, and the known leaks of real pools."""

import json
from pathlib import Path

import polars as pl
import pytest
from support.benchmark_items import ANSWERS, BENCHMARK, DICE, EGGS
from support.pools import run as run_over

from curate.decontaminate.benchmarks import read_items
from curate.decontaminate.stage import DecontaminateConfig, stage
from curate.errors import UserError
from curate.ingest.sources import Source


def test_benchmarks_are_read_in_every_format(tmp_path: Path) -> None:
    table = pl.DataFrame({"problem": BENCHMARK, "answer": ANSWERS, "unique_id": [f"id-{n}" for n in range(8)]})
    table.write_ndjson(tmp_path / "a.jsonl")
    table.write_csv(tmp_path / "b.csv")
    table.write_parquet(tmp_path / "c.parquet")
    (tmp_path / "d.json").write_text(json.dumps(table.to_dicts()))
    for path in sorted(tmp_path.iterdir()):
        items = read_items([Source(path=path)])
        assert items["prompt"].to_list() == [prompt.strip() for prompt in BENCHMARK], path.name
        assert items["item"][3] == "id-3"
    both = read_items([Source(path=tmp_path / "a.jsonl"), Source(path=tmp_path / "c.parquet")])
    assert both["benchmark"].unique().to_list() == ["a"]


def test_a_changed_benchmark_is_another_result(tmp_path: Path) -> None:
    bench = tmp_path / "bench.jsonl"
    first, second = ([{"problem": DICE}], [{"problem": DICE}, {"problem": EGGS}])
    pl.DataFrame(first).write_ndjson(bench)
    config = DecontaminateConfig(against=(str(bench),))
    before = stage(config).identity("pool")
    assert stage(config).identity("pool") == before
    pl.DataFrame(second).write_ndjson(bench)
    assert stage(config).identity("pool") != before


LAMPS = "How many of the 24 lamps in the long hall are lit when every third lamp is broken?"


def test_a_missing_benchmark_is_one_line() -> None:
    with pytest.raises(UserError, match="--against is missing"):
        stage(DecontaminateConfig())
    with pytest.raises(UserError, match=r"nowhere\.jsonl: no such file"):
        stage(DecontaminateConfig(against=("nowhere.jsonl",)))
    with pytest.raises(UserError, match=r"no benchmark of that name in the bundle; did you mean math500\?"):
        stage(DecontaminateConfig(against=("math50",)))
    with pytest.raises(UserError, match=r"--skip gpqaa: is none of .*; did you mean gpqa\?"):
        stage(DecontaminateConfig(against=("default",), skip=("gpqaa",)))


def test_benchmarks_of_one_name_are_told_apart(tmp_path: Path) -> None:
    for folder, text in (("old", LAMPS), ("new", LAMPS.replace("lamps", "bells"))):
        (tmp_path / folder).mkdir()
        pl.DataFrame({"problem": [text], "answer": ["3"]}).write_ndjson(tmp_path / folder / "bench.jsonl")
    files = tuple(str(tmp_path / folder / "bench.jsonl") for folder in ("old", "new", "old"))
    inputs = stage(DecontaminateConfig(against=files)).inputs
    assert list(inputs) == ["benchmark old-bench", "benchmark new-bench"]
    assert len(set(inputs.values())) == 2
    assert list(stage(DecontaminateConfig(against=files, skip=("old-bench",))).inputs) == ["benchmark new-bench"]


def _contaminated(pool: Path, *against: Path) -> pl.DataFrame:
    """The rows of a file that the stage drops."""
    rows = read_items([Source(path=pool)]).drop("benchmark", "item")
    decided = run_over(stage(DecontaminateConfig(against=tuple(map(str, against)))), rows)
    return decided.filter(pl.col("drop_reason") == "contaminated")


@pytest.mark.shared
def test_the_known_leaks_from_aime_into_math500_are_found_and_nothing_else(shared: Path) -> None:
    data = shared / "data"
    leaks = _contaminated(data / "deepscaler/train_aime.json", data / "math500/test.jsonl")
    algebra = (90, 345, 582, 1365, 1411, 1849, 2146)
    known = [*(f"math500-test/test/intermediate_algebra/{number}.json" for number in algebra)]
    known.append("math500-test/test/counting_and_probability/1003.json")
    assert sorted(leaks["contaminated_by"]) == sorted(known)


@pytest.mark.shared
def test_known_leaks_are_found_and_clean_sets_stay_clean(shared: Path, tmp_path: Path) -> None:
    data = shared / "data"
    mmlu = _contaminated(data / "deepscaler/train_math.json", data / "mmlu_stem/test.jsonl")
    others = mmlu.filter(pl.col("drop_detail").str.json_path_match("$.method") != "exact")
    assert mmlu.height - others.height == 74
    # its formulas are set off on lines of their own, its answer is 12^{1/7} for 12^(1/7)
    assert others["contaminated_by"].to_list() == ["mmlu_stem-test/1076"]
    assert _contaminated(data / "gsm8k/train.jsonl", data / "gsm8k/test.jsonl").height == 0
    aime = [data / "aime24/test.jsonl", data / "aime25/aime25.parquet"]
    assert _contaminated(data / "deepscaler/train_aime.json", *aime).height == 0
    amc = _contaminated(data / "talscq/en_single_choice_train_3K.jsonl", data / "deepscaler/test_amc.json")
    assert amc.height == 3
    mbpp = pl.read_ndjson(data / "mbpp/mbpp.jsonl")
    mbpp.filter(pl.col("task_id").is_between(11, 510)).write_ndjson(tmp_path / "bench.jsonl")
    mbpp.filter(pl.col("task_id") > 600).write_ndjson(tmp_path / "train.jsonl")
    code = _contaminated(tmp_path / "train.jsonl", tmp_path / "bench.jsonl")
    assert {f"bench/{number}" for number in (216, 217, 248)} <= set(code["contaminated_by"])
    # to the left and to the right are two tasks
    assert not {"bench/311", "bench/328"} & set(code["contaminated_by"])
