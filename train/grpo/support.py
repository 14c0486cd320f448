"""Checks that trainer and sampler have one distribution, on which the correction for sampling by vLLM depends.

The trainer's log-probabilities are of the whole vocabulary, at the run's temperature. vLLM's are of the tokens that it
may sample: with top_p, top_k, a penalty or a grammar they are renormalised over fewer tokens, and their ratio to the
trainer's is below 1 on policy (0.67 to 0.77 at top_p 0.8). The correction then shrinks gradients and drops completions.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from train.grpo.tables import CompletionSampling

CORRECTION: Final = "vllm_importance_sampling_correction"
# keys of generation_kwargs that repeat settings of the run
OWN_OPTIONS: Final = {
    "temperature": "temperature", "top_p": "sampling.top_p", "top_k": "sampling.top_k", "max_tokens": "max_tokens",
    "max_new_tokens": "max_tokens", "max_length": "max_tokens", "n": "group_size", "num_return_sequences": "group_size",
    "seed": "seed", "do_sample": "temperature", "num_beams": "temperature",
}  # fmt: skip
# keys of generation_kwargs that leave vLLM's distribution as it is
SAME_DISTRIBUTION: Final = frozenset(
    {
        "stop", "stop_token_ids", "ignore_eos", "include_stop_str_in_output", "skip_special_tokens",
        "spaces_between_special_tokens", "detokenize", "truncate_prompt_tokens",
    }
)  # fmt: skip
# TRL's fields that change vLLM's distribution, with their neutral values
NEUTRAL: Final = {"min_p": (None, 0, 0.0), "repetition_penalty": (1, 1.0), "vllm_structured_outputs_regex": (None,)}


def refuse_other_support(sampling: CompletionSampling, trl: Mapping[str, Any]) -> None:  # Any: values of TRL's fields
    """Raise ValueError where sampling differs from what the run states, or from what the correction assumes."""
    given = trl.get("generation_kwargs") or {}
    if isinstance(given, Mapping) and (repeated := [name for name in given if name in OWN_OPTIONS]):
        raise ValueError(
            f"trl: generation_kwargs sets {repeated[0]}, which has an option of its own; use {OWN_OPTIONS[repeated[0]]}"
        )
    if not sampling.vllm or trl.get(CORRECTION, True) is False:
        return
    if (narrowed := _narrowed(sampling, trl, given)) is not None:
        raise ValueError(
            f"{narrowed} with vllm: vLLM then gives log-probabilities of fewer tokens than the trainer, which its "
            f"correction takes for a difference of the models; leave it out, or set trl: {{{CORRECTION}: false}}"
        )


def _narrowed(sampling: CompletionSampling, trl: Mapping[str, Any], given: Any) -> str | None:
    """The first setting that makes vLLM's distribution another than softmax(logits / temperature), None if none does.

    given: TRL's generation_kwargs; TRL also reads it as JSON text, which is not looked into and counts as another.
    """
    if sampling.top_p < 1:
        return f"sampling.top_p {sampling.top_p}"
    if sampling.top_k > 0:
        return f"sampling.top_k {sampling.top_k}"
    changed = [name for name, values in NEUTRAL.items() if name in trl and trl[name] not in values]
    if not isinstance(given, Mapping):
        changed.append("generation_kwargs")
    else:
        changed += [f"generation_kwargs.{name}" for name in given if name not in SAME_DISTRIBUTION]
    return f"trl: {changed[0]}" if changed else None
