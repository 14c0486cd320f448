"""Names of options in other trainers and engines, and what Gradus calls them: the hint of an unknown option.

One table for the error line and for docs/cli.md. A target is an option of some command, or a phrase that says what
decides the setting here.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Final

# TRL's and transformers' arguments, then open-instruct's, then vLLM's; several names of one setting share a line
NAMES: Final[dict[tuple[str, ...], tuple[str, ...]]] = {
    ("num_generations", "num_samples_per_prompt_rollout", "rollout_n"): ("--group-size",),
    ("n", "num_samples"): ("--k", "--n", "--group-size"),
    ("num_unique_prompts_rollout", "rollout_batch_size"): ("--num-problems",),
    ("beta", "kl_loss_coef"): ("--kl-coef",),
    ("max_completion_length", "max_new_tokens", "response_length", "max_response_length"): ("--max-tokens",),
    ("per_device_train_batch_size", "micro_train_batch_size"): ("--micro-batch-size",),
    ("train_batch_size", "per_device_eval_batch_size"): ("--batch-size", "--num-problems"),
    ("lr",): ("--learning-rate",),
    ("lr_scheduler_type", "lr_scheduler"): ("--schedule",),
    ("steps_per_generation",): ("--updates-per-generation",),
    ("num_iterations", "num_epochs_per_rollout"): ("--passes-per-generation",),
    ("loss_type", "scale_rewards", "adv_estimator", "advantage_normalization_type"): ("--objective",),
    ("reward_funcs", "reward_func"): ("--rewards",),
    ("model_name_or_path", "model_name", "pretrain"): ("--model",),
    ("dataset_name", "dataset_mixer_list", "train_file", "dataset"): ("--data",),
    ("output_dir", "save_path"): ("--out",),
    ("use_vllm",): ("--vllm",),
    ("lora_r", "use_peft"): ("--lora-rank",),
    ("lora_alpha",): ("--lora.alpha",),
    ("top_p",): ("--sampling.top-p", "--top-p"),
    ("top_k",): ("--sampling.top-k", "--top-k"),
    ("max_grad_norm",): ("--optimizer.max-grad-norm",),
    ("report_to",): ("--logging.report-to",),
    ("bf16", "fp16", "torch_dtype"): ("--dtype",),
    ("save_total_limit",): ("--saving.keep-checkpoints",),
    ("log_completions",): ("--save-completions",),
    ("eval_dataset", "eval_dataset_name"): ("--eval-data",),
    ("dynamic_sampling", "filter_groups"): ("--refill-rounds",),
    ("system_prompt",): ("--system",),
    ("enable_thinking",): ("--thinking",),
    ("max_model_len", "vllm_max_model_length"): ("--max-tokens",),
    ("api_base",): ("--base-url",),
}
# settings that no option sets, with what decides them
DECIDED: Final[dict[tuple[str, ...], str]] = {
    ("num_train_epochs", "num_episodes", "total_episodes"): "a run has no epochs: the curriculum draws for --max-steps",
    ("gradient_accumulation_steps",): "it follows from --num-problems, --group-size and --micro-batch-size",
    ("generation_batch_size",): "it is --num-problems times --group-size",
    ("max_prompt_length",): "prompts too long for the model's context are named and left out before training",
    ("mask_truncated_completions",): "--truncated undecided leaves them out, of the baseline too",
    ("epsilon", "epsilon_high", "clip_higher", "delta", "importance_sampling_level", "adam_beta2", "weight_decay"): (
        "the objective sets it, or --trl '{NAME: VALUE}' by TRL's name"
    ),
    ("eval_strategy", "eval_on_start"): "--eval-data and --eval-steps; the start is always evaluated",
    ("shuffle_dataset", "dataloader_num_workers"): "the curriculum draws the problems: --curriculum",
    ("deepspeed", "fsdp", "num_processes"): "accelerate launch with a file of gradus train accelerate-config",
    ("logging_first_step",): "the first step is always logged",
}


def hint(unknown: str, known: Collection[str]) -> str | None:
    """What the option `unknown` is called here, if another tool has it and a command of options `known` does too."""
    name = unknown.lstrip("-").partition("=")[0].replace("-", "_").rpartition(".")[2]
    for names, targets in NAMES.items():
        if name in names and (ours := [target for target in targets if target in known]):
            return f"{unknown} is {' or '.join(ours)} here"
    if "--trl" not in known and "--max-steps" not in known:
        return None
    return next((f"{unknown}: {text}" for names, text in DECIDED.items() if name in names), None)


def rows() -> Iterator[tuple[str, str]]:
    """The table for the docs: the names elsewhere, and the option or what decides the setting."""
    for names, targets in NAMES.items():
        yield ", ".join(f"`{name}`" for name in names), " or ".join(f"`{target}`" for target in targets)
    for names, text in DECIDED.items():
        yield ", ".join(f"`{name}`" for name in names), text
