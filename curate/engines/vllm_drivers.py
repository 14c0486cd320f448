"""Two ways to drive vLLM: its asynchronous engine on GPUs, a stepped engine in this process on a CPU.

Both accept token prompts at any time and return each output when it is finished. `AsyncDriver` supports several GPUs
(tensor and data parallel, a process for the engine's core). `SteppedDriver` steps the synchronous engine in a thread:
on two cores it starts four times as fast, since nothing is imported twice, and generates no slower.
"""

from __future__ import annotations

import asyncio
import queue
import threading
from typing import Any, NamedTuple, Protocol

from curate.engines.own_loop import OwnLoop

# Any: vllm has no stubs here, so its prompts, parameters and outputs are untyped


class Ask(NamedTuple):
    """One request to the stepped engine."""

    request_id: str
    prompt: Any
    params: Any
    answer: asyncio.Future[Any]


class Driver(Protocol):
    """A started vLLM."""

    async def generate(self, request_id: str, prompt: Any, params: Any) -> Any:
        """The finished `RequestOutput`."""
        ...

    def is_idle(self) -> bool:
        """Whether it works and has no requests left, so that another event loop may use it."""
        ...

    def close(self) -> None:
        """Stop the engine and free its memory."""
        ...


class AsyncDriver:
    """vLLM's `AsyncLLM` on its own event loop, since it is bound to the loop of its first request."""

    def __init__(self, arguments: dict[str, Any]) -> None:
        from vllm import AsyncEngineArgs
        from vllm.v1.engine.async_llm import AsyncLLM

        self._engine = AsyncLLM.from_engine_args(AsyncEngineArgs(**arguments))
        self._loop = OwnLoop("vllm")

    async def generate(self, request_id: str, prompt: Any, params: Any) -> Any:
        """See `Driver`."""
        return await self._loop.ask(self._generate(request_id, prompt, params))

    def is_idle(self) -> bool:
        """See `Driver`."""
        return not self._engine.errored and not self._engine.output_processor.has_unfinished_requests()

    def close(self) -> None:
        """See `Driver`."""
        self._loop.wait(self._shut_down())
        self._loop.close()

    async def _generate(self, request_id: str, prompt: Any, params: Any) -> Any:
        # the request is for the final output only, so this is a list of one
        return [output async for output in self._engine.generate(prompt, params, request_id)][-1]

    async def _shut_down(self) -> None:
        self._engine.shutdown()
        del self._engine  # its finalizer prints an error if it runs at the end of the process


class SteppedDriver:
    """vLLM's `LLMEngine`, stepped by one thread; futures carry the outputs back to the event loop."""

    def __init__(self, arguments: dict[str, Any]) -> None:
        from vllm import EngineArgs
        from vllm.v1.engine.llm_engine import LLMEngine

        self._engine = LLMEngine.from_engine_args(EngineArgs(**arguments))
        self._inbox: queue.SimpleQueue[Ask | None] = queue.SimpleQueue()
        self._asked: dict[str, Ask] = {}
        self._failure: Exception | None = None
        self._thread = threading.Thread(target=self._serve, name="vllm", daemon=True)
        self._thread.start()

    async def generate(self, request_id: str, prompt: Any, params: Any) -> Any:
        """See `Driver`."""
        if self._failure is not None:
            raise self._failure
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._inbox.put(Ask(request_id, prompt, params, answer))
        return await answer

    def is_idle(self) -> bool:
        """See `Driver`."""
        return self._failure is None and not self._asked and self._inbox.empty()

    def close(self) -> None:
        """See `Driver`."""
        from vllm.distributed import cleanup_dist_env_and_memory

        self._inbox.put(None)
        self._thread.join()
        self._engine.engine_core.shutdown()
        cleanup_dist_env_and_memory()

    def _serve(self) -> None:
        try:
            while self._take_in():
                self._hand_out([output for output in self._engine.step() if output.finished])
        except Exception as failure:  # noqa: BLE001  # whatever ends the thread must reach the waiting callers
            self._failure = failure
            for ask in self._asked.values():
                ask.answer.get_loop().call_soon_threadsafe(_fail, ask.answer, failure)

    def _take_in(self) -> bool:
        """Move new requests into the engine, waiting for one if it is idle; False at the end."""
        try:
            while True:
                ask = self._inbox.get(block=not self._asked)
                if ask is None:
                    return False
                self._asked[ask.request_id] = ask
                self._engine.add_request(ask.request_id, ask.prompt, ask.params)
        except queue.Empty:
            return True

    def _hand_out(self, outputs: list[Any]) -> None:
        if not outputs:
            return
        done = [(self._asked.pop(output.request_id).answer, output) for output in outputs]
        # one call into the loop for all outputs of this step
        done[0][0].get_loop().call_soon_threadsafe(_settle, done)


def _settle(done: list[tuple[asyncio.Future[Any], Any]]) -> None:
    for answer, output in done:
        if not answer.done():
            answer.set_result(output)


def _fail(answer: asyncio.Future[Any], failure: Exception) -> None:
    if not answer.done():
        answer.set_exception(failure)
