"""The estimate of a step's memory, and the sequences of a pass that are chosen by it."""

import json
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from support.training.toy_runs import small_toy

from curate.config import parse
from train.grpo.config import GrpoConfig
from train.memory.choice import chosen
from train.memory.devices import spread
from train.memory.estimate import Case, Estimate, Load, Machine, estimate, largest_that_fits
from train.memory.shape import Shape, num_parameters, shape_of
from train.recipes.memory import memory_lines
from train.recipes.plan import Gpus

# the shape of Qwen3-4B by its config.json
QWEN3_4B = {
    "hidden_size": 2560, "intermediate_size": 9728, "num_hidden_layers": 36, "num_attention_heads": 32,
    "num_key_value_heads": 8, "head_dim": 128, "vocab_size": 151936, "tie_word_embeddings": True,
}  # fmt: skip
GB = 10**9


def model_of(folder: Path, **changed: object) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "config.json").write_text(json.dumps({**QWEN3_4B, **changed}))
    return folder


def with_vllm(**settings: object) -> GrpoConfig:
    return parse(GrpoConfig, {"vllm": True, **settings}, "--")


@pytest.fixture
def shape(tmp_path: Path) -> Shape:
    found = shape_of(model_of(tmp_path / "model"))
    assert found is not None
    return found


def test_the_weights_of_a_shape_are_those_of_the_files(tmp_path: Path, shape: Shape) -> None:
    assert shape.parameters == pytest.approx(4.02e9, rel=0.005)  # 4.0B by its card
    small_toy(tmp_path / "toy")
    stored = num_parameters(tmp_path / "toy")
    (tmp_path / "toy" / "model.safetensors").unlink()
    counted = num_parameters(tmp_path / "toy")
    assert stored
    assert counted == pytest.approx(stored, rel=0.05)  # norms and biases are not counted


@pytest.mark.parametrize("config", [{"num_experts": 8}, {"vocab_size": None}, {"hidden_size": "wide"}])
def test_a_model_of_another_kind_has_no_estimate(tmp_path: Path, config: dict[str, object]) -> None:
    assert shape_of(model_of(tmp_path / "model", **config)) is None
    assert shape_of(tmp_path / "nowhere") is None


def test_standing_memory_is_16_bytes_a_weight_and_is_spread_over_devices(shape: Shape) -> None:
    alone = estimate(shape, Load(1, 1, is_half=False), Machine(1, 80 * GB))
    assert (alone.weights + alone.gradients + alone.optimizer) / shape.parameters == 16
    half = estimate(shape, Load(1, 1), Machine(1, 80 * GB))
    assert half.weights / shape.parameters == 6
    sharded = estimate(shape, Load(1, 1), spread(8, 80 * GB, "fsdp"))
    assert sharded.optimizer * 8 == half.optimizer
    assert half.weights / 8 < sharded.weights < half.weights / 4  # one part at a time is gathered
    assert estimate(shape, Load(1, 1), spread(8, 80 * GB, "ddp")).gradients == 2 * half.gradients  # DDP's buckets
    assert estimate(shape, Load(1, 1), spread(8, 80 * GB, "zero2")).weights == half.weights


def test_adapters_train_few_weights_and_a_reference_adds_a_model(shape: Shape) -> None:
    adapted = estimate(shape, Load(1, 1, lora_rank=64), Machine(1, 80 * GB))
    assert adapted.optimizer < 0.05 * 8 * shape.parameters
    assert adapted.weights > 4 * shape.parameters
    with_reference = estimate(shape, Load(1, 1, num_frozen=1), Machine(1, 80 * GB))
    assert with_reference.weights == estimate(shape, Load(1, 1), Machine(1, 80 * GB)).weights + 4 * shape.parameters


def test_recomputing_saves_activations_and_logits_stay(shape: Shape) -> None:
    kept, recomputed = (
        estimate(shape, Load(4096, 4096, recomputes=recomputes), Machine(1, 80 * GB)).sequence
        for recomputes in (False, True)
    )
    assert recomputed < 0.6 * kept
    logits = 4096 * shape.vocabulary * 4
    assert recomputed > 3 * logits


@pytest.mark.parametrize("num_bytes", [10, 30, 80, 200, 2000])
def test_the_choice_is_the_largest_divisor_that_fits(shape: Shape, num_bytes: int) -> None:
    found = estimate(shape, Load(2048, 1024, lora_rank=8), Machine(1, num_bytes * GB))
    micro = largest_that_fits(found, 48)
    assert 48 % micro == 0
    assert micro == 1 or found.fits(micro)
    assert not any(found.fits(more) for more in range(micro + 1, 49) if 48 % more == 0)


def test_one_line_says_what_was_chosen_and_a_warning_what_needs_less() -> None:
    found = Estimate(16 * GB, 0, 0, sequence=10 * GB, generation=0, vllm=24 * GB, num_bytes=80 * GB)
    micro, lines = chosen(found, 8, None)
    assert micro == 2
    assert len(lines) == 1
    arithmetic = "weights 16.0 + activations of 2 sequences 20.0 + vLLM 24.0 = 60.0 of 80.0 GB"
    assert lines[0] == f"memory of a device, estimated: {arithmetic}; --micro-batch-size 2 of 8 (chosen)"
    micro, lines = chosen(found, 8, 8)
    assert micro == 8
    assert lines[0].endswith("(given)")
    assert "less need --micro-batch-size 2, " in lines[1]
    sampling = replace(found, generation=70 * GB)
    micro, lines = chosen(sampling, 8, None)
    assert micro == 2  # fewer sequences in a pass would not help sampling
    assert "less need --vllm, " in lines[1]


def test_grpos_load_follows_its_settings() -> None:
    case = Case(num_prompt_tokens=100, num_generated=256, is_gpu=True)
    plain = GrpoConfig(objective="dr_grpo").load(case)
    assert (plain.num_tokens, plain.num_scored, plain.num_generated, plain.num_frozen) == (1124, 1024, 256, 0)
    assert plain.is_half
    assert plain.recomputes
    served = with_vllm(kl_coef=0.1).load(case)
    assert (served.num_generated, served.vllm_share, served.num_frozen) == (0, 0.3, 1)
    assert with_vllm(trl={"vllm_gpu_memory_utilization": 0.5}).load(case).vllm_share == 0.5
    assert with_vllm(trl={"vllm_mode": "server"}).load(case).vllm_share == 0
    assert not GrpoConfig().load(replace(case, is_gpu=False)).is_half


def test_a_recipe_without_the_models_shape_says_so() -> None:
    lines = list(memory_lines(Gpus(num=1, gb=80), [], "org/model", pl.DataFrame({"prompt": ["x"]})))
    assert lines[-1] == "memory unknown without the model's config.json; give a folder as --model"
