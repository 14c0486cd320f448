"""vLLM in this process: requests join its running batch when they arrive and leave it when they finish.

Prompts are rendered and measured here, so vLLM sees tokens only. Every request has its own seed. `_for_cpu` has the
settings for a CPU, `vllm_drivers` the two ways to drive vLLM.
"""

from __future__ import annotations

import json
import logging
import os
import warnings
from dataclasses import replace
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from curate.artifacts.manifest import canonical_json
from curate.engines.chat import render, skips_special
from curate.engines.config import EngineConfig, Settled
from curate.engines.prompts import PromptConfig
from curate.engines.protocol import Completion, Request, Sampling
from curate.engines.warm import Shelf
from curate.errors import UserError
from curate.progress import announce

if TYPE_CHECKING:
    from curate.engines.vllm_drivers import Driver

NUM_PROMPTS: Final = 2048
CPU_MEMORY: Final = 0.2
CPU_BATCHED_TOKENS: Final = 4096


class VllmEngine:
    """A model served by vLLM without a server. Starting it takes at least 5 s on a CPU."""

    def __init__(self, settled: Settled, shelf: Shelf) -> None:
        if settled.folder is None:
            raise RuntimeError("the vllm engine was opened without a model folder")
        self._config, self._identity = settled.config, settled.identity
        self._tokenizer = _load_tokenizer(settled)
        self._skip_special = skips_special(self._tokenizer)
        # the samples of a problem have one prompt: it is put into tokens once
        self._render = lru_cache(maxsize=NUM_PROMPTS)(partial(render, config=self._config, tokenizer=self._tokenizer))
        self._started_as = _started_as(settled)
        self._shelf = shelf
        self._driver = shelf.take(self._started_as, partial(_start, settled.config, settled.folder))

    def identity(self) -> dict[str, str]:
        """See `Engine`."""
        return self._identity

    async def complete(self, request: Request) -> Completion:
        """See `Engine`."""
        from vllm import TokensPrompt

        prompt = self._render(replace(request, index=0, seed=0))
        request_id = f"{request.key}-{request.index}"
        try:
            output = await self._driver.generate(
                request_id, TokensPrompt(prompt_token_ids=prompt.tokens), self._params(request, prompt.max_tokens)
            )
        except Exception as error:
            # vLLM documents no base of what can end its engine; any of it means the same for the user
            raise UserError(f"vLLM stopped ({_first_line(error)}); run the same command again to resume") from error
        completed = output.outputs[0]
        reason = "length" if completed.finish_reason == "length" else "stop"
        text = prompt.prefix + completed.text
        return Completion(request.key, request.index, text, len(completed.token_ids), reason, request.seed)

    def close(self) -> None:
        """See `Engine`."""
        self._shelf.leave(self._started_as, self._driver)

    def _params(self, request: Request, max_tokens: int) -> Any:
        from vllm import SamplingParams
        from vllm.sampling_params import RequestOutputKind

        return SamplingParams(
            max_tokens=max_tokens,
            temperature=self._config.temperature,
            top_p=self._config.top_p,
            top_k=self._config.top_k,
            stop=list(self._config.stop),
            seed=request.seed,
            skip_special_tokens=self._skip_special,
            output_kind=RequestOutputKind.FINAL_ONLY,
        )


def _load_tokenizer(settled: Settled) -> Any:
    from transformers import AutoTokenizer

    try:
        return AutoTokenizer.from_pretrained(settled.folder)
    except (OSError, ValueError) as error:
        raise UserError(f"{settled.config.model}: its tokenizer does not load ({_first_line(error)})") from error


def _started_as(settled: Settled) -> str:
    """The parameters of a started vLLM: the model and the options that do not belong to one request."""
    options = set(EngineConfig.model_fields) - set(Sampling.model_fields) - set(PromptConfig.model_fields)
    chosen = settled.config.model_dump(mode="json", include=options)
    return canonical_json({**chosen, "model": settled.identity["model"], "folder": str(settled.folder)})


def _start(config: EngineConfig, folder: Path) -> Driver:
    _hush()
    announce(f"starting vLLM with {config.model}")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            from curate.engines.vllm_drivers import AsyncDriver, SteppedDriver

            if is_cpu() and config.data_parallel_size == config.tensor_parallel_size == 1:
                os.environ["VLLM_ENABLE_V1_MULTIPROCESSING"] = "0"
                return SteppedDriver(arguments(config, folder))
            return AsyncDriver(arguments(config, folder))
    except (ValueError, RuntimeError, OSError, ImportError) as error:
        raise UserError(
            f"{config.model}: vLLM does not start ({_first_line(error)}); VLLM_LOGGING_LEVEL=INFO shows more"
        ) from error


def _hush() -> None:
    """Silence start-up messages that a user cannot act on, unless the environment sets a level."""
    os.environ.setdefault("VLLM_LOGGING_LEVEL", "ERROR")
    logging.getLogger("torch._library.triton").setLevel(logging.ERROR)  # no triton on a machine without a GPU


def is_cpu() -> bool:
    """Whether vLLM will run on the CPU."""
    from vllm.platforms import current_platform

    return bool(current_platform.is_cpu())


def arguments(config: EngineConfig, folder: Path) -> dict[str, Any]:
    """The arguments to start vLLM with: `EngineArgs` of a settled config."""
    common = {
        "model": str(folder),
        "dtype": config.dtype,
        "max_model_len": config.max_model_len,
        "max_num_seqs": config.max_in_flight,
        "tensor_parallel_size": config.tensor_parallel_size,
        "data_parallel_size": config.data_parallel_size,
        "gpu_memory_utilization": config.gpu_memory_utilization,
        "enable_prefix_caching": True,
        "disable_log_stats": True,
        "use_tqdm_on_load": False,
        "seed": 0,
    }
    return common | (_for_cpu(config, folder) if is_cpu() else {})


def _for_cpu(config: EngineConfig, folder: Path) -> dict[str, Any]:
    """A CPU build takes compiling for minutes, fp32 checkpoints for bf16, and crashes on seeds in chunked prefill."""
    own = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    return {
        "enforce_eager": True,
        "dtype": own.get("dtype") or own.get("torch_dtype") or "auto" if config.dtype == "auto" else config.dtype,
        "enable_chunked_prefill": False,
        "max_num_batched_tokens": max(CPU_BATCHED_TOKENS, config.max_model_len or 0),
        # a size, not a share: of a share vLLM takes off what this process holds already, and may be left with nothing
        "kv_cache_memory_bytes": int(min(config.gpu_memory_utilization, CPU_MEMORY) * memory_bytes()),
    }


def memory_bytes() -> int:
    """Memory of this machine."""
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def _first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return lines[0][:200] if lines else type(error).__name__
