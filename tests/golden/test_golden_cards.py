"""Cards that are committed, built anew and compared: a change of one is a change that somebody looked at."""

from pathlib import Path

import pytest
from golden import check, looks_alike, texts_of
from small_run import write_run

from data_cards.build import build
from data_cards.card_config import CardConfig

HERE = Path(__file__).parent
CONFIG = CardConfig(name="Golden", description="A small dataset that is built in every test.", repo="gradus/golden")


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    build(write_run(tmp_path / "run", facts={"model": "tiny"}), tmp_path / "dataset", CONFIG)
    return tmp_path / "dataset"


def test_the_small_card_is_the_committed_one(dataset: Path) -> None:
    check(dataset, HERE / "small")


def test_a_changed_word_row_or_picture_is_seen(dataset: Path, tmp_path: Path) -> None:
    before = texts_of(dataset)
    assert not any(len(word) == 64 and set(word) <= set("0123456789abcdef") for word in before["README.md"].split("`"))
    build(write_run(tmp_path / "other", limit=5, facts={"model": "tiny"}), tmp_path / "changed", CONFIG)
    after = texts_of(tmp_path / "changed")
    assert {name for name in before if before[name] != after[name]} == {*before} - {"croissant.json"}
    plots = [folder / "plots" / "difficulty.png" for folder in (dataset, tmp_path / "changed")]
    assert looks_alike(plots[0], plots[0])
    assert not looks_alike(*plots)
