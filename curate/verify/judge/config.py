"""The config of the judge model, which stages and trainers embed; without it there is no judge."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar, Literal, Self
from urllib.parse import urlsplit

from pydantic import Field, field_validator, model_validator

from curate.config import RUNTIME, Config


class JudgeConfig(Config):
    """A model behind an OpenAI-compatible server that decides pairs that the rules leave undecided."""

    panel: ClassVar[str] = "Verifier"

    url: str = Field(description="Base URL of the server, e.g. http://localhost:8000/v1; the key is OPENAI_API_KEY.")
    model: str = Field(description="Model name on the server.")
    style: Literal["plain", "compass", "xverify", "general"] = Field(
        "plain", description="Format: plain for any model, or that of CompassVerifier, xVerify or general-verifier."
    )
    prompt: Path | None = Field(
        None,
        description="File with the published prompt of such a model, with {question}, {ground_truth} and {answer}.",
    )
    max_tokens: int = Field(1024, ge=8, description="Maximum number of tokens of a reply.")
    audit_rate: float = Field(0.0, ge=0, le=1, description="Share of rule-decided pairs that the judge also checks.")
    cache: Path | None = Field(None, json_schema_extra=RUNTIME, description="File that caches replies between runs.")
    timeout_s: float = Field(60.0, gt=0, json_schema_extra=RUNTIME, description="Seconds to wait for a reply.")
    num_tries: int = Field(3, ge=1, json_schema_extra=RUNTIME, description="Number of tries if the server fails.")
    num_in_flight: int = Field(16, ge=1, json_schema_extra=RUNTIME, description="Maximum number of pairs in flight.")

    @field_validator("url")
    @classmethod
    def _is_http(cls, url: str) -> str:
        try:
            parts = urlsplit(url)
            is_whole = url.startswith(("http://", "https://")) and bool(parts.hostname) and parts.port != 0
        except ValueError:  # a port that is not a number, brackets without an address
            is_whole = False
        if not is_whole:
            raise ValueError("write a URL such as http://localhost:8000/v1")
        return url

    @model_validator(mode="after")
    def _has_style(self) -> Self:
        if self.prompt is not None and self.style == "plain":
            raise ValueError("name a style for the prompt: compass, xverify or general")
        return self
