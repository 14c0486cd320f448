"""The card of a trained model names its base and its data, on the Hub or here."""

from pathlib import Path
from typing import Any

import pytest
from huggingface_hub import ModelCard
from support.training.toy_runs import train_copier

from train.runs.model_card import model_card

RUN: dict[str, Any] = {
    "command": "grpo",
    "model": "Qwen/Qwen3-4B",
    "data": "/somewhere/private/dataset",
    "model_digest": "ab" * 32,
    "data_digest": "cd" * 32,
    "config": {
        "objective": "dr_grpo",
        "max_steps": 5,
        "rewards": {"names": ["accuracy", "overlong"]},
        "curriculum": None,
    },
}


def test_a_base_on_the_hub_is_linked_and_its_tags_are_valid() -> None:
    card = ModelCard(model_card(RUN, "first"))
    assert card.data.base_model == "Qwen/Qwen3-4B"
    assert card.data.tags == ["gradus", "trl", "rlvr", "grpo"]
    assert (
        "[Qwen/Qwen3-4B](https://huggingface.co/Qwen/Qwen3-4B) trained by `gradus train grpo` on `dataset`" in card.text
    )
    assert "| rewards.names | accuracy, overlong |" in card.text
    assert "| curriculum.policy |" not in card.text
    assert "private" not in card.content


def test_a_base_in_a_folder_is_no_link(tmp_path: Path) -> None:
    card = ModelCard(model_card({**RUN, "model": str(tmp_path), "command": "sft"}, "first"))
    assert card.data.base_model is None
    assert f"`{tmp_path.name}` trained by" in card.text
    assert "huggingface.co" not in card.text


@pytest.mark.heavy
def test_a_trained_model_has_this_card_and_not_trls(tmp_path: Path) -> None:
    model = train_copier(tmp_path, max_steps=2)
    assert "trained by `gradus train sft` on `copy.jsonl`" in (model / "README.md").read_text()
    assert not (model.parent / "README.md").exists()
