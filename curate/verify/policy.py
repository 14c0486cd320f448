"""What counts as equal where mathematics leaves a choice: public test sets contradict each other, so it is set here."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from curate.config import RUNTIME, Config


class Policy(Config):
    """The choices of the verifier. The defaults are strict about value and lenient about presentation."""

    boxes: Literal["agree", "last"] = Field(
        "agree", description="several boxes after the reasoning: all must agree, or the last counts"
    )
    claims: bool = Field(True, description="accept an explicit final claim where there is no box: the answer is 7/9")
    bare: bool = Field(True, description="accept a completion that is nothing but an answer")
    approximate: Literal["when_asked", "never"] = Field(
        "when_asked",
        description="accept a rounded value where the truth has two or more decimals or the question asks to round",
    )
    percent: Literal["same_figure", "strict"] = Field(
        "same_figure", description="5 against 5%: accept the same figure without its sign, or only equal values"
    )
    units: Literal["optional", "required"] = Field(
        "optional", description="a unit that only one side has: accept, or wrong; a conflicting unit is always wrong"
    )
    pair_is_set: bool = Field(False, description="accept (1,2) for {1,2}")
    is_case_sensitive: bool = Field(False, description="compare words with their case")
    answer_overrun: Literal["undecided", "wrong"] = Field(
        "undecided", description="an answer on which the symbolic worker timed out, crashed or ran out of memory"
    )
    timeout_s: float = Field(2.0, gt=0, description="wall seconds a pair, after which its worker is killed")
    max_chars: int = Field(2000, ge=1, description="longest answer that is compared other than as a string")
    max_depth: int = Field(64, ge=1, le=200, description="deepest nesting of brackets that is read")
    max_digits: int = Field(400, ge=1, le=4000, description="longest figure that is read as a number")
    max_memory_mb: int = Field(1024, ge=32, json_schema_extra=RUNTIME, description="memory of a symbolic worker, MiB")
    code_timeout_s: float = Field(6.0, gt=0, description="CPU seconds that a program may take for one test")
    code_memory_mb: int = Field(512, ge=64, description="memory of each process of a program, MiB")
    code_total_memory_mb: int = Field(1024, ge=64, description="memory of all processes of a program together, MiB")
    unsafe_local: bool = Field(
        False, description="run programs without a sandbox where bubblewrap is missing: only for code that you trust"
    )
