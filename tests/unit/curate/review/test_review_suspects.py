"""Suspects of a training run under review: first, the surest before all, with what the completions say."""

import json
from pathlib import Path
from typing import Any

import pytest
from support.review_pool import make_artifact

from curate.artifacts.artifact import open_artifact
from curate.errors import UserError
from curate.review.queue import QueueConfig, build_queue


def suspect(key: str, bound: float) -> dict[str, Any]:
    return {"key": key, "answer": "12", "num": 9, "num_right": 1, "total": 10, "bound": bound, "share": 0.9}


def written(path: Path, found: Any) -> Path:
    path.write_text(json.dumps(found))
    return path


def test_suspects_come_first_the_surest_before_all(tmp_path: Path) -> None:
    artifact = open_artifact(make_artifact(tmp_path / "clean"))
    keys = artifact.read("kept")["key"].to_list()
    file = written(
        tmp_path / "s.json", [suspect(keys[2], 0.6), suspect("of another dataset", 0.9), suspect(keys[0], 0.8)]
    )
    plain = build_queue([artifact], QueueConfig(num_audit=9))
    shown = build_queue([artifact], QueueConfig(num_audit=9, suspects=file))
    assert [(entry.queue, entry.key) for entry in shown[:2]] == [("suspect_truth", keys[0]), ("suspect_truth", keys[2])]
    assert {entry.key for entry in shown} == {entry.key for entry in plain}
    assert len(shown) == len(plain)
    few = build_queue([artifact], QueueConfig(num_audit=0, num_each=1, suspects=file))
    assert [entry.key for entry in few if entry.queue == "suspect_truth"] == [keys[0]]


def test_the_page_says_what_the_completions_agree_on(tmp_path: Path) -> None:
    pytest.importorskip("fastapi", reason="the extra `review` is not installed")
    from curate.review.server import shown

    artifact = open_artifact(make_artifact(tmp_path / "clean"))
    file = written(tmp_path / "s.json", [suspect(artifact.read("kept")["key"][1], 0.6)])
    entry = build_queue([artifact], QueueConfig(num_audit=0, suspects=file))[0]
    evidence = dict(shown(entry, {str(artifact.folder): artifact})["evidence"])
    assert evidence["kept as"] == "a suspect of a training run"
    assert evidence["completions agree on"] == "12"
    assert evidence["share"].startswith("9 of 10")
    assert evidence["the truth is given by"] == "1 of 10"


def test_an_empty_list_changes_nothing(tmp_path: Path) -> None:
    artifact = open_artifact(make_artifact(tmp_path / "clean"))
    config = QueueConfig(num_audit=3)
    with_none = config.model_copy(update={"suspects": written(tmp_path / "s.json", [])})
    assert build_queue([artifact], with_none) == build_queue([artifact], config)


@pytest.mark.parametrize(
    ("found", "message"),
    [
        ([{"key": "k"}], "is no list of suspects; write it with gradus curriculum suspects"),
        ({"a": 1}, "is no list of suspects"),
        ([suspect("of another dataset", 0.9)], "none of its 1 problems is in these artifacts"),
        ([{**suspect("k", 0.9), "bound": None}], "is no list of suspects"),
    ],
)
def test_another_file_is_refused_in_one_line(tmp_path: Path, found: Any, message: str) -> None:
    artifact = open_artifact(make_artifact(tmp_path / "clean"))
    with pytest.raises(UserError, match=message):
        build_queue([artifact], QueueConfig(suspects=written(tmp_path / "s.json", found)))


def test_a_missing_file_and_text_are_refused_in_one_line(tmp_path: Path) -> None:
    artifact = open_artifact(make_artifact(tmp_path / "clean"))
    with pytest.raises(UserError, match="no such file"):
        build_queue([artifact], QueueConfig(suspects=tmp_path / "none.json"))
    (tmp_path / "s.txt").write_text("1 suspects; a problem")
    with pytest.raises(UserError, match="is not JSON"):
        build_queue([artifact], QueueConfig(suspects=tmp_path / "s.txt"))
