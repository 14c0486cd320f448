"""Finds the program in a completion: the last fenced block after the thinking that defines what the tests call.

Without a fence the whole text counts if it is Python. A fence inside a string of the program, such as an example in a
docstring, does not end its block. A body without its `def` line, as base models continue HumanEval's prompts, is
appended to the prompt.
"""

from __future__ import annotations

import ast
import itertools
import re
import textwrap
import threading
import warnings
from collections.abc import Collection
from typing import Final, NamedTuple

from curate.process_wide import ProcessWide
from curate.verify.thinking import after, split
from curate.verify.verdict import Reason

_FENCE: Final = re.compile(r"^[ \t]*(```+|~~~+)[ \t]*([\w+#.-]*)[^\n]*(?:\n|\Z)", re.MULTILINE)
_CLOSING: Final = {mark: re.compile(rf"^[ \t]*{mark}{mark[0]}*[ \t]*$", re.MULTILINE) for mark in ("```", "~~~")}
_MAX_CLOSINGS: Final = 20
_READS: Final = re.compile(r"\binput\b|\bstdin\b|\bopen\(\s*0\b|\bos\.read\b")
_PYTHON: Final = ("", "python", "python3", "py", "py3")
MAX_CHARS: Final = 100_000
ERRORS: Final = (SyntaxError, ValueError, RecursionError, MemoryError)

_FILTERS_LOCK: Final = ProcessWide(threading.Lock)


class Program(NamedTuple):
    """The source to run, or the reason code for having none."""

    source: str | None
    reason: Reason = "no_answer"


def find_program(completion: str, names: Collection[str] = (), prompt: str = "") -> Program:
    """The program of a completion; reasons for none: think_only, truncated, no_answer, too_long."""
    # a model's program may contain invalid escapes; the lock, because warning filters are process-wide
    with _FILTERS_LOCK.get(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return _find(completion, names, prompt)


def _find(completion: str, names: Collection[str], prompt: str) -> Program:
    answer = after(completion).replace("\r\n", "\n")
    blocks, outside, is_open = _blocks(answer)
    if split(outside).is_open:  # a mark inside a program is text
        return Program(None, "think_only")
    if any(language in _PYTHON for language, _ in blocks):
        return _checked(_with_prompt(_choose(blocks, names), names, prompt))
    if is_open:
        return Program(None, "truncated")
    whole = _with_prompt(answer, names, prompt)
    return (
        _checked(whole)
        if _is_python(whole)
        else Program(None, "think_only" if _fenced_inside(completion) else "no_answer")
    )


class _Blocks(NamedTuple):
    """The (language, content) of each fenced block, the text outside, and whether the last fence has no end."""

    blocks: list[tuple[str, str]]
    outside: str
    is_open: bool


def _blocks(text: str) -> _Blocks:
    blocks: list[tuple[str, str]] = []
    place, outside = 0, ""
    while (opening := _FENCE.search(text, place)) is not None:
        mark, language, start = opening[1], opening[2].lower(), opening.end()
        closings = (found for found in _CLOSING[mark[:3]].finditer(text, start) if len(found[0].strip()) >= len(mark))
        found = list(itertools.islice(closings, _MAX_CLOSINGS))
        if not found:
            return _Blocks(blocks, outside + text[place:], is_open=True)
        ends = [end for end in found if not _is_in_string(text[start : end.start()])]
        end = ends[0] if ends and language in _PYTHON else found[0]
        blocks.append((language, _unindented(text[start : end.start()])))
        outside += text[place : opening.start()]
        place = end.end()
    return _Blocks(blocks, outside + text[place:], is_open=False)


def _is_in_string(source: str) -> bool:
    """Whether a source ends inside a string in triple quotes."""
    parts = iter(re.findall(r'"""|\'\'\'', source))
    return any(mark not in parts for mark in parts)


def _unindented(source: str) -> str:
    """A program in a list item without the indentation of the list; any other text unchanged."""
    bare = textwrap.dedent(source)
    return bare if bare != source and not _is_python(source) and _is_python(bare) else source


def _choose(blocks: list[tuple[str, str]], names: Collection[str]) -> str:
    """The last block that defines the wanted names; without names, the last one that reads input, if any does."""
    python = [block for language, block in blocks if language in _PYTHON]
    named = [block for language, block in blocks if language in _PYTHON and language]
    for group in (named, python):
        fitting = [block for block in group if _is_python(block) and defines(block, names)]
        reading = [] if names else [block for block in fitting if _READS.search(block)]
        if fitting:
            return (reading or fitting)[-1]
    return (named or python)[-1]


def _checked(source: str) -> Program:
    return Program(source) if len(source) <= MAX_CHARS else Program(None, "too_long")


def _fenced_inside(completion: str) -> bool:
    return bool(_blocks(split(completion).thinking).blocks)


def _with_prompt(source: str, names: Collection[str], prompt: str) -> str:
    """The source unchanged if it is complete; a function's body appended to the prompt that ends in its `def`."""
    if not prompt or (_is_python(source) and defines(source, names)):
        return source
    # unchanged, with its indentation replaced, or with the indentation of its first line replaced
    for body in (source, textwrap.indent(textwrap.dedent(source), "    "), f"    {source.lstrip()}"):
        if _is_python(prompt + body) and source.strip():
            return prompt + body
    return source


def _is_python(source: str) -> bool:
    """Whether the source compiles and has an effect: prose of one word compiles too."""
    try:
        compile(source if len(source) <= MAX_CHARS else "", "completion", "exec")
    except ERRORS:
        return False
    return any(not isinstance(node, ast.Expr) or isinstance(node.value, ast.Call) for node in _statements(source))


def defines(source: str, names: Collection[str]) -> bool:
    """Whether every name is bound at the top of the source."""
    bound: set[str] = set()
    for node in _statements(source):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            bound.add(node.name)
        elif isinstance(node, ast.Assign):
            bound |= {target.id for target in node.targets if isinstance(target, ast.Name)}
        elif isinstance(node, ast.Import | ast.ImportFrom):
            bound |= {(alias.asname or alias.name).partition(".")[0] for alias in node.names}
    return set(names) <= bound


def _statements(source: str) -> list[ast.stmt]:
    try:
        # longer than any program: parsing a flood of text would take seconds
        return ast.parse(source if len(source) <= MAX_CHARS else "").body
    except ERRORS:
        return []
