"""The server engine against a real HTTP server on loopback that fails in every way that servers do."""

import asyncio
import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from support.model_pool import pool, sums

from curate.artifacts.artifact import open_artifact
from curate.difficulty.stage import DifficultyConfig, stage
from curate.engines import Completion, EngineConfig, PromptTooLong, Request, open_engine
from curate.errors import UserError
from curate.runner.run import run_stage

Answer = tuple[int, dict[str, str], bytes]
Behaviour = Callable[[dict[str, Any], int], Answer]


def good(body: dict[str, Any], _: int = 0) -> Answer:
    message = {"role": "assistant", "content": f"\\boxed{{7}} {body['seed']}"}
    choice = {"message": message, "text": message["content"], "finish_reason": "stop"}
    return reply({"choices": [choice], "usage": {"completion_tokens": 5}})


def reply(content: Any, status: int = 200, **headers: str) -> Answer:
    return status, headers, json.dumps(content).encode()


class Served:
    """A running server: its URL and every body it was sent."""

    def __init__(self, behaviour: Behaviour) -> None:
        self.bodies: list[dict[str, Any]] = []
        served = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                self._send(reply({"data": [{"id": "tiny"}]}))

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                served.bodies.append({"path": self.path, **body})
                self._send(behaviour(body, len(served.bodies)))

            def _send(self, answer: Answer) -> None:
                status, headers, content = answer
                self.send_response(status)
                for name, value in {"Content-Length": str(len(content)), **headers}.items():
                    self.send_header(name.replace("_", "-"), value)
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *_: Any) -> None:
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.http.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.http.server_port}/v1"


@contextmanager
def serving(behaviour: Behaviour) -> Iterator[Served]:
    served = Served(behaviour)
    thread = threading.Thread(target=served.http.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield served
    finally:
        served.http.shutdown()
        served.http.server_close()
        thread.join()


def ask(*urls: str, num: int = 1, prompt: str = "3 + 4", **settings: Any) -> list[Completion]:
    config = EngineConfig(base_url=urls, model="tiny", patience_s=settings.pop("patience_s", 5), **settings)

    async def all_of_them() -> list[Completion]:
        return await asyncio.gather(*(engine.complete(Request(f"key{n}", 0, prompt, n)) for n in range(num)))

    with open_engine(config) as engine:
        return asyncio.run(all_of_them())


def test_a_chat_request_carries_messages_sampling_and_seed() -> None:
    with serving(good) as served:
        completion = ask(served.url, system="Brief.", temperature=0.5, max_tokens=9, stop=("\n",))[0]
    body = served.bodies[0]
    assert body["path"] == "/v1/chat/completions"
    assert [message["role"] for message in body["messages"]] == ["system", "user"]
    assert (body["temperature"], body["max_tokens"], body["stop"], body["seed"]) == (0.5, 9, ["\n"], 0)
    assert "top_k" not in body
    assert (completion.text, completion.num_tokens, completion.finish_reason) == ("\\boxed{7} 0", 5, "stop")


def test_a_raw_prompt_goes_to_the_completions_path() -> None:
    with serving(good) as served:
        ask(served.url, prompt_format="raw", template="Q: {prompt}\nA:")
    assert (served.bodies[0]["path"], served.bodies[0]["prompt"]) == ("/v1/completions", "Q: 3 + 4\nA:")


@pytest.mark.parametrize(
    ("by", "field", "value"),
    [
        ("auto", "chat_template_kwargs", {"enable_thinking": False}),
        ("empty_think", "continue_final_message", True),
        ("instruction", "chat_template_kwargs", None),
    ],
)
def test_thinking_is_switched_off_by_the_chosen_way(by: str, field: str, value: Any) -> None:
    with serving(good) as served:
        ask(served.url, thinking="off", no_think_by=by)
    assert served.bodies[0].get(field) == value


def test_reasoning_that_the_server_separated_is_put_back() -> None:
    def apart(body: dict[str, Any], _: int) -> Answer:
        message = {"content": "\\boxed{7}", "reasoning_content": "3+4"}
        return reply({"choices": [{"message": message, "finish_reason": "length"}]})

    with serving(apart) as served:
        completion = ask(served.url)[0]
    assert (completion.text, completion.finish_reason) == ("<think>3+4</think>\\boxed{7}", "length")


def test_several_servers_share_the_work() -> None:
    def slow(body: dict[str, Any], _: int) -> Answer:
        time.sleep(0.02)
        return good(body)

    with serving(slow) as first, serving(slow) as second:
        assert len(ask(first.url, second.url, num=40)) == 40
    assert min(len(first.bodies), len(second.bodies)) >= 10


def test_a_failed_server_is_retried_after_a_rest() -> None:
    def third_time_lucky(body: dict[str, Any], number: int) -> Answer:
        return good(body) if number > 2 else reply({"error": "warming up"}, 503)

    with serving(third_time_lucky) as served:
        assert ask(served.url)[0].num_tokens == 5


def test_requests_of_a_dead_server_move_to_the_others() -> None:
    with serving(good) as alive, serving(good) as dying:
        config = EngineConfig(base_url=(dying.url, alive.url), model="tiny", patience_s=5)

        async def with_a_death(engine: Any) -> list[Completion]:
            before = [await engine.complete(Request("a", n, "x", n)) for n in range(4)]
            dying.http.server_close()
            dying.http.shutdown()
            after = await asyncio.gather(*(engine.complete(Request("b", n, "x", n)) for n in range(20)))
            return [*before, *after]

        with open_engine(config) as engine:
            assert len(asyncio.run(with_a_death(engine))) == 24
    # connections that were open at the death may still be served to the end
    assert {body["seed"] for body in alive.bodies + dying.bodies} == set(range(20))
    assert len(alive.bodies) >= 10


def test_a_busy_server_rests_for_the_time_that_it_requests() -> None:
    times: list[float] = []

    def busy_once(body: dict[str, Any], number: int) -> Answer:
        times.append(time.monotonic())
        return reply({"error": "slow down"}, 429, Retry_After="0.6") if number == 1 else good(body)

    with serving(busy_once) as served:
        ask(served.url)
    assert times[1] - times[0] >= 0.6


def test_a_busy_server_gets_fewer_concurrent_requests() -> None:
    lock = threading.Lock()
    at_once = most = num_refused = 0

    def at_most_four(body: dict[str, Any], _: int) -> Answer:
        nonlocal at_once, most, num_refused
        with lock:
            at_once += 1
            is_refused = at_once > 4
            num_refused += is_refused
        time.sleep(0.01)
        with lock:
            at_once -= 1
        return reply({}, 429) if is_refused else good(body)

    with serving(at_most_four) as served:
        assert len(ask(served.url, num=60, patience_s=30)) == 60
    # without holding back, each round trip would refuse all but four
    assert num_refused < 60


def test_malformed_answers_are_retried_and_then_reported() -> None:
    with serving(lambda body, number: good(body) if number > 2 else (200, {}, b"<html>")) as served:
        assert ask(served.url)[0].num_tokens == 5
    with (
        serving(lambda *_: reply({"choices": []})) as served,
        pytest.raises(UserError, match=r"malformed answers to key0.*OpenAI-compatible\?"),
    ):
        ask(served.url, patience_s=60)


@pytest.mark.parametrize(
    "message",
    [
        "This model's maximum context length is 512 tokens. However, you requested 600 tokens",
        "context_length_exceeded",
        "The input (700 tokens) is longer than the model's context length (512 tokens).",
    ],
)
def test_a_prompt_too_long_for_the_server_drops_only_its_problem(message: str) -> None:
    with serving(lambda *_: reply({"error": {"message": message}}, 400)) as served, pytest.raises(PromptTooLong):
        ask(served.url)


@pytest.mark.parametrize(
    ("status", "line"), [(401, "OPENAI_API_KEY"), (404, "HTTP 404"), (400, "HTTP 400 on problem key0: chat template")]
)
def test_a_fault_that_no_retry_fixes_is_one_line(status: int, line: str) -> None:
    with serving(lambda *_: reply({"error": {"message": "chat template raised"}}, status)) as served:
        with pytest.raises(UserError, match=line):
            ask(served.url)
        assert len(served.bodies) == 1


def test_no_server_at_the_start_is_one_line_without_waiting() -> None:
    start_s = time.monotonic()
    with pytest.raises(UserError, match=r"does not answer.*start the server or correct the URL"):
        ask("http://127.0.0.1:9/v1", patience_s=60)
    assert time.monotonic() - start_s < 5


def test_the_error_for_a_model_that_the_server_lacks_lists_what_it_serves() -> None:
    with serving(good) as served, pytest.raises(UserError, match="serves tiny"):
        open_engine(EngineConfig(base_url=(served.url,), model="huge")).__enter__()


def test_servers_that_go_down_during_a_run_lose_nothing_and_the_rerun_resumes(tmp_path: Path) -> None:
    def dies(body: dict[str, Any], number: int) -> Answer:
        return good(body) if number <= 10 else reply({}, 500)

    source = pool(tmp_path / "pool", sums(8))

    def measure(url: str) -> None:
        config = DifficultyConfig(base_url=(url,), model="tiny", keep="8", max_in_flight=4, patience_s=0.5)
        run_stage(stage(config), source, tmp_path / "out")

    with serving(dies) as served, pytest.raises(UserError, match=r"no server answered for 0\.5 s .*HTTP 500"):
        measure(served.url)
    with serving(good) as revived:
        measure(revived.url)
    assert len(revived.bodies) == 8 * 8 - 10
    assert open_artifact(tmp_path / "out").manifest.num_kept == 8
