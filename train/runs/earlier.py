"""Conversion of a run's identity, as an earlier version of gradus wrote it, to the current form.

Settings that are now in tables were top-level keys, and on-policy distillation was `distill` with a teacher. Such a run
resumes, since its settings are compared in the current form.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

# current place of each key, as `table.setting`
SHARED: Final = {
    "learning_rate": "optimizer.learning_rate", "schedule": "optimizer.schedule",
    "warmup_steps": "optimizer.warmup_steps", "max_grad_norm": "optimizer.max_grad_norm",
    "micro_batch_size": "compute.micro_batch_size", "dtype": "compute.dtype",
    "lora_rank": "lora.rank", "lora_alpha": "lora.alpha", "logging_steps": "logging.steps",
    "prompt_format": "prompt.prompt_format", "system": "prompt.system", "template": "prompt.template",
    "thinking": "prompt.thinking", "no_think_by": "prompt.no_think_by",
}  # fmt: skip
SAMPLING: Final = {
    "temperature": "sampling.temperature", "top_p": "sampling.top_p", "top_k": "sampling.top_k",
}  # fmt: skip
GRPO: Final = {
    **SHARED, **SAMPLING, "max_tokens": "sampling.max_tokens", "vllm": "sampling.vllm",
    "num_problems": "generation.num_problems", "group_size": "generation.group_size",
    "updates_per_generation": "generation.updates", "passes_per_generation": "generation.passes",
    "refill_rounds": "generation.refill_rounds", "rewards": "rewards.names", "reward_weights": "rewards.weights",
    "length_warmup_steps": "rewards.length_warmup_steps", "overlong_cache": "rewards.overlong_cache",
    "probe_steps": "probe.steps", "probe_n": "probe.n",
}  # fmt: skip
MOVED: Final[Mapping[str, Mapping[str, str]]] = {
    "grpo": GRPO,
    "expert-iteration": {**SHARED, **SAMPLING, "engine": "sampling.engine"},
    **dict.fromkeys(("sft", "distill", "distill-on-policy", "fuse", "shortest"), SHARED),
}
# settings of the other distillation, which each one ignored
ONLY_ON_POLICY: Final = ("teacher", "divergence", "temperature", "vllm")
ONLY_OFF_POLICY: Final = ("per_problem", "packing", "completion_column")


# settings that no longer decide a result, which may differ when a run resumes
FREE: Final = (("compute", "micro_batch_size"), ("logging", "steps"))


# settings that came later, with the value that an earlier version behaved by
LATER: Final[Mapping[str, Mapping[str, Any]]] = {
    "verify": {"unevaluated": "accept", "asked_form": "ignored", "rel_tol": 0.0, "sig_figs": 0, "verifiers": []},
    "judge": {"style": "plain", "prompt": None},
    "curriculum": {
        "groups": ["source", "level"],
        "mix": None,
        "mix_by": "source",
        "mix_floor": 0.2,
        "canaries": 0.0,
        "canary_alpha": 0.01,
        "suspect_alpha": 0.0,
    },
    "generation": {"screen": 0},
}
# settings that came later beside another one
LATER_BESIDE: Final = (
    ("verify", "verify_by_source", None), ("objective", "pass_k", 4), ("generation", "unfinished_penalty", 0.0),
    ("generation", "malformed_penalty", 0.0),
)  # fmt: skip


def in_current_form(identity: Mapping[str, Any]) -> dict[str, Any]:  # Any: what a YAML file holds
    """The identity with its settings in their current places; one in the current form is unchanged."""
    command, config = str(identity.get("command")), dict(identity.get("config") or {})
    if command == "distill" and "teacher" in config:
        command, ignored = (
            ("distill", ONLY_ON_POLICY) if config["teacher"] is None else ("distill-on-policy", ONLY_OFF_POLICY)
        )
        config = {name: value for name, value in config.items() if name not in ignored}
    moved: dict[str, Any] = {}
    for name, value in config.items():
        # `rewards` is now a table and was a list
        place = None if isinstance(value, Mapping) else MOVED.get(command, {}).get(name)
        table, _, setting = (place or name).rpartition(".")
        moved[table or setting] = {**moved.get(table, {}), setting: value} if table else value
    for table, setting in FREE:
        if isinstance(moved.get(table), Mapping):
            moved[table] = {name: value for name, value in moved[table].items() if name != setting}
    for table, settings in LATER.items():
        if isinstance(moved.get(table), Mapping):
            moved[table] = {**settings, **moved[table]}
    for table, setting, value in LATER_BESIDE:
        if table in moved:
            moved.setdefault(setting, value)
    return {**identity, "command": command, "config": moved}
