"""Which model judges what rules leave undecided: a config that stages and trainers embed, off unless it is given."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlsplit

from pydantic import Field, field_validator

from curate.config import RUNTIME, Config


class JudgeConfig(Config):
    """A model that decides what rules cannot, behind an OpenAI-compatible server."""

    url: str = Field(description="Base URL of the server, e.g. http://localhost:8000/v1; the key is OPENAI_API_KEY.")
    model: str = Field(description="Model name that the server knows.")
    max_tokens: int = Field(1024, ge=8, description="Tokens of a reply.")
    audit_rate: float = Field(0.0, ge=0, le=1, description="Share of pairs decided by rules that the judge sees too.")
    cache: Path | None = Field(None, json_schema_extra=RUNTIME, description="File that keeps replies between runs.")
    timeout_s: float = Field(60.0, gt=0, json_schema_extra=RUNTIME, description="Seconds to wait for a reply.")
    num_tries: int = Field(3, ge=1, json_schema_extra=RUNTIME, description="Tries where the server fails.")
    num_in_flight: int = Field(16, ge=1, json_schema_extra=RUNTIME, description="Questions asked at a time.")

    @field_validator("url")
    @classmethod
    def _is_http(cls, url: str) -> str:
        try:
            parts = urlsplit(url)
            is_whole = url.startswith(("http://", "https://")) and bool(parts.hostname) and parts.port != 0
        except ValueError:  # a port that is no number, brackets without an address
            is_whole = False
        if not is_whole:
            raise ValueError("write a URL such as http://localhost:8000/v1")
        return url
