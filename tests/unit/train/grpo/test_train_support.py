"""With vLLM the sampler's distribution is the trainer's: what makes it another is refused by name."""

import json
from typing import Any

import pytest

from train.grpo.config import GrpoConfig
from train.grpo.objectives import OBJECTIVES

UNCORRECTED = {"vllm_importance_sampling_correction": False}


@pytest.mark.parametrize(
    ("option", "named"),
    [
        ({"sampling": {"top_p": 0.8}}, r"sampling\.top_p 0\.8 with vllm"),
        ({"sampling": {"top_k": 50}}, r"sampling\.top_k 50 with vllm"),
        ({"trl": {"min_p": 0.05}}, "trl: min_p with vllm"),
        ({"trl": {"repetition_penalty": 1.1}}, "trl: repetition_penalty with vllm"),
        ({"trl": {"vllm_structured_outputs_regex": "[0-9]+"}}, "trl: vllm_structured_outputs_regex with vllm"),
        ({"trl": {"generation_kwargs": {"presence_penalty": 0.5}}}, r"generation_kwargs\.presence_penalty with vllm"),
        ({"trl": {"generation_kwargs": {"min_tokens": 5}}}, r"generation_kwargs\.min_tokens with vllm"),
        ({"trl": {"generation_kwargs": json.dumps({"logit_bias": {"3": 1}})}}, "trl: generation_kwargs with vllm"),
    ],
)
def test_another_distribution_in_vllm_is_refused_unless_nothing_is_corrected(
    option: dict[str, Any], named: str
) -> None:
    with_vllm = {**option, "sampling": {"vllm": True, **option.get("sampling", {})}}
    with pytest.raises(ValueError, match=named):
        GrpoConfig.model_validate(with_vllm)
    GrpoConfig.model_validate({**with_vllm, "trl": {**option.get("trl", {}), **UNCORRECTED}})
    # transformers samples without log-probabilities: nothing is corrected
    GrpoConfig.model_validate(option)


@pytest.mark.parametrize(
    "option",
    [
        {"sampling": {"temperature": 0.7}},
        {"sampling": {"top_p": 1.0, "top_k": 0}},
        {"trl": {"min_p": None, "repetition_penalty": 1.0}},
        {"trl": {"generation_kwargs": {"stop": ["\n\n"]}}},
    ],
)
def test_what_leaves_the_distribution_alone_is_accepted(option: dict[str, Any]) -> None:
    GrpoConfig.model_validate({**option, "sampling": {"vllm": True, **option.get("sampling", {})}})


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_every_objective_trains_on_samples_of_vllm(objective: str) -> None:
    GrpoConfig(objective=objective, vllm=True, updates_per_generation=2)


@pytest.mark.parametrize("vllm", [True, False])
@pytest.mark.parametrize("name", ["temperature", "top_p", "max_new_tokens", "n"])
def test_generation_arguments_that_repeat_an_option_are_refused_with_any_backend(name: str, vllm: bool) -> None:
    with pytest.raises(ValueError, match=f"generation_kwargs sets {name}, which has an option of its own"):
        GrpoConfig.model_validate({"sampling": {"vllm": vllm}, "trl": {"generation_kwargs": {name: 1}}})
