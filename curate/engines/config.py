"""Engine options of every stage with a model: the engine, the model, sampling and prompts.

`settle` resolves the options and identifies the model by its files, without loading it; `open_engine` loads it. So a
complete artifact is recognised without starting an engine.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal

from pydantic import Field

from curate.artifacts.manifest import canonical_json, sha256_of, without_path
from curate.config import RUNTIME
from curate.engines import model_files
from curate.engines.prompts import PromptConfig, settle_thinking
from curate.engines.protocol import Sampling
from curate.errors import UserError
from curate.parts import is_installed, require

EngineName = Literal["auto", "vllm", "transformers", "server", "scripted"]


class EngineConfig(PromptConfig, Sampling):
    """A model and its options. Runtime fields stay out of fingerprints; `identity` adds the model's digest."""

    panel: ClassVar[str] = "Model"

    model: str = Field(
        "", description="Model folder or Hub name; for a server, the name it serves.", json_schema_extra=RUNTIME
    )
    engine: EngineName = Field(
        "auto",
        description="Inference backend; auto: server with --base-url, scripted with --script, else vllm if installed, "
        "else transformers.",
        json_schema_extra=RUNTIME,
    )
    base_url: tuple[str, ...] = Field(
        (),
        description="OpenAI-compatible server, e.g. http://host:8000/v1; several share the requests.",
        json_schema_extra=RUNTIME,
    )
    patience_s: float = Field(
        120.0,
        gt=0,
        description="Seconds that all servers may fail or be busy before the run stops.",
        json_schema_extra=RUNTIME,
    )
    request_timeout_s: float = Field(
        3600.0, gt=0, description="Timeout in seconds for one completion of a server.", json_schema_extra=RUNTIME
    )
    script: Path | None = Field(None, description="JSON of scripted answers, for tests.", json_schema_extra=RUNTIME)
    dtype: Literal["auto", "float32", "bfloat16", "float16"] = Field(
        "auto", description="Data type of the weights; auto is the checkpoint's own."
    )
    max_model_len: int | None = Field(
        None, ge=8, description="Context in tokens, prompt and completion together; the model's own by default."
    )
    max_in_flight: int = Field(
        256, ge=1, description="Maximum number of concurrent requests to an engine.", json_schema_extra=RUNTIME
    )
    tensor_parallel_size: int = Field(1, ge=1, description="GPUs that share one model.", json_schema_extra=RUNTIME)
    data_parallel_size: int = Field(1, ge=1, description="Copies of the model in one vLLM.", json_schema_extra=RUNTIME)
    replicas: int = Field(
        1, ge=1, description="Engines on the cluster, with --executor ray.", json_schema_extra=RUNTIME
    )
    gpu_memory_utilization: float = Field(
        0.9,
        gt=0,
        le=1,
        description="Fraction of a GPU's memory for vLLM; without a GPU, of the machine's memory, at most 0.2.",
        json_schema_extra=RUNTIME,
    )


@dataclass(frozen=True)
class Settled:
    """A config without `auto` values, the model's folder if it has one, and the identity."""

    config: EngineConfig
    folder: Path | None
    identity: dict[str, str]

    @property
    def model_name(self) -> str:
        """The model's name for display, without a path of this machine."""
        if self.config.engine == "scripted":
            return "scripted"
        return self.config.model if self.folder is None else _display_name(self.config.model)


def settle(config: EngineConfig) -> Settled:
    """Resolve `auto` and identify the model; raises `UserError` if it is not found or does not fit the options."""
    name = _engine_name(config)
    if name in ("vllm", "transformers"):
        return _settle_local(config.model_copy(update={"engine": name}))
    by = "instruction" if name == "scripted" else "enable_thinking"
    is_auto = config.thinking == "off" and config.no_think_by == "auto"
    settled = config.model_copy(update={"engine": name, **({"no_think_by": by} if is_auto else {})})
    if name == "scripted":
        if config.script is None or not config.script.is_file():
            raise UserError(f"--script is {config.script}; the scripted engine needs a JSON file of answers")
        return Settled(settled, None, _identity(settled, sha256_of(config.script)))
    if not config.base_url or not config.model:
        missing = (
            "--model: name the model as the server does" if config.base_url else "--base-url, as http://host:8000/v1"
        )
        raise UserError(f"the server engine needs {missing}")
    return Settled(settled, None, _identity(settled, f"served:{config.model}"))


def _engine_name(config: EngineConfig) -> EngineName:
    if config.engine != "auto":
        return config.engine
    if config.script is not None:
        return "scripted"
    if config.base_url:
        return "server"
    return "vllm" if is_installed("vllm") else "transformers"


def _settle_local(config: EngineConfig) -> Settled:
    if config.engine == "vllm":
        require("--engine vllm", "vllm", otherwise=", or use --engine transformers")
    else:
        require("--engine transformers", "torch", "transformers", otherwise=", or --base-url of a server")
    if not config.model:
        raise UserError("--model is missing; give a model's folder or its name on the Hub")
    folder = model_files.model_folder(config.model)
    template = model_files.chat_template(folder)
    if config.prompt_format == "chat" and template is None:
        raise UserError(f"{config.model}: has no chat template; use --prompt-format raw with a --template")
    if (context := config.max_model_len or model_files.context_tokens(folder)) and config.max_tokens >= context:
        raise UserError(
            f"--max-tokens is {config.max_tokens}; a context of {context} tokens leaves no room for a prompt, lower it"
        )
    prompts = settle_thinking(config, template, knows_think=model_files.knows_think(folder))
    settled = config.model_copy(update={"no_think_by": prompts.no_think_by, "max_model_len": context})
    return Settled(settled, folder, _identity(settled, model_files.model_digest(folder)))


def _display_name(model: str) -> str:
    """The last two names of a folder (a run and its `model`), no path of this machine; a Hub name unchanged."""
    folder = Path(model).expanduser()
    return without_path(folder.resolve()) if folder.is_dir() else model


def _identity(config: EngineConfig, model: str) -> dict[str, str]:
    return {
        "engine": config.engine,
        "model": model,
        "sampling": canonical_json(config.model_dump(mode="json", include=set(Sampling.model_fields))),
        "prompt": canonical_json(config.model_dump(mode="json", include=set(PromptConfig.model_fields))),
    }
