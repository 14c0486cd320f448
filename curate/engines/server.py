"""OpenAI-compatible servers: `vllm serve`, SGLang or a hosted API, one or several that share the requests.

The remedy classifies the faults of a server: rest and try another (down, 5xx, malformed answer), retry later (429),
drop the problem (prompt too long), or stop with an error (wrong key, unknown model, refused request). All HTTP to
models uses `ServerClient`, also that of the judge.
"""

from __future__ import annotations

import asyncio
import os
import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, Final

import httpx

from curate.engines.config import Settled
from curate.engines.endpoints import Endpoint, Endpoints
from curate.engines.openai_format import MALFORMED, completion_of, error_message, question, served_models
from curate.engines.own_loop import OwnLoop
from curate.engines.protocol import Completion, PromptTooLong, Request
from curate.errors import UserError

MAX_MALFORMED: Final = 5
START_TIMEOUT_S: Final = 10.0
TOO_LONG: Final = re.compile(r"context.?length|maximum.{0,20}(?:context|length)|too long|longer than", re.IGNORECASE)
BUSY, UNAUTHORISED, NOT_FOUND, SERVER_ERROR = 429, (401, 403), 404, 500

Answer = httpx.Response


class NoAnswer(Exception):  # noqa: N818  # a fact about one request, not a fault
    """No answer: the server is down, takes too long, or does not speak HTTP; the message has the cause."""


class ServerClient:
    """HTTP client with the key in OPENAI_API_KEY, if it is set. Its coroutines run on its own event loop, `loop`.

    timeout_s: for an answer; connect_timeout_s: for a connection, the same if not set.
    """

    def __init__(self, timeout_s: float, connect_timeout_s: float | None = None) -> None:
        self.loop = OwnLoop("server-client")
        key = os.environ.get("OPENAI_API_KEY")
        self._client = httpx.AsyncClient(
            timeout=httpx.Timeout(timeout_s, connect=connect_timeout_s or timeout_s),
            limits=httpx.Limits(max_connections=None),
            headers={"Authorization": f"Bearer {key}"} if key else {},
        )

    async def get(self, url: str, timeout_s: float) -> Answer:
        """The server's answer of any status; raises `NoAnswer`."""
        try:
            return await self._client.get(url, timeout=timeout_s)
        except (httpx.RequestError, httpx.InvalidURL) as error:
            raise NoAnswer(_one_line(error)) from None

    async def post(self, url: str, body: dict[str, Any]) -> Answer:  # Any: JSON
        """See `get`."""
        try:
            return await self._client.post(url, json=body)
        except httpx.RequestError as error:
            raise NoAnswer(_one_line(error)) from None

    def close(self) -> None:
        """Close the connections and the loop."""
        self.loop.wait(self._client.aclose())
        self.loop.close()


class ServerEngine:
    """Requests completions from servers over HTTP, with the key in OPENAI_API_KEY, if it is set."""

    def __init__(self, settled: Settled) -> None:
        self._config, self._identity = settled.config, settled.identity
        self._endpoints = Endpoints(self._config.base_url, self._config.max_in_flight, self._config.patience_s)
        self._client = ServerClient(self._config.request_timeout_s, START_TIMEOUT_S)
        try:
            self._client.loop.wait(self._check_servers())
        except UserError:
            self.close()
            raise

    def identity(self) -> dict[str, str]:
        """See `Engine`."""
        return self._identity

    async def complete(self, request: Request) -> Completion:
        """See `Engine`."""
        return await self._client.loop.ask(self._complete(request))

    def close(self) -> None:
        """See `Engine`."""
        self._client.close()

    async def _check_servers(self) -> None:
        """Check that at least one server answers, and that those that list their models serve the model."""
        await asyncio.gather(*(self._check_server(endpoint) for endpoint in self._endpoints))
        troubles = [endpoint.trouble for endpoint in self._endpoints]
        if all(troubles):
            raise UserError(
                f"--base-url {next(iter(self._endpoints)).url}: {troubles[0]}; start the server or correct the URL"
            )

    async def _check_server(self, endpoint: Endpoint) -> None:
        try:
            response = await self._client.get(f"{endpoint.url}/models", START_TIMEOUT_S)
        except NoAnswer as error:
            endpoint.failed(f"does not answer ({error})")
            return
        if response.status_code in UNAUTHORISED:
            raise UserError(f"{endpoint.url}: refuses the key; put the right one into OPENAI_API_KEY")
        served = served_models(response.content)
        if served and self._config.model not in served:
            raise UserError(f"--model is {self._config.model!r}; {endpoint.url} serves {', '.join(served)}")

    async def _complete(self, request: Request) -> Completion:
        path, body = question(request, self._config)
        num_malformed = 0
        while True:
            async with self._endpoints.take() as endpoint:
                try:
                    response = await self._client.post(f"{endpoint.url}{path}", body)
                except NoAnswer as error:
                    endpoint.failed(f"does not answer ({error})")
                    continue
                if self._is_refused(endpoint, response, request):
                    continue
                try:
                    completion = completion_of(response.content, request)
                except MALFORMED as error:
                    num_malformed += 1
                    endpoint.failed(f"malformed answer ({_one_line(error)})")
                    if num_malformed >= MAX_MALFORMED:
                        raise UserError(
                            f"{endpoint.url}: gave {num_malformed} malformed answers to {request.key}, "
                            f"the last one {response.text[:80]!r}; is it OpenAI-compatible?"
                        ) from None
                    continue
                self._endpoints.answered(endpoint)
                return completion

    def _is_refused(self, endpoint: Endpoint, response: Answer, request: Request) -> bool:
        """True if the request should be retried; raises if a retry cannot help."""
        status = response.status_code
        if status == BUSY:
            endpoint.was_busy(_retry_after_s(response))
            return True
        if status >= SERVER_ERROR:
            endpoint.failed(f"HTTP {status}")
            return True
        if response.is_success:
            return False
        message = error_message(response.content, response.text)
        if status in UNAUTHORISED:
            raise UserError(f"{endpoint.url}: refuses the key; put the right one into OPENAI_API_KEY")
        if status != NOT_FOUND and TOO_LONG.search(message):
            raise PromptTooLong(message[:160])
        raise UserError(f"{endpoint.url}: HTTP {status} on problem {request.key}: {message[:160]}")


def _retry_after_s(response: Answer) -> float | None:
    value = response.headers.get("retry-after", "")
    if value.replace(".", "", 1).isdigit():
        return float(value)
    try:
        return max(0.0, (parsedate_to_datetime(value) - datetime.now(UTC)).total_seconds())
    except (ValueError, TypeError):
        return None


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split()) or type(error).__name__
