"""The tools: what a model is told of each, and what each does in a box. Every answer is text for the model."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from curate.agent.blocker import why_blocked
from curate.engines.tool_calls import Call
from curate.verify.repo.box import Box, Output, Refused

MAX_LINES: Final = 400
PROGRAM_BYTES: Final = 60_000


class Answer(NamedTuple):
    """What a tool says. kind: ok, failed (the call was wrong), blocked, submitted, or episode (its time is over)."""

    text: str
    kind: str = "ok"


class Place(NamedTuple):
    """Where tools work: a box, and the origin of its repository."""

    box: Box
    origin: Mapping[str, str]


def _tool(name: str, says: str, required: Sequence[str] = (), **parameters: tuple[str, str]) -> dict[str, Any]:
    """A function's schema in the form of chat templates and servers."""
    properties = {key: {"type": kind, "description": told} for key, (kind, told) in parameters.items()}
    return {
        "type": "function",
        "function": {
            "name": name,
            "description": says,
            "parameters": {"type": "object", "properties": properties, "required": list(required)},
        },
    }


SCHEMAS: Final[dict[str, dict[str, Any]]] = {
    "bash": _tool(
        "bash", "Run a shell command in /repo. There is no network; only files last between commands.", ("command",),
        command=("string", "The command."),
    ),
    "view": _tool(
        "view", "Show a file of the repository with line numbers, or list a folder.", ("path",),
        path=("string", "Path below /repo."), start=("integer", "First line, from 1."), end=("integer", "Last line."),
    ),
    "edit": _tool(
        "edit", "Replace a text that occurs exactly once in a file. An empty old text makes a new file.",
        ("path", "old", "new"),
        path=("string", "Path below /repo."), old=("string", "The text to replace."), new=("string", "The new text."),
    ),
    "submit": _tool("submit", "End the work: the repository is as it shall be."),
    "python": _tool(
        "python", "Run a Python program and read what it prints. Only files last between programs.", ("code",),
        code=("string", "The program."),
    ),
}  # fmt: skip


def use(call: Call, place: Place | Callable[[], Place], offered: Sequence[str]) -> Answer:
    """Do what a call asks. place: the box, or what opens it. A wrong call is answered, never raised; a broken box is.

    Raises `BoxFault`.
    """
    if call.name not in offered:
        return Answer(f"error: there is no tool {call.name}; there are {', '.join(offered)}", "failed")
    told = SCHEMAS[call.name]["function"]["parameters"]
    if wrong := _wrong_arguments(call, told):
        return Answer(f"error: {wrong}", "failed")
    if call.name == "submit":
        return Answer("submitted", "submitted")
    try:
        return _TOOLS[call.name](place if isinstance(place, Place) else place(), call.arguments)
    except Refused as why:
        return Answer(f"error: {why}", "failed")


def _wrong_arguments(call: Call, told: Mapping[str, Any]) -> str | None:
    known = told["properties"]
    if missing := [name for name in told["required"] if name not in call.arguments]:
        return f"{call.name} needs {missing[0]}"
    if unknown := [name for name in call.arguments if name not in known]:
        return f"{call.name} has no argument {unknown[0]}; it has {', '.join(known) or 'none'}"
    for name, value in call.arguments.items():
        if known[name]["type"] == "string" and not isinstance(value, str):
            call.arguments[name] = str(value)
        elif known[name]["type"] == "integer" and (isinstance(value, bool) or not isinstance(value, int)):
            return f"{name} of {call.name} is {value!r}; give a whole number"
    return None


def _bash(place: Place, given: Mapping[str, Any]) -> Answer:
    if why := why_blocked(given["command"], place.origin):
        return Answer(why, "blocked")
    return _told(place.box.run(given["command"]))


def _python(place: Place, given: Mapping[str, Any]) -> Answer:
    if why := why_blocked(given["code"], place.origin):
        return Answer(why, "blocked")
    program = given["code"].encode("utf-8", "replace")
    if len(program) > PROGRAM_BYTES:
        return Answer(f"error: the program has {len(program)} bytes; write at most {PROGRAM_BYTES}", "failed")
    packed = base64.b64encode(program).decode()
    return _told(place.box.run(f"echo {packed} | base64 -d > /tmp/program.py && exec python3 /tmp/program.py"))


def _view(place: Place, given: Mapping[str, Any]) -> Answer:
    path = _below(given["path"])
    if path in ("", "."):
        return _told(place.box.run("ls -ap"))
    try:
        text = place.box.read(path).decode("utf-8", "replace")
    except Refused:
        listing = place.box.run(f"ls -ap -- {_quoted(path)}")
        return _told(listing) if listing.status == 0 else Answer(f"error: there is no file {path}", "failed")
    lines = text.splitlines()
    start = max(1, given.get("start", 1))
    end = min(len(lines), given.get("end", len(lines)), start + MAX_LINES - 1)
    shown = [f"{number:>5}  {lines[number - 1]}" for number in range(start, end + 1)]
    more = f"\n({len(lines)} lines in all)" if (start, end) != (1, len(lines)) else ""
    return Answer(_cut("\n".join(shown), place.box.limits.output_chars) + more)


def _edit(place: Place, given: Mapping[str, Any]) -> Answer:
    path, old, new = _below(given["path"]), given["old"], given["new"]
    try:
        text = place.box.read(path).decode("utf-8")
    except UnicodeDecodeError:
        return Answer(f"error: {path} is not text", "failed")
    except Refused:
        if old:
            return Answer(f"error: there is no file {path}", "failed")
        text = ""
    if not old and text:
        return Answer(f"error: {path} is there already; name the old text to replace", "failed")
    found = text.count(old) if old else 1
    if found != 1:
        return Answer(f"error: the old text occurs {found} times in {path}, not once; give more of it", "failed")
    place.box.write(path, (text.replace(old, new, 1) if old else new).encode("utf-8", "replace"))
    return Answer("edited")


_TOOLS: Final[dict[str, Callable[[Place, Mapping[str, Any]], Answer]]] = {
    "bash": _bash, "python": _python, "view": _view, "edit": _edit,
}  # fmt: skip


def _told(done: Output) -> Answer:
    """A command's output, and its end where that says something."""
    ends = {"timeout": "(stopped: out of time)", "memory": "(stopped: out of memory)", "episode": "(the time is over)"}
    end = ends.get(done.end, f"(exit status {done.status})" if done.status else "")
    text = "\n".join(part for part in (done.output.rstrip("\n"), end) if part)
    return Answer(text or "(no output)", "episode" if done.end == "episode" else "ok")


def _below(path: str) -> str:
    return path.removeprefix("/repo").lstrip("/")


def _quoted(path: str) -> str:
    return "'" + path.replace("'", "'\\''") + "'"


def _cut(text: str, size: int) -> str:
    if len(text) <= size:
        return text
    half = size // 2
    return f"{text[:half]}\n... {len(text) - 2 * half} characters left out ...\n{text[-half:]}"
