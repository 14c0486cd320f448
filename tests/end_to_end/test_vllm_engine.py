"""Real vLLM on a toy model: in this process, as a server on loopback, and through the stages."""

import asyncio
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.model_pool import pool, sums

from curate.artifacts.artifact import open_artifact
from curate.difficulty.no_think import NoThinkConfig
from curate.difficulty.no_think import stage as no_think_stage
from curate.engines import Completion, Engine, EngineConfig, PromptTooLong, Request, open_engine
from curate.runner.run import run_stage
from demo.toy import build_toy

pytestmark = [pytest.mark.heavy, pytest.mark.timeout(300), pytest.mark.filterwarnings("ignore::DeprecationWarning")]


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_toy(tmp_path_factory.mktemp("toy") / "model", layers=2)


@pytest.fixture(scope="module")
def server(model: Path) -> Iterator[str]:
    port = free_port()
    # seeds crash in chunked prefill on a CPU
    settings = f"""--model {model} --port {port} --host 127.0.0.1 --dtype float32 --enforce-eager
        --gpu-memory-utilization 0.05 --no-enable-chunked-prefill --max-num-batched-tokens 2048"""
    command = [sys.executable, "-m", "vllm.entrypoints.openai.api_server", *settings.split()]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    yield f"http://127.0.0.1:{port}/v1"
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()


@pytest.fixture(scope="module")
def engine(server: str, model: Path) -> Iterator[Engine]:
    """vLLM in this process; the server, which starts beside it, is needed later."""
    with open_engine(
        EngineConfig(model=str(model), engine="vllm", max_tokens=24, gpu_memory_utilization=0.05)
    ) as opened:
        yield opened


def complete(engine: Engine, *requests: Request) -> list[Completion]:
    async def all_of_them() -> list[Completion]:
        return await asyncio.gather(*(engine.complete(request) for request in requests))

    return asyncio.run(all_of_them())


def wait_until_up(url: str) -> None:
    for _ in range(400):
        try:
            urllib.request.urlopen(f"{url}/models", timeout=1).close()
        except OSError:
            time.sleep(0.5)
        else:
            return
    pytest.fail("the vLLM server did not start")


def test_a_seed_decides_a_completion_whoever_shares_its_batch(engine: Engine) -> None:
    alone = complete(engine, Request("a", 0, "3 + 4", seed=7))[0]
    crowd = complete(engine, *(Request("b", n, "3 + 4", seed=n) for n in range(12)))
    assert crowd[7].text == alone.text
    assert len({completion.text for completion in crowd}) == 12
    assert {completion.finish_reason for completion in crowd} <= {"stop", "length"}
    assert all(completion.num_tokens <= 24 for completion in crowd)


def test_a_prompt_beyond_the_context_is_told_apart(engine: Engine) -> None:
    with pytest.raises(PromptTooLong, match=r"\+ 24 > 512 tokens"):
        complete(engine, Request("a", 0, "3 + 4" * 200, seed=1))


def test_the_server_says_what_the_engine_in_this_process_says(engine: Engine, server: str, model: Path) -> None:
    wait_until_up(server)
    requests = [Request(str(n), 0, f"{n} + 4", n) for n in range(4)]
    config = EngineConfig(base_url=(server,), model=str(model), max_tokens=24)
    with open_engine(config) as served:
        there = complete(served, *requests)
        with pytest.raises(PromptTooLong, match="512"):
            complete(served, Request("a", 0, "3 + 4" * 200, seed=1))
    here = complete(engine, *requests)
    # a stray </think> makes the server engine suppose that the template wrote the opening mark
    assert [said.text.removeprefix("<think>") for said in there] == [said.text.removeprefix("<think>") for said in here]
    assert [(said.num_tokens, said.finish_reason) for said in there] == [
        (said.num_tokens, said.finish_reason) for said in here
    ]


def test_thinking_is_off_on_the_server_as_in_this_process(server: str, model: Path, tmp_path: Path) -> None:
    wait_until_up(server)
    config = NoThinkConfig(base_url=(server,), model=str(model), max_tokens=8, attempts=2)
    outcome = run_stage(no_think_stage(config), pool(tmp_path / "pool", sums(6)), tmp_path / "out")
    assert outcome.manifest.facts["no_think_by"] == "enable_thinking"
    assert open_artifact(tmp_path / "out").read("samples").height == 12


def test_the_command_measures_and_a_complete_artifact_starts_no_engine(model: Path, tmp_path: Path) -> None:
    pool(tmp_path / "pool", sums(10))
    options = [
        "--model",
        str(model),
        "--max-tokens",
        "16",
        "--k",
        "2",
        "--keep",
        "0",
        "--gpu-memory-utilization",
        "0.05",
    ]
    arguments = ["curate", "difficulty", str(tmp_path / "pool"), "--out", str(tmp_path / "out"), *options]
    subprocess.run([Path(sys.executable).with_name("gradus"), *arguments], check=True)
    manifest = open_artifact(tmp_path / "out").manifest
    assert manifest.inputs["engine"] == "vllm"
    assert manifest.facts["tokens"] > 0
    again = (
        f"import sys, gradus; sys.argv = {['gradus', *arguments]!r}\n"
        "try: gradus.main()\n"
        "finally: assert not {'vllm', 'torch', 'transformers'} & set(sys.modules)"
    )
    result = subprocess.run([sys.executable, "-c", again], capture_output=True, text=True)
    assert (result.returncode, "reused" in result.stdout) == (0, True), result.stderr


def test_stages_of_a_pipeline_that_ask_one_model_start_it_once(model: Path, tmp_path: Path) -> None:
    (tmp_path / "sums.jsonl").write_text("".join(f'{{"question": "{n} + 4", "answer": "{n + 4}"}}\n' for n in range(8)))
    asked = f"{{model: {model}, max_tokens: 8, gpu_memory_utilization: 0.05"
    (tmp_path / "pipeline.yaml").write_text(
        f"sources: [{{path: {tmp_path}/sums.jsonl, licence: MIT}}]\n"
        f"stages:\n  no-think: {asked}, attempts: 2}}\n  difficulty: {asked}, k: 2, keep: 0}}\n"
    )
    arguments = ["curate", "run", str(tmp_path / "pipeline.yaml"), "--out", str(tmp_path / "run")]
    finished = subprocess.run(
        [Path(sys.executable).with_name("gradus"), *arguments],
        env={**os.environ, "VLLM_LOGGING_LEVEL": "INFO"},
        capture_output=True,
        text=True,
    )
    said = finished.stdout + finished.stderr
    assert finished.returncode == 0, said[-2000:]
    assert said.count("Initializing a V1 LLM engine") == 1
    assert all(open_artifact(tmp_path / "run" / stage).read("samples").height for stage in ("no-think", "difficulty"))


ASYNC_TWICE = """
import asyncio
import sys

from curate.engines import EngineConfig, Request, settle
from curate.engines.vllm import arguments
from curate.engines.vllm_drivers import AsyncDriver


async def ask(driver):
    from vllm import SamplingParams, TokensPrompt
    from vllm.sampling_params import RequestOutputKind

    params = SamplingParams(max_tokens=8, seed=3, output_kind=RequestOutputKind.FINAL_ONLY)
    asks = (driver.generate(str(n), TokensPrompt(prompt_token_ids=[40 + n, 41]), params) for n in range(3))
    return [list(output.outputs[0].token_ids) for output in await asyncio.gather(*asks)]


if __name__ == "__main__":
    settled = settle(EngineConfig(model=sys.argv[1], engine="vllm", max_tokens=8, gpu_memory_utilization=0.05))
    driver = AsyncDriver(arguments(settled.config, settled.folder))
    first, second = asyncio.run(ask(driver)), asyncio.run(ask(driver))
    assert first == second, (first, second)
    assert driver.is_idle()
    driver.close()
    print("two event loops, one engine")
"""


def test_the_asynchronous_engine_serves_one_event_loop_after_the_other(model: Path, tmp_path: Path) -> None:
    script = tmp_path / "twice.py"
    script.write_text(ASYNC_TWICE)
    finished = subprocess.run([sys.executable, script, model], capture_output=True, text=True, timeout=240)
    assert "two event loops, one engine" in finished.stdout, finished.stderr[-2000:]
    assert "Exception ignored" not in finished.stderr
