"""Checks that the tests of a code problem separate right programs from wrong ones: pass the reference, fail duds.

The reference solution runs in the sandbox of `curate.verify`. Duds are programs that ignore the problem: they return a
constant or their input. Tests that a dud passes teach a model to submit it; tests that an empty program passes are
none. For tests that list their outputs no dud runs: a constant passes exactly if all outputs are the same.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Final, NamedTuple

from curate.artifacts.manifest import canonical_json
from curate.cpus import usable_cores
from curate.errors import UserError
from curate.verify import Item, Policy, Verdict, verify_many
from curate.verify.code.examined import Unready, tests_nothing
from curate.verify.code.sandbox import Limits, SandboxUnavailable, available_packages, check_sandbox
from curate.verify.code.tests_format import AssertTests, CallTests, StdioTests, parse_tests

DUDS: Final = ("None", "0", "1", "True", "False", "[]", "''", "a[0] if a else None")


class CodeProblem(NamedTuple):
    """The checked fields: the tests' JSON, and the reference solution if there is one."""

    tests: str | None
    solution: str | None


class Finding(NamedTuple):
    """Why a problem is dropped, and the evidence."""

    reason: str
    detail: str


def check_code_problems(problems: Sequence[CodeProblem], policy: Policy) -> list[Finding | None]:
    """A finding for each problem, in order; None if its tests are good, or if that is unknown.

    Raises `UserError` if programs cannot run on this machine.
    """
    _require_sandbox(policy)
    with ThreadPoolExecutor(usable_cores() + 1) as pool:
        static = list(pool.map(lambda problem: _read(problem) or _emptiness(problem, policy), problems))
    owed = [index for index, found in enumerate(static) if found is None]
    programs = [(index, *program) for index in owed for program in _programs(problems[index])]
    items = [Item(_fenced(source), "", kind="code", tests=problems[index].tests) for index, _, source in programs]
    verdicts = verify_many(items, policy=policy)
    findings: list[Finding | None] = list(static)
    for (index, role, source), verdict in zip(programs, verdicts, strict=True):
        findings[index] = findings[index] or _finding(role, source, verdict)
    return findings


def _read(problem: CodeProblem) -> Finding | None:
    """The finding that the tests' text alone allows."""
    if not (problem.tests or "").strip():
        return Finding("no_tests", "null")
    tests = parse_tests(problem.tests or "")
    if tests is None:
        return Finding("no_tests", "not the tests format of gradus")
    outputs = [] if isinstance(tests, AssertTests) or tests.checker else _outputs(tests)
    if len(outputs) > 1 and len(set(outputs)) == 1:
        return Finding("trivial_passes_tests", f"all {len(outputs)} outputs are {outputs[0][:80]}")
    return None


def _emptiness(problem: CodeProblem, policy: Policy) -> Finding | None:
    """The finding if an empty program passes; None also if the sandbox could not tell."""
    tests = parse_tests(problem.tests or "")
    try:
        is_empty = tests is not None and tests_nothing(tests, policy)
    except (Unready, OSError):  # the machine has no free files or processes
        return None
    if not is_empty:
        return None
    has_checker = tests is not None and not isinstance(tests, AssertTests) and tests.checker
    detail = (
        "the checker accepts an empty output, or rejects an expected one" if has_checker else "an empty program passes"
    )
    return Finding("no_tests", detail)


def _outputs(tests: StdioTests | CallTests) -> list[str]:
    if isinstance(tests, StdioTests):
        return [" ".join(test.output.split()) for test in tests.tests]
    return [canonical_json(test.output) for test in tests.tests]


def _programs(problem: CodeProblem) -> list[tuple[str, str]]:
    """(role, source) of the programs to run: the reference, then the duds."""
    tests = parse_tests(problem.tests or "")
    reference = [("reference", problem.solution)] if problem.solution and problem.solution.strip() else []
    is_open = isinstance(tests, AssertTests) and not refutes_duds(tests)
    return reference + [("dud", dud) for dud in (duds(tests) if is_open and isinstance(tests, AssertTests) else [])]


def refutes_duds(tests: AssertTests) -> bool:
    """Whether the tests' text shows that no dud passes: two results differ, and one differs from its input."""
    pairs = [pair for source in (tests.setup, *tests.tests) for pair in _equalities(source)]
    results = [result for _, result in pairs]
    changes = any(given != [] and given[0] != result for given, result in pairs)
    return changes and any(result != results[0] for result in results)


def _equalities(source: str) -> Iterator[tuple[list[object], object]]:
    """(arguments, result) of each `assert f(arguments) == result` whose values are literals in the text."""
    for node in ast.walk(_parsed(source)):
        test = node.test if isinstance(node, ast.Assert) else None
        if (
            not isinstance(test, ast.Compare)
            or not isinstance(test.left, ast.Call)
            or not isinstance(test.ops[0], ast.Eq)
        ):
            continue
        call = test.left
        try:
            given = [ast.literal_eval(arg) for arg in (*call.args, *(keyword.value for keyword in call.keywords))]
            yield given, ast.literal_eval(test.comparators[0])
        except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
            continue


def _missing_package(source: str) -> str | None:
    """A package that the reference imports and that the sandbox lacks."""
    available = available_packages()
    for node in ast.walk(_parsed(source)):
        modules = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        modules += [node.module] if isinstance(node, ast.ImportFrom) and node.module else []
        for name in (module.partition(".")[0] for module in modules):
            if name not in sys.stdlib_module_names and name not in available:
                return f"imports {name}, which the sandbox lacks"
    return None


def _parsed(source: str) -> ast.AST:
    try:
        return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return ast.Module([], [])


def duds(tests: AssertTests) -> list[str]:
    """Programs that ignore the problem, with the names that the tests call."""
    if tests.entry_points == ["Solution"]:
        # any method: only the tests' text names the one that is called
        return [f"class Solution:\n    def __getattr__(self, _): return lambda *a, **k: {value}\n" for value in DUDS]
    return ["\n".join(f"def {name}(*a, **k): return {value}" for name in tests.entry_points) for value in DUDS]


def _fenced(source: str) -> str:
    return source if "```" in source else f"```python\n{source}\n```"


def _require_sandbox(policy: Policy) -> None:
    try:
        check_sandbox(Limits(cpu_s=policy.code_timeout_s, memory_mb=512, is_isolated=not policy.unsafe_local))
    except SandboxUnavailable as why:
        raise UserError(
            f"code problems run their tests in bubblewrap, which does not work here ({why}); "
            "install it (apt-get install bubblewrap), or --verify '{unsafe_local: true}' for code that you trust"
        ) from None


UNDECIDED: Final = {
    "unparseable_ground_truth": "the tests do not run here: they do not compile, or import what the sandbox lacks",
    "unparseable_answer": "the tests need what cannot leave the solution's sandbox: a patched module, a shared file",
}


def _finding(role: str, source: str, verdict: Verdict) -> Finding | None:
    if role == "reference":
        if verdict.reason in UNDECIDED:
            return Finding("reference_fails_tests", UNDECIDED[verdict.reason])
        detail = _missing_package(source) or verdict.reason
        return Finding("reference_fails_tests", detail) if verdict.verdict == "wrong" else None
    return Finding("trivial_passes_tests", source[:80]) if verdict.verdict == "correct" else None
