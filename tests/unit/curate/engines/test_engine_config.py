"""The choice of an engine and its identity, without loading a model."""

import json
from pathlib import Path
from typing import Any

import pytest

from curate.config import parse
from curate.engines import EngineConfig, settle
from curate.errors import UserError


def model(folder: Path, **changes: Any) -> Path:
    """The files of a model: enough to identify, too little to load."""
    files: dict[str, Any] = {
        "config.json": {"max_position_embeddings": 4096},
        "tokenizer_config.json": {"chat_template": "{{ messages }}"},
        "tokenizer.json": {},
        **changes,
    }
    folder.mkdir(parents=True)
    (folder / "model.safetensors").write_bytes(b"weights")
    for name, content in files.items():
        (folder / name).write_text(json.dumps(content))
    return folder


def test_equal_files_are_the_same_model_in_any_folder(tmp_path: Path) -> None:
    here, there = (EngineConfig(model=str(model(tmp_path / name / "model"))) for name in ("here", "there"))
    assert settle(here).identity == settle(there).identity
    assert (settle(here).model_name, settle(there).model_name) == ("here/model", "there/model")


@pytest.mark.parametrize("name", ["config.json", "tokenizer.json", "tokenizer_config.json", "generation_config.json"])
def test_every_deciding_file_changes_the_digest(tmp_path: Path, name: str) -> None:
    plain = settle(EngineConfig(model=str(model(tmp_path / "plain")))).identity["model"]
    content = {"max_position_embeddings": 4096, "chat_template": "x", "changed": True}
    changed = settle(EngineConfig(model=str(model(tmp_path / "changed", **{name: content})))).identity["model"]
    assert plain != changed


def test_training_files_beside_a_model_do_not_change_the_digest(tmp_path: Path) -> None:
    folder = model(tmp_path / "model")
    before = settle(EngineConfig(model=str(folder))).identity
    (folder / "optimizer.pt").write_bytes(b"state")
    (folder / "trainer_state.json").write_text("{}")
    model(folder / "checkpoint-7")
    assert settle(EngineConfig(model=str(folder))).identity == before


def test_a_retrained_model_gets_another_digest_in_the_same_process(tmp_path: Path) -> None:
    folder = model(tmp_path / "model")
    before = settle(EngineConfig(model=str(folder))).identity
    (folder / "model.safetensors").write_bytes(b"other weights")
    assert settle(EngineConfig(model=str(folder))).identity != before


def test_sampling_and_prompt_are_part_of_the_identity_and_devices_are_not(tmp_path: Path) -> None:
    folder = str(model(tmp_path / "model"))
    plain = settle(EngineConfig(model=folder)).identity
    assert settle(EngineConfig(model=folder, temperature=0.5)).identity != plain
    assert settle(EngineConfig(model=folder, system="Think.")).identity != plain
    assert settle(EngineConfig(model=folder, tensor_parallel_size=8, max_in_flight=3)).identity == plain


def test_auto_takes_the_engine_that_the_other_options_imply(tmp_path: Path) -> None:
    (tmp_path / "script.json").write_text("{}")
    assert settle(EngineConfig(script=tmp_path / "script.json")).config.engine == "scripted"
    assert settle(EngineConfig(base_url=("http://a/v1",), model="m")).config.engine == "server"
    assert settle(EngineConfig(model=str(model(tmp_path / "model")))).config.engine in ("vllm", "transformers")


def test_how_thinking_was_switched_off_is_recorded(tmp_path: Path) -> None:
    switch = {"chat_template": "{% if enable_thinking %}"}
    folder = model(tmp_path / "model", **{"tokenizer_config.json": switch})
    assert (
        '"no_think_by":"enable_thinking"' in settle(EngineConfig(model=str(folder), thinking="off")).identity["prompt"]
    )


@pytest.mark.parametrize(
    ("settings", "line"),
    [
        ({"model": "/nowhere/model"}, "there is no such folder"),
        ({"model": "./nowhere"}, "there is no such folder"),
        ({}, "--model is missing"),
        ({"engine": "scripted"}, "needs a JSON file of answers"),
        ({"engine": "server", "model": "m"}, "needs --base-url"),
        ({"base_url": ["http://a/v1"]}, "needs --model"),
    ],
)
def test_a_model_that_cannot_be_found_is_one_line(settings: dict[str, Any], line: str) -> None:
    with pytest.raises(UserError, match=line) as caught:
        settle(parse(EngineConfig, settings, "--"))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("changes", "settings", "line"),
    [
        ({"config.json": {}, "tokenizer_config.json": {}}, {}, "no chat template"),
        ({"config.json": {"max_position_embeddings": 512}}, {}, "lower it"),
        ({}, {"max_model_len": 1024}, "lower it"),
    ],
)
def test_options_that_do_not_fit_the_model_are_one_line(
    tmp_path: Path, changes: dict[str, Any], settings: dict[str, Any], line: str
) -> None:
    folder = model(tmp_path / "model", **changes)
    with pytest.raises(UserError, match=line):
        settle(EngineConfig(model=str(folder), **settings))


def test_the_error_for_a_folder_without_a_model_names_the_missing_file(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"no config\.json"):
        settle(EngineConfig(model=str(tmp_path)))
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(UserError, match="no weights"):
        settle(EngineConfig(model=str(tmp_path), prompt_format="raw"))
