r"""The tests of a code problem: one JSON format, and builders from the rows of public sets.

    {"style": "assert", "tests": ["assert f(1) == 2"], "entry_points": ["f"], "setup": "import math", "prelude": ""}
    {"style": "stdio", "tests": [{"input": "1 2\n", "output": "3\n"}]}
    {"style": "call", "entry_point": "Solution.add", "tests": [{"args": [1, 2], "kwargs": {}, "output": 3}]}

assert: each test is Python that raises if the answer is wrong; functions named `test_*` that it defines are called.
    `entry_points` are the names of the solution; without them, every name that the tests read and nothing defines.
    `setup` runs before the tests, in their namespace. Tests and their values are never in the process of the
    solution's code (`inside/examiner.py`).
stdio: the output of the program for an input, compared by tokens, numbers with a tolerance of 1e-6.
call: a function of the solution, or a method of a class that is instantiated for each call; its result is compared
    outside the sandbox, by type, with JSON values: tuples count as lists.

`prelude` is Python that runs before the solution (imports, a helper, a class such as `ListNode`), in all styles; in
`assert` also before the tests. `classes` names those of its classes whose instances may be arguments and results.
"""

from __future__ import annotations

import ast
import builtins
import json
import re
import sys
from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue, TypeAdapter, ValidationError

from curate.verify.code.preludes import CONTEST_PRELUDE, NODES

MAX_TESTS: Final = 1000
ASSERT: Final = re.compile(r"(?m)^\s*assert\b")


class _Format(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    prelude: str = ""


class AssertTests(_Format):
    """Tests as Python that raises if the answer is wrong."""

    style: Literal["assert"] = "assert"
    tests: list[str] = Field(min_length=1, max_length=MAX_TESTS)
    entry_points: list[str] = []
    classes: list[str] = []
    setup: str = ""


class Stdio(BaseModel):
    """One input and the expected output of the program."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    input: str
    output: str


class StdioTests(_Format):
    """Tests of a program that reads and prints."""

    style: Literal["stdio"] = "stdio"
    tests: list[Stdio] = Field(min_length=1, max_length=MAX_TESTS)


class Call(BaseModel):
    """One call and its expected result."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    args: list[JsonValue] = []
    kwargs: dict[str, JsonValue] = {}
    output: JsonValue


class CallTests(_Format):
    """Tests as calls of one function."""

    style: Literal["call"] = "call"
    entry_point: str
    tests: list[Call] = Field(min_length=1, max_length=MAX_TESTS)


CodeTests = AssertTests | StdioTests | CallTests
_FORMAT: Final[TypeAdapter[CodeTests]] = TypeAdapter(Annotated[CodeTests, Field(discriminator="style")])


def parse_tests(tests: str) -> CodeTests | None:
    """The tests of a problem; None if the text is not such JSON or has no test."""
    try:
        return _FORMAT.validate_json(tests)
    except ValidationError:
        return None


def tests_from_row(row: Mapping[str, Any]) -> str | None:  # Any: a row of a public set, whatever its columns hold
    """The tests JSON of a row in the form of HumanEval, MBPP, LeetCode, LiveCodeBench, APPS or TACO; else None."""
    shapes = (_ready, _humaneval, _mbpp, _asserts, _functional, _livecodebench, _inputs_outputs, _test_list_of_cases)
    for build in shapes:
        found = build(row)
        if found is not None:
            return found.model_dump_json()
    return None


def _loaded(value: Any) -> Any:  # Any: JSON text or its value
    if isinstance(value, str) and value.lstrip()[:1] in ("[", "{"):
        try:
            return json.loads(value)
        except ValueError:
            return value
    return value


def _ready(row: Mapping[str, Any]) -> CodeTests | None:
    tests = row.get("tests")
    return parse_tests(tests if isinstance(tests, str) else json.dumps(tests, default=str))


def _humaneval(row: Mapping[str, Any]) -> CodeTests | None:
    test, name = row.get("test"), row.get("entry_point")
    if not (isinstance(test, str) and isinstance(name, str)) or "def check" not in test:
        return None
    # the prompt's helpers belong to the tests; its stub of the function is replaced by the solution
    return AssertTests(
        tests=[f"check({name})"], setup=test, entry_points=[name], prelude=_parsable(str(row.get("prompt") or ""))
    )


def _mbpp(row: Mapping[str, Any]) -> CodeTests | None:
    tests = _loaded(row.get("test_list"))
    if not isinstance(tests, list) or not tests or not all(isinstance(test, str) for test in tests):
        return None
    imports = row.get("test_imports") or []
    setup = "\n".join([*imports, str(row.get("test_setup_code") or "")])
    return AssertTests(tests=tests, setup=setup, entry_points=_entry_points([setup, *tests], row.get("code")))


def _asserts(row: Mapping[str, Any]) -> CodeTests | None:
    """A list of assert statements, or a text with some, in a column other than MBPP's."""
    found = _loaded(row.get("tests"))
    tests = [found] if isinstance(found, str) else found
    if (
        not isinstance(tests, list)
        or not tests
        or not all(isinstance(test, str) and ASSERT.search(_parsable(test)) for test in tests)
    ):
        return None
    reference = next((row[name] for name in ("code", "solution") if isinstance(row.get(name), str)), None)
    names = _entry_points(tests, reference) or _entry_points(tests, None)
    return AssertTests(tests=tests, entry_points=names) if names else None


def _functional(row: Mapping[str, Any]) -> CodeTests | None:
    tests = _loaded(row.get("tests"))
    source = tests.get("functional") if isinstance(tests, dict) else None
    if not isinstance(source, str) or not source.strip():
        return None
    return AssertTests(
        tests=[source],
        entry_points=["Solution"],
        classes=["ListNode", "TreeNode"],
        prelude=CONTEST_PRELUDE + (NODES if "_node(" in source or "is_same_" in source else ""),
    )


def _livecodebench(row: Mapping[str, Any]) -> CodeTests | None:
    cases = [
        case
        for name in ("public_test_cases", "private_test_cases")
        # compressed private cases are pickles and are never opened
        if isinstance(found := _loaded(row.get(name)), list)
        for case in found
    ]
    metadata = _loaded(row.get("metadata"))
    name = metadata.get("func_name") if isinstance(metadata, dict) else None
    return _cases(cases, name)


def _inputs_outputs(row: Mapping[str, Any]) -> CodeTests | None:
    for column in ("input_output", "tests", "test_cases", "ground_truth", "reward_model"):
        found = _loaded(row.get(column))
        if column == "reward_model" and isinstance(found, dict):
            found = _loaded(found.get("ground_truth"))
        if isinstance(found, dict) and isinstance(found.get("inputs"), list) and isinstance(found.get("outputs"), list):
            pairs = zip(found["inputs"], found["outputs"], strict=False)
            name = found.get("fn_name") or None
            return _calls_of_lists(name, pairs) if name else _cases([{"input": i, "output": o} for i, o in pairs], None)
    return None


def _test_list_of_cases(row: Mapping[str, Any]) -> CodeTests | None:
    for column in ("tests", "test_cases", "ground_truth"):
        found = _loaded(row.get(column))
        if isinstance(found, list) and found and all(isinstance(case, dict) for case in found):
            name = found[0].get("fn_name") or (_loaded(found[0].get("metadata")) or {}).get("func_name")
            return _cases(found, name)
    return None


def _cases(cases: Iterable[Any], name: str | None) -> CodeTests | None:
    """Tests from `input` and `output`: calls if a function is named and no case is of type stdin, else programs."""
    whole = [case for case in cases if isinstance(case, dict) and {"input", "output"} <= case.keys()]
    if not whole:
        return None
    if name and not any("stdin" in str(case.get("testtype") or case.get("type") or "") for case in whole):
        return _calls_of_lines(name, whole)
    tests = [Stdio(input=_text(case["input"]), output=_text(case["output"])) for case in whole[:MAX_TESTS]]
    return StdioTests(tests=tests, prelude="")


def _calls_of_lines(name: str, cases: list[dict[str, Any]]) -> CallTests | None:
    """LiveCodeBench: one JSON argument per line."""
    try:
        tests = [
            Call(
                args=[json.loads(line) for line in case["input"].splitlines() if line.strip()]
                if isinstance(case["input"], str)
                else list(case["input"]),
                output=_loaded(case["output"]) if not isinstance(case["output"], str) else json.loads(case["output"]),
            )
            for case in cases[:MAX_TESTS]
        ]
    except (ValueError, TypeError):
        return None
    return CallTests(entry_point=f"Solution.{name}", tests=tests, prelude=CONTEST_PRELUDE)


def _calls_of_lists(name: str, pairs: Iterable[tuple[Any, Any]]) -> CallTests:
    """APPS: a list of arguments; an output in a list of one is unpacked."""
    tests = [
        Call(args=list(given) if isinstance(given, list) else [given], output=_unwrapped(output))
        for given, output in pairs
    ]
    return CallTests(entry_point=name, tests=tests[:MAX_TESTS], prelude=CONTEST_PRELUDE)


def _unwrapped(output: Any) -> Any:
    return output[0] if isinstance(output, list) and len(output) == 1 else output


def _text(value: Any) -> str:
    """A text, joined from a list of lines as in APPS."""
    return "\n".join(map(str, value)) if isinstance(value, list) else str(value)


def _parsable(source: str) -> str:
    """The source if it is Python, else an empty string, so that a prompt in prose is no prelude."""
    try:
        ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return ""
    return source


def _entry_points(sources: list[str], reference: object) -> list[str]:
    """The names that the tests read and the reference solution defines; without one, those defined nowhere."""
    try:
        nodes = [node for source in sources for node in ast.walk(ast.parse(source))]
        read = {node.id: None for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
        bound = {node.id for node in nodes if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)}
        defined = _defined(reference) if isinstance(reference, str) else None
    except SyntaxError:
        return []
    if defined is None:
        return [name for name in read if name not in bound | sys.stdlib_module_names and not hasattr(builtins, name)]
    return [name for name in read if name in defined]


def _defined(source: str) -> set[str]:
    """Functions, classes and assigned names at the top of a module."""
    names: set[str] = set()
    for node in ast.parse(source).body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Assign):
            names |= {target.id for target in node.targets if isinstance(target, ast.Name)}
    return names
