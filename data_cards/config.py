"""The description of a dataset that users give: the options of `gradus card build` and `gradus card push`."""

from __future__ import annotations

import datetime as dt
import re
from pathlib import Path
from typing import Final

from pydantic import Field, field_validator

from curate.config import RUNTIME, Config

TAG: Final = re.compile(r"v\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?")  # a semantic version
REPO: Final = re.compile(r"[\w.-]+/[\w.-]+")


class CardConfig(Config):
    """Gather a run's last rows, everything it dropped, and its samples into a dataset folder with a card.

    The folder opens with datasets.load_dataset and polars, offline, and can be trained on or pushed unchanged.

    Example: gradus card build runs/first --out datasets/first --name "First problems"
    """

    name: str = Field(default="Curated problems", description="Title of the dataset.")
    description: str = Field(default="", description="A paragraph about it, in your words.")
    repo: str = Field(default="", description="ORG/NAME it will have on the Hub, for the card's examples.")
    licence: str = Field(default="", description="Licence of the whole; by default those of the sources.")
    language: tuple[str, ...] = Field(
        default=(), description="ISO 639-1 codes; by default detected from the prompts' script."
    )
    tags: tuple[str, ...] = Field(default=(), description="Further tags for the Hub.")
    authors: str = Field(default="", description="Whom to cite.")
    version: str = Field(default="", description="vMAJOR.MINOR.PATCH, as it will be tagged; for the metadata.")
    date: str = Field(default="", description="Day of publication, YYYY-MM-DD; for the metadata.")
    max_text_bytes: int = Field(
        default=64_000_000, gt=0, description="Longest text that is published.", json_schema_extra=RUNTIME
    )

    @field_validator("repo")
    @classmethod
    def _repo_is_whole(cls, value: str) -> str:
        if value and not REPO.fullmatch(value):
            raise ValueError("use ORG/NAME of letters, digits, '-', '_' and '.'")
        return value

    @field_validator("version")
    @classmethod
    def _version_is_semantic(cls, value: str) -> str:
        if value and not TAG.fullmatch(value):
            raise ValueError("use vMAJOR.MINOR.PATCH, such as v1.0.0")
        return value

    @field_validator("date")
    @classmethod
    def _date_is_a_day(cls, value: str) -> str:
        if value:
            dt.date.fromisoformat(value)
        return value


class PushConfig(Config):
    """Publish a dataset on the Hub: one commit, and a tag that never moves.

    The token is the one of `hf auth login` or HF_TOKEN. Broken off, the same command sends only what is missing.

    Example: gradus card push datasets/first --repo me/first-problems --tag v1.0.0
    """

    repo: str = Field(description="ORG/NAME on the Hub; made if absent.")
    tag: str = Field("", description="Version to tag, vMAJOR.MINOR.PATCH.")
    private: bool = Field(default=False, description="Make the new repository private.")
    create_pr: bool = Field(default=False, description="Open a pull request instead; it gets no tag.")
    with_curriculum: Path | None = Field(None, description="Training run whose curriculum state travels along.")
