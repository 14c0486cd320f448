"""Settings for what counts as equal where public test sets contradict each other."""

from __future__ import annotations

from typing import ClassVar, Final, Literal

from pydantic import Field, field_validator

from curate.config import RUNTIME, Config
from curate.errors import UserError
from curate.own_code import has_digest, is_own, load, with_digest
from curate.records import KINDS, OWN_KIND

OPTION: Final = "--verifier"


class Policy(Config):
    """The choices of the verifier. The defaults are strict about value and lenient about presentation."""

    panel: ClassVar[str] = "Verifier"

    boxes: Literal["agree", "last"] = Field(
        "agree", description="several boxes after the reasoning: all must agree, or only the last counts"
    )
    claims: bool = Field(True, description="accept an explicit final claim without a box, such as: the answer is 7/9")
    bare: bool = Field(True, description="accept a completion that consists of an answer only")
    approximate: Literal["when_asked", "never"] = Field(
        "when_asked",
        description="accept a rounded value if the ground truth has two or more decimals or the question asks to round",
    )
    rel_tol: float = Field(
        0.0, ge=0, lt=1, description="relative distance from the ground truth that is accepted; 0.01 is 1%; 0 is off"
    )
    sig_figs: int = Field(
        0, ge=0, le=15, description="significant figures to which an answer must equal the ground truth; 0 is off"
    )
    percent: Literal["same_figure", "strict"] = Field(
        "same_figure", description="5 against 5%: accept the same figure without its percent sign, or only equal values"
    )
    units: Literal["optional", "required"] = Field(
        "optional", description="a unit on only one side: accepted, or wrong; a conflicting unit is always wrong"
    )
    pair_is_set: bool = Field(False, description="accept (1,2) for {1,2}")
    is_case_sensitive: bool = Field(False, description="compare words case-sensitively")
    answer_overrun: Literal["undecided", "wrong"] = Field(
        "undecided",
        description="verdict if an answer makes the symbolic worker time out, crash or run out of memory",
    )
    unevaluated: Literal["accept", "wrong"] = Field(
        "wrong",
        description="an equal answer that is left to be computed, such as 2+3 for 5 or a formula of the question",
    )
    asked_form: Literal["required", "ignored"] = Field(
        "required",
        description="the form that the question asks for, such as factored, in lowest terms or in scientific notation",
    )
    verifiers: tuple[str, ...] = Field(
        (),
        description="verifiers of your own, each for a kind of problems: KIND=FILE.py:FUNCTION or KIND=MODULE:FUNCTION",
    )
    timeout_s: float = Field(2.0, gt=0, description="wall seconds per pair, after which its worker is killed")
    max_chars: int = Field(2000, ge=1, description="longest answer in characters; longer ones are compared as strings")
    max_depth: int = Field(64, ge=1, le=200, description="deepest nesting of brackets that is parsed")
    max_digits: int = Field(400, ge=1, le=4000, description="longest figure in digits that is parsed as a number")
    max_memory_mb: int = Field(1024, ge=32, json_schema_extra=RUNTIME, description="memory of a symbolic worker in MiB")
    code_timeout_s: float = Field(6.0, gt=0, description="CPU seconds a program may use for one test")
    code_memory_mb: int = Field(512, ge=64, description="memory of each process of a program in MiB")
    code_total_memory_mb: int = Field(1024, ge=64, description="memory of all processes of a program together in MiB")
    unsafe_local: bool = Field(
        False, description="run programs without a sandbox if bubblewrap is missing; only for code that you trust"
    )

    @field_validator("verifiers")
    @classmethod
    def _exist(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        """The verifiers with the digests of their files, so that a changed one is another policy."""
        found = {}
        for name in names:
            kind, is_named, place = name.partition("=")
            if not is_named or not OWN_KIND.fullmatch(kind) or not is_own(place):
                raise ValueError(f"{name}: write KIND=FILE.py:FUNCTION, with a kind in small letters such as sql")
            if kind in KINDS:
                raise ValueError(f"{name}: {kind} has a verifier; give your problems a kind of their own")
            if kind in found:
                raise ValueError(f"{name}: a verifier of kind {kind} is named twice")
            try:
                load(place, OPTION)
                found[kind] = with_digest(place, OPTION)
            except UserError as error:
                if has_digest(place):
                    found[kind] = place  # of a finished run, which is read where the file is not
                    continue
                raise ValueError(str(error).removeprefix(f"{OPTION}: ")) from None
        return tuple(f"{kind}={place}" for kind, place in found.items())

    @property
    def own_kinds(self) -> dict[str, str]:
        """The verifier of each kind of the user's own, by kind."""
        return dict(name.split("=", 1) for name in self.verifiers)

    @property
    def has_tolerance(self) -> bool:
        """Whether values close to the ground truth are accepted."""
        return bool(self.rel_tol or self.sig_figs)
