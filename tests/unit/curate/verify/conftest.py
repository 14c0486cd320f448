"""Fixtures of the code verifier's tests: a check that programs can run here, and short ways to write tests."""

import json
from collections.abc import Callable

import pytest

from curate.verify.code.sandbox import Limits, SandboxUnavailable, check_sandbox
from curate.verify.policy import Policy
from curate.verify.verdict import Verdict

Check = Callable[..., Verdict]


@pytest.fixture(scope="session")
def sandboxed() -> None:
    """Skip, with the reason, if programs cannot run safely here."""
    try:
        check_sandbox(Limits(cpu_s=5, memory_mb=512))
    except SandboxUnavailable as why:
        pytest.skip(f"no sandbox: {why}")


@pytest.fixture
def check(sandboxed: None) -> Check:
    """`check(source, tests)` with short time limits; tests are strings (assert), pairs (stdio) or triples (call)."""
    from curate.verify.code.grade import verify_code

    def run(source: str, *tests: object, timeout_s: float = 1.0) -> Verdict:
        return verify_code(f"```python\n{source}\n```", as_json(*tests), Policy(code_timeout_s=timeout_s))

    return run


def as_json(*tests: object) -> str:
    """The tests JSON of bare asserts about `f`, (input, output) pairs, or (function, arguments, output) triples."""
    if isinstance(tests[0], str):
        return json.dumps({"style": "assert", "tests": list(tests), "entry_points": ["f"]})
    if len(tests[0]) == 2:
        return json.dumps({"style": "stdio", "tests": [{"input": i, "output": o} for i, o in tests]})
    name = tests[0][0]
    calls = [{"args": args, "output": output} for _, args, output in tests]
    return json.dumps({"style": "call", "entry_point": name, "tests": calls})
