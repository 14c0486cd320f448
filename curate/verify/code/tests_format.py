r"""The tests of a code problem: one JSON format. `public_sets` builds it from the rows of public sets.

    {"style": "assert", "tests": ["assert f(1) == 2"], "entry_points": ["f"], "setup": "import math", "prelude": ""}
    {"style": "stdio", "tests": [{"input": "1 2\n", "output": "3\n"}]}
    {"style": "call", "entry_point": "Solution.add", "tests": [{"args": [1, 2], "kwargs": {}, "output": 3}]}

assert: each test is Python that raises if the answer is wrong; what it defines of pytest and unittest runs too
    (`inside/suite.py`). `entry_points` are the names of the solution; without them, every name that the tests read and
    nothing defines. `setup` runs before the tests, in their namespace. Tests and their values are never in the process
    of the solution's code (`inside/examiner.py`).
stdio: the output of the program for an input, compared by tokens, numbers with a tolerance of 1e-6.
call: a function of the solution, or a method of a class that is instantiated for each call; its result is compared
    outside the sandbox, by type, with JSON values: tuples count as lists.

`checker` decides in place of the comparison (`stdio` and `call`), where a problem has several right answers: Python
that defines `check(given, output, expected)` and returns True for a right output. `given` is the input (`call`: the
arguments, or `[args, kwargs]` if there are kwargs), `output` what the solution printed or returned. It runs in the
examiner's sandbox, receives plain data only, and must not evaluate the output as code. An error in it rejects the
output; a checker that rejects an expected output, or accepts an empty one for each test, decides nothing.

`prelude` is Python that runs before the solution (imports, a helper, a class such as `ListNode`), in all styles; in
`assert` also before the tests. `classes` names those of its classes whose instances may be arguments and results.
"""

from __future__ import annotations

from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue, TypeAdapter, ValidationError, field_validator

MAX_TESTS: Final = 1000


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

    @field_validator("entry_points")
    @classmethod
    def _names(cls, values: list[str]) -> list[str]:
        # the name of `Solution().add` is Solution
        return list(dict.fromkeys(value.partition(".")[0].partition("(")[0].strip() for value in values))


class Stdio(BaseModel):
    """One input and the expected output of the program."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    input: str
    output: str


class StdioTests(_Format):
    """Tests of a program that reads and prints."""

    style: Literal["stdio"] = "stdio"
    tests: list[Stdio] = Field(min_length=1, max_length=MAX_TESTS)
    checker: str = ""


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
    checker: str = ""

    @field_validator("entry_point")
    @classmethod
    def _path(cls, value: str) -> str:
        return value.replace("()", "").strip()


CodeTests = AssertTests | StdioTests | CallTests
_FORMAT: Final[TypeAdapter[CodeTests]] = TypeAdapter(Annotated[CodeTests, Field(discriminator="style")])


def parse_tests(tests: str) -> CodeTests | None:
    """The tests of a problem; None if the text is not such JSON or has no test."""
    try:
        return _FORMAT.validate_json(tests)
    except ValidationError:
        return None
