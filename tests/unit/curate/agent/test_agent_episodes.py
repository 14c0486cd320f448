"""Episodes on scripted replies: each end by its name, tools, the blocker, many at once, and measured as a stage."""

import asyncio
import socket
import time
from pathlib import Path
from typing import Any

import pytest
from support.agent_tasks import call, repair, small_task, task_pool
from support.model_pool import pool, problem, script

from curate.agent.config import AgentConfig
from curate.agent.engine import AgentEngine
from curate.agent.episode import Episode
from curate.agent.grading import judge
from curate.artifacts.artifact import Artifact, open_artifact
from curate.artifacts.trajectory import Trajectory, trajectory_of, turn_by_turn
from curate.config import parse
from curate.difficulty.stage import DifficultyConfig, stage
from curate.engines import Request
from curate.engines.config import settle
from curate.engines.scripted import ScriptedEngine
from curate.errors import UserError
from curate.runner.run import run_stage
from curate.sampling.grading import problems_of
from curate.tasks.store import TaskStore

SMALL = {"command_s": 20, "memory_mb": 512, "disk_mb": 16}
CONFIG = AgentConfig(**SMALL)
ASKED = [{"role": "user", "content": "Repair add in tool.py."}]


def play(replies: list[str], config: AgentConfig = CONFIG) -> tuple[Trajectory, list[str]]:
    """The record of an episode, and what came back to the model."""
    episode = Episode(ASKED, config, small_task())
    for reply in replies:
        episode.take(reply, 1)
        if episode.end:
            break
    told = episode.close()
    return told, [str(message["content"]) for message in told.messages if message["role"] in ("tool", "user")][1:]


def measure(folder: Path, answers: dict[str, Any], out: str = "out", **settings: Any) -> Artifact:
    given = {"script": script(folder / "script.json", answers), "tasks": folder / "tasks", "agent": SMALL, **settings}
    config = parse(DifficultyConfig, given, "--")
    run_stage(stage(config), open_artifact(folder / "pool"), folder / out)
    return open_artifact(folder / out)


def test_tools_work_on_the_repository_and_wrong_calls_are_answered() -> None:
    told, said = play([
        call("view", path="/repo/tool.py", start=2, end=2),
        call("bash", command="python3 -c 'import tool; print(tool.add(3, 2))'; exit 3"),
        call("edit", path="tool.py", old="nothing", new="x"),
        call("edit", path="../etc/passwd", old="", new="x"),
        call("view", path="tool.py", begin=1),
        call("format"),
        call("edit", path="tool.py", old="a - b", new="a + b"),
        call("edit", path="new.py", old="", new="x = 1\n"),
        call("submit"),
    ])  # fmt: skip
    assert said[0] == "    2      return a - b\n(6 lines in all)"
    assert said[1] == "1\n(exit status 3)"
    assert "occurs 0 times" in said[2]
    assert "error: there is no file" in said[3] or "not a path inside" in said[3]
    assert said[4] == "error: view has no argument begin; it has path, start, end"
    assert said[5] == "error: there is no tool format; there are bash, edit, view, submit"
    assert (told.end, told.turns, told.failed) == ("submitted", 9, 4)
    assert [(cell["path"], cell["kind"]) for cell in told.changes] == [("new.py", "file"), ("tool.py", "file")]


def test_each_end_has_its_name() -> None:
    assert play(["I am done."])[0].end == "stopped"
    assert play([call("submit")])[0].end == "submitted"
    assert play([call("bash", command="true")] * 3, AgentConfig(max_turns=2, **SMALL))[0].end == "max_turns"
    slow = AgentConfig(episode_s=0.5, **SMALL)
    assert play([call("bash", command="sleep 5")], slow)[0].end == "time"
    episode = Episode(ASKED, CONFIG, small_task())
    episode.take("<tool_call>{", 1, is_cut=True)
    assert episode.close().end == "context"
    broken = Episode(ASKED, CONFIG, small_task())
    broken.take(call("view", path="tool.py"), 1)
    assert broken._place is not None
    broken._place.box._channel.shutdown(socket.SHUT_RDWR)
    broken.take(call("view", path="tool.py"), 1)
    assert broken.close().end == "sandbox_fault"


@pytest.mark.parametrize(
    "reply",
    ["<tool_call>{oops}</tool_call>", '<tool_call>{"name": "bash"}', '<tool_call>["bash"]</tool_call>',
     '{"name": "bash"}</tool_call>', "<tool_call><function=bash>x</tool_call>"],
)  # fmt: skip
def test_malformed_calls_are_told_apart_answered_and_end_the_episode(reply: str) -> None:
    told, said = play([reply, call("bash", command="true"), reply, reply, reply])
    assert (told.end, list(told.malformed), told.turns) == ("malformed_call", [0, 2, 3, 4], 5)
    assert said[0].startswith("error: ")
    assert told.messages[1]["content"] == reply
    assert "malformed call" in "\n".join(turn_by_turn(told))


def test_calls_of_the_second_form_and_calls_inside_the_reasoning() -> None:
    path, line = ("<parameter=path>\ntool.py\n</parameter>", "<parameter=start>\n2\n</parameter>")
    xml = f"<tool_call>\n<function=view>\n{path}\n{line}\n</function>\n</tool_call>"
    thought = f"<think>perhaps {call('submit')}</think>Now."
    told, said = play([xml, thought])
    assert said[0].startswith("    2      return a - b")
    assert (told.end, told.turns) == ("stopped", 2)


@pytest.mark.parametrize(
    ("command", "is_blocked"),
    [("git clone https://github.com/someone/tool", True), ("curl -L github.com/Someone/Tool.git", True),
     ("pip install git+https://github.com/someone/tool", True), ("git log; ls someone", False),
     ("curl example.com", False), ("cat someone/tool/x.py", False), ("python -c 'import tool'", False)],
)  # fmt: skip
def test_the_repositorys_address_with_a_network_word_is_blocked(command: str, is_blocked: bool) -> None:
    told, said = play([call("bash", command=command)])
    assert (told.blocked == 1) == is_blocked
    assert said[0].startswith("blocked: the command names the repository's address") == is_blocked


def test_sixteen_episodes_wait_for_their_own_tools_only(tmp_path: Path) -> None:
    task_pool(tmp_path)
    sleeps = [call("bash", command="sleep 0.2")] * 3 + [call("submit")]
    config = parse(DifficultyConfig, {"script": script(tmp_path / "s.json", {"*": [sleeps]})}, "--")
    store = TaskStore(tmp_path / "tasks")
    cell = open_artifact(tmp_path / "pool").read()["tests"][0]

    async def play_all(number: int) -> list[Any]:
        engine = AgentEngine(ScriptedEngine(settle(config)), CONFIG, config, store)
        asked = [Request("k", at, "Repair.", at, kind="agent", tests=cell) for at in range(number)]
        try:
            return await asyncio.gather(*map(engine.complete, asked))
        finally:
            engine.close()

    begun = time.monotonic()
    told = [trajectory_of(one.text) for one in asyncio.run(play_all(16))]
    # one after the other they sleep 9.6 s
    assert time.monotonic() - begun < 5
    assert [one.end for one in told if one] == ["submitted"] * 16


def test_a_pool_of_tasks_is_measured_and_a_sample_holds_the_episode(tmp_path: Path) -> None:
    rows = task_pool(tmp_path, ("add", "mul", "sub")).read()
    keys = dict(zip(rows["prompt"], rows["key"], strict=True))
    answers = {
        keys["Repair add in tool.py."]: [repair("add"), [call("submit")]],
        keys["Repair mul in tool.py."]: [repair("mul")],
        keys["Repair sub in tool.py."]: [[call("bash", command="rm tool.py"), "Done."]],
    }
    done = measure(tmp_path, answers, k=4)
    rates = dict(done.read().select("key", "pass_rate").iter_rows())
    dropped = dict(done.read("dropped").select("key", "drop_reason").iter_rows())
    assert rates == {keys["Repair add in tool.py."]: 0.5}
    assert dropped == {keys["Repair mul in tool.py."]: "too_easy", keys["Repair sub in tool.py."]: "too_hard"}
    samples = done.read("samples").filter(key=keys["Repair add in tool.py."])
    first = trajectory_of(samples["text"][0])
    assert first is not None
    assert (first.end, first.turns, len(first.messages)) == ("submitted", 3, 7)
    assert set(samples["verdict_reason"]) == {"tests_passed", "no_change"}
    again = measure(tmp_path, answers, "again", k=4, samples_from=tmp_path / "out")
    assert again.read("samples")["text"].to_list() == done.read("samples")["text"].to_list()


def test_a_verdict_follows_from_the_record_and_unfinished_is_what_truncated_says(tmp_path: Path) -> None:
    (row,) = problems_of(task_pool(tmp_path).read())
    store = TaskStore(tmp_path / "tasks")
    told, _ = play(repair()[:-1], AgentConfig(max_turns=2, **SMALL))
    wrong = parse(DifficultyConfig, {"script": tmp_path}, "--")
    judged = parse(DifficultyConfig, {"script": tmp_path, "truncated": "judged"}, "--")
    assert judge(row, told, wrong, CONFIG, store)[:2] == ("wrong", "truncated")
    assert judge(row, told, judged, CONFIG, store)[:2] == ("correct", "tests_passed")
    cheat, _ = play([call("bash", command="printf 'class E:\\n def __eq__(s,o): return True\\ndef add(a,b): return E()\\ndef same(a): return a\\n' > tool.py"), call("submit")])  # fmt: skip  # noqa: E501
    results = {}
    for exploit in ("wrong", "drop", "log"):
        config = AgentConfig(exploit=exploit, **SMALL)
        results[exploit] = judge(row, cheat, judged, config, store)[:2]
    assert results == {
        "wrong": ("wrong", "exploit"), "drop": ("undecided", "exploit"), "log": ("correct", "tests_passed"),
    }  # fmt: skip


def test_math_with_a_python_tool_is_the_same_loop(tmp_path: Path) -> None:
    pool(tmp_path / "pool", [problem("What is 2**40?", "1099511627776")])
    answers = {"*": [[call("python", code="print(2**40)"), "It is \\boxed{1099511627776}."], ["\\boxed{7}"]]}
    given = {"script": script(tmp_path / "s.json", answers), "agent": {"tools": ["python"], **SMALL}, "k": 2}
    config = parse(DifficultyConfig, given, "--")
    run_stage(stage(config), open_artifact(tmp_path / "pool"), tmp_path / "out")
    done = open_artifact(tmp_path / "out")
    assert done.read()["pass_rate"].to_list() == [0.5]
    told = [trajectory_of(text) for text in done.read("samples")["text"]]
    assert told[0] is not None
    assert told[0].messages[2]["content"] == "1099511627776"


def test_a_pool_of_tasks_without_their_folder_is_refused(tmp_path: Path) -> None:
    task_pool(tmp_path)
    with pytest.raises(UserError, match="--tasks"):
        measure(tmp_path, {"*": ["x"]}, tasks=None)


def test_settings_of_other_kinds_leave_no_trace_of_agents() -> None:
    assert not {"agent", "tasks"} & set(parse(DifficultyConfig, {"script": "x"}, "--").fingerprinted())
    assert "agent" in parse(DifficultyConfig, {"script": "x", "exploit": "drop"}, "--").fingerprinted()
