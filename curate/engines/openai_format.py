"""Requests to OpenAI-compatible servers and their answers as JSON; contains no HTTP."""

from __future__ import annotations

import json
from typing import Any, Final

from curate.engines.config import EngineConfig
from curate.engines.prompts import EMPTY_THINK, messages, prefill, raw_text, template_switches
from curate.engines.protocol import Completion, Request
from curate.engines.tool_calls import written

# Any: JSON of unknown shape
MALFORMED: Final = (ValueError, LookupError, TypeError)  # what parsing raises for any other body


def question(request: Request, config: EngineConfig) -> tuple[str, dict[str, Any]]:
    """The path after the base URL that a request is posted to, and its body."""
    body: dict[str, Any] = {
        "model": config.model,
        "max_tokens": request.max_tokens or config.max_tokens,
        "temperature": config.temperature,
        "top_p": config.top_p,
        "seed": request.seed,
    }
    # options that some servers lack are sent only if they are set
    if config.top_k:
        body["top_k"] = config.top_k
    if config.stop:
        body["stop"] = list(config.stop)
    if config.prompt_format == "raw" and request.chat is None:
        text = raw_text(request.prompt, config, request.messages)
        return "/completions", body | {"prompt": text + prefill(config)}
    if request.chat is not None:
        body |= _under_way(request.chat)
    else:
        body["messages"] = messages(request.prompt, config, request.messages)
    if switches := template_switches(config):
        body["chat_template_kwargs"] = switches
    if prefill(config):
        body["messages"].append({"role": "assistant", "content": EMPTY_THINK})
        body |= {"add_generation_prompt": False, "continue_final_message": True}
    return "/chat/completions", body


def completion_of(body: bytes, request: Request) -> Completion:
    """The completion in an answer; raises one of `MALFORMED` if there is none."""
    answer = json.loads(body)
    choice = answer["choices"][0]
    text = _text(choice)
    num_tokens = int((answer.get("usage") or {}).get("completion_tokens") or len(text.split()))
    reason = "length" if choice.get("finish_reason") == "length" else "stop"
    return Completion(request.key, request.index, text, num_tokens, reason, request.seed)


def served_models(body: bytes) -> list[str]:
    """The names in a list of models; empty for any other body, since a server may not list its models."""
    try:
        return [str(entry["id"]) for entry in json.loads(body)["data"]]
    except MALFORMED:
        return []


def error_message(body: bytes, text: str) -> str:
    """The message of a refusal in one line, or all of its text if it has no message."""
    try:
        answer = json.loads(body)
        found = answer.get("error", answer)
        message = found.get("message", found) if isinstance(found, dict) else found
    except (ValueError, AttributeError):
        message = text
    return " ".join(str(message).split())


def _text(choice: dict[str, Any]) -> str:
    """The whole completion; reasoning that the server separated is put back before the answer."""
    if "text" in choice:
        return str(choice["text"])
    message = choice["message"]
    content = message.get("content") or ""
    if not isinstance(content, str):
        raise TypeError(f"content is {type(content).__name__}, not text")
    content += "".join(map(_call, message.get("tool_calls") or ()))
    if thought := message.get("reasoning_content") or message.get("reasoning"):
        return f"<think>{thought}</think>{content}"
    # the template opened the think block, so the server sent only its end
    return f"<think>{content}" if "</think>" in content and "<think>" not in content else content


def _under_way(chat: str) -> dict[str, Any]:
    """A conversation with tool calls in the server's form: arguments as JSON text, and an id for each call."""
    told = json.loads(chat)
    turns: list[dict[str, Any]] = []
    last = iter([""])
    for turn in told["messages"]:
        if calls := turn.get("tool_calls"):
            ids = [f"call_{len(turns)}_{place}" for place in range(len(calls))]
            turns.append({**turn, "tool_calls": [_sent(*pair) for pair in zip(calls, ids, strict=True)]})
            last = iter(ids)
        elif turn["role"] == "tool":
            turns.append({**turn, "tool_call_id": next(last, "call")})
        else:
            turns.append(turn)
    return {"messages": turns, **({"tools": told["tools"]} if told.get("tools") else {})}


def _sent(call: dict[str, Any], call_id: str) -> dict[str, Any]:
    asked = call["function"]
    return {**call, "id": call_id, "function": {**asked, "arguments": json.dumps(asked["arguments"])}}


def _call(told: dict[str, Any]) -> str:
    """A call that the server separated, written as the model may have; arguments that are no JSON stay as they are."""
    asked = told["function"]
    try:
        return written(asked["name"], json.loads(asked["arguments"] or "{}"))
    except ValueError:
        return f'<tool_call>{{"name": {json.dumps(asked["name"])}, "arguments": {asked["arguments"]}}}</tool_call>'
