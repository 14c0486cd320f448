"""Committed cards, rebuilt and compared, so that every change of a card is reviewed."""

import importlib
from pathlib import Path

import pytest
import yaml
from support.golden import check, looks_alike, texts_of
from support.places import ROOT
from support.small_run import write_run

from curate.pipeline import read_pipeline, run_pipeline
from data_cards.build import build
from data_cards.config import CardConfig

HERE = Path(__file__).parent
WITH_A_MODEL = ("no-think", "difficulty")
CONFIG = CardConfig(name="Golden", description="A small dataset that is built in every test.", repo="gradus/golden")


DEMO = CardConfig(
    name="Gradus demo pool",
    description="The demo's raw pool after the stages that ask no model.",
    licence="Apache-2.0",
    repo="gradus/demo",
)


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    build(write_run(tmp_path / "run", facts={"model": "tiny"}), tmp_path / "dataset", CONFIG)
    return tmp_path / "dataset"


def test_the_small_card_is_the_committed_one(dataset: Path) -> None:
    check(dataset, HERE / "small")


@pytest.fixture
def demo_dataset(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The dataset of the demo's pool, from the stages of its pipeline that need no model."""
    monkeypatch.syspath_prepend(str(ROOT / "demo"))
    pool = importlib.import_module("pool")
    pool.write_raw(tmp_path / "raw", seed=0)
    file = yaml.safe_load((ROOT / "demo" / "pipeline.yaml").read_text().replace("{run}", str(tmp_path)))
    file["stages"] = {name: table for name, table in file["stages"].items() if name not in WITH_A_MODEL}
    (tmp_path / "pipeline.yaml").write_text(yaml.safe_dump(file, sort_keys=False))
    run_pipeline(read_pipeline(tmp_path / "pipeline.yaml"), tmp_path / "run", lambda _: None)
    build(tmp_path / "run", tmp_path / "dataset", DEMO)
    return tmp_path / "dataset"


def test_the_demo_pools_card_is_the_committed_one(demo_dataset: Path) -> None:
    check(demo_dataset, ROOT / "data_cards" / "demo")


def test_a_changed_word_row_or_picture_is_detected(dataset: Path, tmp_path: Path) -> None:
    before = texts_of(dataset)
    assert not any(len(word) == 64 and set(word) <= set("0123456789abcdef") for word in before["README.md"].split("`"))
    build(write_run(tmp_path / "other", limit=5, facts={"model": "tiny"}), tmp_path / "changed", CONFIG)
    after = texts_of(tmp_path / "changed")
    assert {name for name in before if before[name] != after[name]} == {*before} - {"croissant.json"}
    plots = [folder / "plots" / "difficulty.png" for folder in (dataset, tmp_path / "changed")]
    assert looks_alike(plots[0], plots[0])
    assert not looks_alike(*plots)
