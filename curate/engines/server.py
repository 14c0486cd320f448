"""OpenAI-compatible servers: `vllm serve`, SGLang or a hosted API, one or several that share the work.

What can go wrong with a server is told apart by what helps: rest and try another (down, 5xx, nonsense), come back
later (429), drop the problem (prompt too long), or tell the user (wrong key, unknown model, refused request). The
client lives on an event loop of its own, so that it can be closed whichever loop asked.
"""

from __future__ import annotations

import asyncio
import os
import re
import threading
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, Final

import httpx

from curate.engines.config import EngineConfig, Settled
from curate.engines.endpoints import Endpoint, Endpoints
from curate.engines.prompts import EMPTY_THINK, messages, prefill, raw_text, template_switches
from curate.engines.protocol import Completion, PromptTooLong, Request
from curate.errors import UserError

# Any: JSON bodies, which `_read` checks
MAX_NONSENSE: Final = 5
START_TIMEOUT_S: Final = 10.0
TOO_LONG: Final = re.compile(r"context.?length|maximum.{0,20}(?:context|length)|too long|longer than", re.IGNORECASE)
BUSY, UNAUTHORISED, NOT_FOUND, SERVER_ERROR = 429, (401, 403), 404, 500


class ServerEngine:
    """Asks servers over HTTP. The key for them, where they want one, stands in OPENAI_API_KEY."""

    def __init__(self, settled: Settled) -> None:
        self._config, self._identity = settled.config, settled.identity
        self._endpoints = Endpoints(self._config.base_url, self._config.max_in_flight, self._config.patience_s)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="server-engine", daemon=True)
        self._thread.start()
        key = os.environ.get("OPENAI_API_KEY")
        self._client = httpx.AsyncClient(
            timeout=httpx.Timeout(self._config.request_timeout_s, connect=START_TIMEOUT_S),
            limits=httpx.Limits(max_connections=None),
            headers={"Authorization": f"Bearer {key}"} if key else {},
        )
        try:
            asyncio.run_coroutine_threadsafe(self._look(), self._loop).result()
        except UserError:
            self.close()
            raise

    def identity(self) -> dict[str, str]:
        """See `Engine`."""
        return self._identity

    async def complete(self, request: Request) -> Completion:
        """See `Engine`."""
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(self._complete(request), self._loop))

    def close(self) -> None:
        """See `Engine`."""
        asyncio.run_coroutine_threadsafe(self._client.aclose(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _look(self) -> None:
        """At the start at least one server must answer, and know the model where it lists its models."""
        await asyncio.gather(*(self._look_at(endpoint) for endpoint in self._endpoints))
        troubles = [endpoint.trouble for endpoint in self._endpoints]
        if all(troubles):
            raise UserError(
                f"--base-url {next(iter(self._endpoints)).url}: {troubles[0]}; start the server or mend the URL"
            )

    async def _look_at(self, endpoint: Endpoint) -> None:
        try:
            response = await self._client.get(f"{endpoint.url}/models", timeout=START_TIMEOUT_S)
        except (httpx.RequestError, httpx.InvalidURL) as error:
            endpoint.failed(f"does not answer ({_words(error)})")
            return
        if response.status_code in UNAUTHORISED:
            raise UserError(f"{endpoint.url}: refuses the key; put the right one into OPENAI_API_KEY")
        served = _served_models(response)
        if served and self._config.model not in served:
            raise UserError(f"--model is {self._config.model!r}; {endpoint.url} serves {', '.join(served)}")

    async def _complete(self, request: Request) -> Completion:
        path, body = _body(request, self._config)
        num_nonsense = 0
        while True:
            async with self._endpoints.take() as endpoint:
                try:
                    response = await self._client.post(f"{endpoint.url}{path}", json=body)
                except httpx.RequestError as error:
                    endpoint.failed(f"does not answer ({_words(error)})")
                    continue
                if self._is_refused(endpoint, response, request):
                    continue
                try:
                    completion = _read(response, request)
                except (ValueError, LookupError, TypeError) as error:
                    num_nonsense += 1
                    endpoint.failed(f"malformed answer ({_words(error)})")
                    if num_nonsense >= MAX_NONSENSE:
                        raise UserError(
                            f"{endpoint.url}: gave {num_nonsense} malformed answers to {request.key}, "
                            f"the last one {response.text[:80]!r}; is it OpenAI-compatible?"
                        ) from None
                    continue
                self._endpoints.answered(endpoint)
                return completion

    def _is_refused(self, endpoint: Endpoint, response: httpx.Response, request: Request) -> bool:
        """True where the request should be made again; raises where that would not help."""
        status = response.status_code
        if status == BUSY:
            endpoint.was_busy(_retry_after_s(response))
            return True
        if status >= SERVER_ERROR:
            endpoint.failed(f"HTTP {status}")
            return True
        if response.is_success:
            return False
        said = _error_message(response)
        if status in UNAUTHORISED:
            raise UserError(f"{endpoint.url}: refuses the key; put the right one into OPENAI_API_KEY")
        if status != NOT_FOUND and TOO_LONG.search(said):
            raise PromptTooLong(said[:160])
        raise UserError(f"{endpoint.url}: HTTP {status} on problem {request.key}: {said[:160]}")


def _body(request: Request, config: EngineConfig) -> tuple[str, dict[str, Any]]:
    body: dict[str, Any] = {
        "model": config.model,
        "max_tokens": request.max_tokens or config.max_tokens,
        "temperature": config.temperature,
        "top_p": config.top_p,
        "seed": request.seed,
    }
    # what not every server knows is sent only where it was asked for
    if config.top_k:
        body["top_k"] = config.top_k
    if config.stop:
        body["stop"] = list(config.stop)
    if config.prompt_format == "raw":
        return "/completions", body | {"prompt": raw_text(request.prompt, config) + prefill(config)}
    body["messages"] = messages(request.prompt, config)
    if switches := template_switches(config):
        body["chat_template_kwargs"] = switches
    if prefill(config):
        body["messages"].append({"role": "assistant", "content": EMPTY_THINK})
        body |= {"add_generation_prompt": False, "continue_final_message": True}
    return "/chat/completions", body


def _read(response: httpx.Response, request: Request) -> Completion:
    answer = response.json()
    choice = answer["choices"][0]
    text = _text(choice)
    num_tokens = int((answer.get("usage") or {}).get("completion_tokens") or len(text.split()))
    reason = "length" if choice.get("finish_reason") == "length" else "stop"
    return Completion(request.key, request.index, text, num_tokens, reason, request.seed)


def _text(choice: dict[str, Any]) -> str:
    """The whole completion: reasoning that the server took apart goes back in front of the answer."""
    if "text" in choice:
        return str(choice["text"])
    message = choice["message"]
    said = message["content"] or ""
    if not isinstance(said, str):
        raise TypeError(f"content is {type(said).__name__}, not text")
    if thought := message.get("reasoning_content") or message.get("reasoning"):
        return f"<think>{thought}</think>{said}"
    # the template opened the think block, so the server sent only its end
    return f"<think>{said}" if "</think>" in said and "<think>" not in said else said


def _served_models(response: httpx.Response) -> list[str]:
    try:
        return [str(entry["id"]) for entry in response.json()["data"]]
    except (ValueError, LookupError, TypeError):
        return []  # a server need not list its models


def _error_message(response: httpx.Response) -> str:
    try:
        answer = response.json()
        found = answer.get("error", answer)
        message = found.get("message", found) if isinstance(found, dict) else found
    except (ValueError, AttributeError):
        message = response.text
    return " ".join(str(message).split())


def _retry_after_s(response: httpx.Response) -> float | None:
    value = response.headers.get("retry-after", "")
    if value.replace(".", "", 1).isdigit():
        return float(value)
    try:
        return max(0.0, (parsedate_to_datetime(value) - datetime.now(UTC)).total_seconds())
    except (ValueError, TypeError):
        return None


def _words(error: Exception) -> str:
    return " ".join(str(error).split()) or type(error).__name__
