"""Generation with transformers, for machines without vLLM: padded batches, one after the other, in a thread.

Each row of a batch draws with its own seeded generator: it adds Gumbel noise to the logits and takes the largest, which
is an exact sample from the softmax. So a sample does not depend on the other rows of its batch.
"""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import torch
from transformers import (
    AutoModelForCausalLM,
    AutoTokenizer,
    LogitsProcessorList,
    TemperatureLogitsWarper,
    TopKLogitsWarper,
    TopPLogitsWarper,
)
from transformers.utils.logging import disable_progress_bar

from curate.engines.chat import Rendered, render, skips_special
from curate.engines.config import EngineConfig, Settled
from curate.engines.protocol import Completion, Request
from curate.errors import UserError

MAX_BATCH: Final = 32
TINY: Final = 1e-20


class Pending(NamedTuple):
    """A rendered request that waits for a batch."""

    request: Request
    prompt: Rendered
    answer: asyncio.Future[Completion]


class TransformersEngine:
    """A model in this process; it batches waiting requests, up to `MAX_BATCH`, and completes each batch."""

    def __init__(self, settled: Settled) -> None:
        self._config, self._identity = settled.config, settled.identity
        self._device = "cuda" if torch.cuda.is_available() else "cpu"
        disable_progress_bar()
        try:
            self._tokenizer = AutoTokenizer.from_pretrained(settled.folder, padding_side="left")
            model = AutoModelForCausalLM.from_pretrained(settled.folder, dtype=self._config.dtype)
        except (OSError, ValueError, RuntimeError) as error:
            first = str(error).strip().splitlines()[0]
            raise UserError(f"{self._config.model}: transformers can't load it ({first[:200]})") from error
        self._skip_special = skips_special(self._tokenizer)
        self._model = model.to(self._device).eval()
        self._inbox: queue.SimpleQueue[Pending | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._serve, name="transformers", daemon=True)
        self._thread.start()

    def identity(self) -> dict[str, str]:
        """See `Engine`."""
        return self._identity

    async def complete(self, request: Request) -> Completion:
        """See `Engine`."""
        prompt = render(request, self._config, self._tokenizer)
        answer: asyncio.Future[Completion] = asyncio.get_running_loop().create_future()
        self._inbox.put(Pending(request, prompt, answer))
        return await answer

    def close(self) -> None:
        """See `Engine`."""
        self._inbox.put(None)
        self._thread.join()

    def _serve(self) -> None:
        while (batch := self._next_batch()) is not None:
            loop = batch[0].answer.get_loop()
            try:
                completions = self._generate(batch)
            except Exception as failure:  # noqa: BLE001  # it must reach the waiting callers, or they block
                for pending in batch:
                    loop.call_soon_threadsafe(pending.answer.set_exception, failure)
            else:
                loop.call_soon_threadsafe(_settle, batch, completions)

    def _next_batch(self) -> list[Pending] | None:
        first = self._inbox.get()
        if first is None:
            return None
        batch = [first]
        while len(batch) < MAX_BATCH and not self._inbox.empty():
            if (pending := self._inbox.get()) is None:
                # close() comes after the last request; keep its mark for the next call
                self._inbox.put(None)
                break
            batch.append(pending)
        return batch

    def _generate(self, batch: Sequence[Pending]) -> list[Completion]:
        ends = self._end_tokens()
        width = max(len(pending.prompt.tokens) for pending in batch)
        # left padding with any token: the mask hides it
        padded = [[ends[0]] * (width - len(a.prompt.tokens)) + a.prompt.tokens for a in batch]
        mask = [[0] * (width - len(a.prompt.tokens)) + [1] * len(a.prompt.tokens) for a in batch]
        with torch.inference_mode():
            output = self._model.generate(
                input_ids=torch.tensor(padded, device=self._device),
                attention_mask=torch.tensor(mask, device=self._device),
                max_new_tokens=max(pending.prompt.max_tokens for pending in batch),
                do_sample=False,
                logits_processor=_sampler(self._config, [pending.request.seed for pending in batch], self._device),
                pad_token_id=ends[0],
                **self._stop_arguments(),
            )
        return [self._read(a, row[width:].tolist(), set(ends)) for a, row in zip(batch, output, strict=True)]

    def _end_tokens(self) -> list[int]:
        found = self._model.generation_config.eos_token_id
        ends = found if isinstance(found, list) else [self._tokenizer.eos_token_id if found is None else found]
        return [0] if ends == [None] else ends

    def _stop_arguments(self) -> dict[str, Any]:  # Any: keyword arguments of generate
        return {"stop_strings": list(self._config.stop), "tokenizer": self._tokenizer} if self._config.stop else {}

    def _read(self, pending: Pending, tokens: list[int], ends: set[int]) -> Completion:
        tokens = tokens[: pending.prompt.max_tokens]
        length = next((at for at, token in enumerate(tokens) if token in ends), len(tokens))
        num_tokens = min(length + 1, len(tokens))
        text = self._tokenizer.decode(tokens[:length], skip_special_tokens=self._skip_special)
        cuts = [at for stop in self._config.stop if (at := text.find(stop)) >= 0]
        has_ended = length < len(tokens) or bool(cuts)
        text = pending.prompt.prefix + (text[: min(cuts)] if cuts else text)
        request = pending.request
        reason = "stop" if has_ended else "length"
        return Completion(request.key, request.index, text, num_tokens, reason, request.seed)


class _GumbelNoise:
    """A logits processor: its largest output is a sample from the softmax of its input, with a seed per row."""

    def __init__(self, seeds: Sequence[int], device: str) -> None:
        self._generators = [torch.Generator(device).manual_seed(seed) for seed in seeds]

    def __call__(self, _: Any, logits: Any) -> Any:  # [batch, vocabulary], as transformers passes it
        vocabulary = logits.shape[-1]
        uniform = torch.stack(
            [torch.rand(vocabulary, generator=generator, device=logits.device) for generator in self._generators]
        )
        return logits.float() - torch.log(-torch.log(uniform + TINY) + TINY)


def _sampler(config: EngineConfig, seeds: Sequence[int], device: str) -> Any:
    steps = LogitsProcessorList()
    if config.temperature == 0:
        return steps
    if config.temperature != 1:
        steps.append(TemperatureLogitsWarper(config.temperature))
    if config.top_k:
        steps.append(TopKLogitsWarper(config.top_k))
    if config.top_p < 1:
        steps.append(TopPLogitsWarper(config.top_p))
    steps.append(_GumbelNoise(seeds, device))
    return steps


def _settle(batch: Sequence[Pending], completions: Sequence[Completion]) -> None:
    for pending, completion in zip(batch, completions, strict=True):
        if not pending.answer.done():
            pending.answer.set_result(completion)
