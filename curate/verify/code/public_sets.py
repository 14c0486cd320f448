"""Builds tests in the format of `tests_format` from the rows of public sets.

Known are the rows of HumanEval(+), MBPP(+), LeetCode sets, LiveCodeBench, APPS, TACO, CodeContests, BigCodeBench,
KodCode and their like. A row whose tests would call nothing of the solution has none: `def check(candidate)` is called
with the stated entry point, or with the function that the solution defines.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from curate.verify.code.called_names import (
    callable_path,
    classes_in,
    defined_path,
    entry_points,
    functions_in,
    parsable,
    uncalled_check,
)
from curate.verify.code.preludes import CONTEST_PRELUDE, NODES, script_checker
from curate.verify.code.program import find_program
from curate.verify.code.tests_format import (
    MAX_TESTS,
    AssertTests,
    Call,
    CallTests,
    CodeTests,
    Stdio,
    StdioTests,
    parse_tests,
)

# a test that can fail: an assertion, or a function or class of pytest or unittest
ASSERTS: Final = re.compile(r"(?m)^\s*(?:assert\b|(?:async\s+)?def\s+test|class\s+\w+\(.*TestCase\b)")
CHECK: Final = re.compile(r"(?m)^def\s+check\w*\(")
REFERENCES: Final = (
    "code", "solution", "canonical_solution", "solutions", "completion", "reference_solution", "code_ground_truth",
    "solution_code", "gold_standard_solution", "response",
)  # fmt: skip
STUBS: Final = ("starter_code", "complete_prompt", "code_prompt", "skeleton")


def tests_from_row(row: Mapping[str, Any]) -> str | None:  # Any: a row of a public set, whatever its columns hold
    """The tests JSON of a row in the form of a public set; None if there is no test that calls a solution."""
    for build in SHAPES:
        found = build(row)
        if found is not None:
            return _with_checker(found, row).model_dump_json()
    return None


def _with_checker(tests: CodeTests, row: Mapping[str, Any]) -> CodeTests:
    """The tests with the checker of the row: a function `check(given, output, expected)`, or a script."""
    if isinstance(tests, AssertTests) or tests.checker:
        return tests
    for column in ("checker", "generated_checker"):
        source = row.get(column)
        if isinstance(source, str) and parsable(source).strip():
            defines_check = "check" in functions_in(source)
            checker = source if defines_check else script_checker(source) if "argv" in source else ""
            return tests.model_copy(update={"checker": checker})
    return tests


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


def _check(row: Mapping[str, Any]) -> CodeTests | None:
    """HumanEval and LeetCode: a function `check(candidate)`, called with the entry point."""
    test = next((row[name] for name in ("test", "tests") if isinstance(row.get(name), str)), None)
    name = uncalled_check(test) if test is not None and CHECK.search(test) else None
    if test is None or name is None:
        return None
    stated, prompt = row.get("entry_point"), str(row.get("prompt") or "")
    sources = [source for source in (_reference(row), *(row.get(stub) for stub in STUBS), prompt) if source]
    if isinstance(stated, str) and stated.strip():
        path: str | None = callable_path(stated, sources)
    else:
        path = defined_path(sources, " ".join(str(row.get(part) or "") for part in ("prompt", "question", "problem")))
    if path is None:
        return None
    return _called_check(test, name, path, prompt)


def _called_check(test: str, name: str, path: str, prompt: str) -> AssertTests:
    # the prompt's helpers belong to the tests; its stub of the function is replaced by the solution
    prelude = parsable(prompt)
    if not prelude.strip() and "(" in path:
        prelude = _contest_prelude(test)
    classes = [found for found in classes_in(prelude) if found != path.partition("(")[0]]
    return AssertTests(tests=[f"{name}({path})"], setup=test, entry_points=[path], prelude=prelude, classes=classes)


def _contest_prelude(test: str) -> str:
    return CONTEST_PRELUDE + (NODES if "_node(" in test or "is_same_" in test else "")


def _skywork(row: Mapping[str, Any]) -> CodeTests | None:
    """A `check` with its imports and its entry point in one JSON."""
    for column in ("reward_model", "ground_truth", "tests"):
        found = _loaded(row.get(column))
        if column == "reward_model" and isinstance(found, dict):
            found = _loaded(found.get("ground_truth"))
        if isinstance(found, dict) and isinstance(found.get("test_code"), str):
            parts = {"test": found["test_code"], "entry_point": found.get("entry_point")}
            return _check({**parts, "prompt": found.get("import_prefix") or "", "solution": _reference(row)})
    return None


def _reference(row: Mapping[str, Any]) -> str | None:
    """The source of the reference solution."""
    for column in REFERENCES:
        found = row.get(column)
        found = found[0] if isinstance(found, list) and found else found
        if isinstance(found, str) and found.strip():
            return find_program(found).source or found
    return None


def _mbpp(row: Mapping[str, Any]) -> CodeTests | None:
    tests = _loaded(row.get("test_list"))
    if not isinstance(tests, list) or not tests or not all(isinstance(test, str) for test in tests):
        return None
    imports = row.get("test_imports") or []
    setup = "\n".join([*imports, str(row.get("test_setup_code") or "")])
    return AssertTests(tests=tests, setup=setup, entry_points=entry_points([setup, *tests], _reference(row)))


def _asserts(row: Mapping[str, Any]) -> CodeTests | None:
    """A list of assert statements, or a text with some, or with tests of pytest or unittest."""
    found = _loaded(row.get("tests"))
    tests = [found] if isinstance(found, str) else found
    if (
        not isinstance(tests, list)
        or not tests
        or not all(isinstance(test, str) and ASSERTS.search(parsable(test)) for test in tests)
        or any(uncalled_check(test) for test in tests)
    ):
        return None
    stated = row.get("entry_point")
    names = [stated] if isinstance(stated, str) and stated.strip() else []
    names = names or entry_points(tests, _reference(row)) or entry_points(tests, None)
    return AssertTests(tests=tests[:MAX_TESTS], entry_points=names) if names else None


def _mercury(row: Mapping[str, Any]) -> CodeTests | None:
    """Cases with arguments by name and an expected result."""
    cases, name = _loaded(row.get("test_cases")), row.get("entry_point")
    if not isinstance(cases, list) or not cases or not isinstance(name, str):
        return None
    if not all(isinstance(case, dict) and isinstance(case.get("input"), dict) and "expected" in case for case in cases):
        return None
    tests = [Call(kwargs=case["input"], output=case["expected"]) for case in cases[:MAX_TESTS]]
    return CallTests(entry_point=f"Solution.{name}", tests=tests, prelude=CONTEST_PRELUDE)


def _functional(row: Mapping[str, Any]) -> CodeTests | None:
    tests = _loaded(row.get("tests"))
    source = tests.get("functional") if isinstance(tests, dict) else None
    if not isinstance(source, str) or not source.strip():
        return None
    return AssertTests(
        tests=[source],
        entry_points=["Solution"],
        classes=["ListNode", "TreeNode"],
        prelude=_contest_prelude(source),
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


def _codecontests(row: Mapping[str, Any]) -> CodeTests | None:
    """Lists of inputs and of outputs, in up to three columns."""
    cases: list[dict[str, Any]] = []
    for column in ("public_tests", "private_tests", "generated_tests", "tests"):
        found = _loaded(row.get(column))
        if isinstance(found, dict) and isinstance(found.get("input"), list) and isinstance(found.get("output"), list):
            pairs = zip(found["input"], found["output"], strict=False)
            cases += [{"input": given, "output": output} for given, output in pairs]
    return _cases(cases, None)


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
                output=json.loads(case["output"]) if isinstance(case["output"], str) else case["output"],
            )
            for case in cases[:MAX_TESTS]
        ]
        if not any(isinstance(case["input"], str) for case in cases):
            tests = _unwrapped(tests)
    except (ValueError, TypeError):
        return None
    return CallTests(entry_point=f"Solution.{name}", tests=tests, prelude=CONTEST_PRELUDE)


def _calls_of_lists(name: str, pairs: Iterable[tuple[Any, Any]]) -> CallTests | None:
    """APPS: a list of arguments for each call."""
    tests = [
        Call(args=list(given) if isinstance(given, list) else [given], output=output)
        for given, output in itertools.islice(pairs, MAX_TESTS)
    ]
    return CallTests(entry_point=name, tests=_unwrapped(tests), prelude=CONTEST_PRELUDE) if tests else None


def _unwrapped(tests: list[Call]) -> list[Call]:
    """The calls without the list of one in which some sets put each output; if one output is no such list, none is."""
    outputs = [test.output[0] for test in tests if isinstance(test.output, list) and len(test.output) == 1]
    if len(outputs) < len(tests):
        return tests
    return [test.model_copy(update={"output": output}) for test, output in zip(tests, outputs, strict=True)]


def _text(value: Any) -> str:
    """A text, joined from a list of lines as in APPS."""
    return "\n".join(map(str, value)) if isinstance(value, list) else str(value)


SHAPES: Final = (
    _ready, _check, _skywork, _mercury, _mbpp, _asserts, _functional, _livecodebench, _codecontests, _inputs_outputs,
    _test_list_of_cases,
)  # fmt: skip
