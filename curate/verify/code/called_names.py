"""Reads from the text of tests and solutions which names the tests call: of functions, classes and methods."""

from __future__ import annotations

import ast
import builtins
import re
import sys
from collections.abc import Iterator
from typing import Final

ERRORS: Final = (SyntaxError, ValueError, RecursionError, MemoryError)
STUB: Final = re.compile(r"^(?P<indent>[ \t]*)def[ \t]+(?P<name>\w+)[ \t]*\(", re.MULTILINE)
STUB_CLASS: Final = re.compile(r"^class[ \t]+(?P<name>\w+)", re.MULTILINE)


def parsed(source: str) -> ast.Module | None:
    """The tree of a source; None if it is not Python."""
    try:
        return ast.parse(source)
    except ERRORS:
        return None


def parsable(source: str) -> str:
    """The source if it is Python, else an empty string: a prompt in prose is no prelude."""
    return source if parsed(source) is not None else ""


def entry_points(sources: list[str], reference: str | None) -> list[str]:
    """The names that the tests read and the reference solution defines; without one, those defined nowhere."""
    trees = [parsed(source) for source in sources]
    nodes = [node for tree in trees if tree is not None for node in ast.walk(tree)]
    read = dict.fromkeys(node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load))
    imported = dict.fromkeys(_from_solution(nodes))
    tree = parsed(reference) if reference is not None else None
    if tree is not None:
        defined = set(_defined(tree))
        return [name for name in read | imported if name in defined]
    if None in trees:
        return []
    bound = set(_bound(nodes)) - imported.keys()
    return [
        name
        for name in read | imported
        if name not in bound | sys.stdlib_module_names and not hasattr(builtins, name) and name != "pytest"
    ]


def _from_solution(nodes: list[ast.AST]) -> Iterator[str]:
    """Names imported from the solution's module, or read from it: `solution.f`."""
    for node in nodes:
        if isinstance(node, ast.ImportFrom) and node.module == "solution":
            yield from (alias.name for alias in node.names if alias.name != "*")
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "solution":
            yield node.attr


def _bound(nodes: list[ast.AST]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            yield node.id
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.Import | ast.ImportFrom):
            yield from ((alias.asname or alias.name).partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ExceptHandler) and node.name:
            yield node.name


def _defined(tree: ast.Module) -> Iterator[str]:
    """Functions, classes and assigned names at the top of a module."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Assign):
            yield from (target.id for target in node.targets if isinstance(target, ast.Name))


def uncalled_check(source: str) -> str | None:
    """The name of a function of one argument that checks a candidate and that nothing calls: HumanEval's `check`."""
    tree = parsed(source)
    if tree is None:
        return None
    calls = [node.func for node in ast.walk(tree) if isinstance(node, ast.Call)]
    called = {function.id for function in calls if isinstance(function, ast.Name)}
    for node in tree.body:
        is_check = isinstance(node, ast.FunctionDef) and node.name.startswith("check") and len(node.args.args) == 1
        if is_check and isinstance(node, ast.FunctionDef) and node.name not in called:
            return node.name
    return None


def callable_path(entry_point: str, sources: list[str]) -> str:
    """A stated entry point as an expression: `f`, or `Solution().add` for a method, also of a class in `sources`."""
    path = entry_point.replace("()", "").strip()
    owner, _, name = path.rpartition(".")
    if not owner:
        owner = next((owner for source in sources for owner in [_owner(source, name)] if owner), "")
    return f"{owner}().{name}" if owner else name


def defined_path(sources: list[str], prompt: str) -> str | None:
    """The function that a solution defines, or a stub: the one that the prompt names, or else the last."""
    for source in sources:
        names = _functions(source)
        if names:
            named = [name for name in names if re.search(rf"\b{re.escape(name)}\b", prompt)]
            return callable_path((named or names)[-1], [source])
    return None


def classes_in(source: str) -> list[str]:
    """The classes at the top of a source."""
    tree = parsed(source)
    return [node.name for node in tree.body if isinstance(node, ast.ClassDef)] if tree is not None else []


def functions_in(source: str) -> list[str]:
    """The functions at the top of a source."""
    tree = parsed(source)
    return [node.name for node in tree.body if isinstance(node, ast.FunctionDef)] if tree is not None else []


def _functions(source: str) -> list[str]:
    """Names of the functions at the top of a source, or of the methods of its class if there are none."""
    tree = parsed(source)
    if tree is None:
        return [match["name"] for match in STUB.finditer(source) if not match["name"].startswith("_")]
    names = [node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    return names or [method for node in tree.body if isinstance(node, ast.ClassDef) for method in _methods(node)]


def _methods(node: ast.ClassDef) -> list[str]:
    return [part.name for part in node.body if isinstance(part, ast.FunctionDef) and not part.name.startswith("_")]


def _owner(source: str, method: str) -> str | None:
    """The class in a source that has a method of this name, if no function has it."""
    tree = parsed(source)
    if tree is None:
        found = next((match for match in STUB.finditer(source) if match["name"] == method and match["indent"]), None)
        before = [match["name"] for match in STUB_CLASS.finditer(source[: found.start()])] if found else []
        return before[-1] if before else None
    if any(isinstance(node, ast.FunctionDef) and node.name == method for node in tree.body):
        return None
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef) and method in _methods(node)]
    return classes[-1].name if classes else None
