"""Options of `gradus card build` and `gradus card push`."""

from __future__ import annotations

import datetime as dt
import re
from pathlib import Path
from typing import Final, Self

from pydantic import Field, field_validator, model_validator

from curate.config import RUNTIME, Config

TAG: Final = re.compile(r"v\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?")  # a semantic version
REPO: Final = re.compile(r"[\w.-]+/[\w.-]+")


class CardConfig(Config):
    """Build a dataset folder with a card from a run's kept rows, dropped rows and samples.

    The folder opens offline with datasets.load_dataset and polars, and is ready for training and pushing.

    Example: gradus card build runs/first --out datasets/first --name "First problems"
    """

    name: str = Field(default="Curated problems", description="Title of the dataset.")
    description: str = Field(default="", description="Description of the dataset, one paragraph.")
    repo: str = Field(default="", description="ORG/NAME of the dataset on the Hub, for the card's examples.")
    licence: str = Field(default="", description="Licence of the dataset; default: those of the sources.")
    language: tuple[str, ...] = Field(
        default=(), description="ISO 639-1 codes; default: detected from the script of the prompts."
    )
    tags: tuple[str, ...] = Field(default=(), description="Additional tags for the Hub.")
    authors: str = Field(default="", description="Authors to cite.")
    version: str = Field(
        default="", description="Version for the metadata, vMAJOR.MINOR.PATCH, equal to the later tag."
    )
    date: str = Field(default="", description="Publication date for the metadata, YYYY-MM-DD.")
    max_text_bytes: int = Field(
        default=64_000_000, gt=0, description="Maximum size of a text cell.", json_schema_extra=RUNTIME
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
    """Publish a dataset on the Hub as one commit and a tag; existing tags are never moved.

    The token comes from `hf auth login` or HF_TOKEN. After an interruption, the same command sends only missing files.

    Example: gradus card push datasets/first --repo me/first-problems --tag v1.0.0
    """

    repo: str = Field(description="ORG/NAME on the Hub; created if absent.")
    tag: str = Field("", description="Version to tag, vMAJOR.MINOR.PATCH.")
    private: bool = Field(default=False, description="Make the new repository private.")
    create_pr: bool = Field(default=False, description="Open a pull request instead; sets no tag.")
    with_curriculum: Path | None = Field(None, description="Training run whose curriculum state is added.")


class PushModelConfig(Config):
    """Publish the model of a finished training run on the Hub, as one commit with a card.

    The card names base, data with their digest and settings, and shows the benchmarks before and after and the
    curriculum's picture, which `gradus curriculum plot RUN` draws. The token comes from `hf auth login` or HF_TOKEN.
    After an interruption, the same command sends only missing files.

    Example: gradus card push-model runs/grpo --repo me/first-model --before eval/before --after eval/after
    """

    repo: str = Field(description="ORG/NAME on the Hub; created if absent.")
    tag: str = Field("", description="Version to tag, vMAJOR.MINOR.PATCH.")
    private: bool = Field(default=False, description="Make the new repository private.")
    dataset: str = Field("", description="The data on the Hub, ORG/NAME or ORG/NAME@TAG, for the card.")
    before: Path | None = Field(None, description="Evaluation of the model that training started from.")
    after: Path | None = Field(None, description="Evaluation of the trained model.")

    @model_validator(mode="after")
    def _has_both(self) -> Self:
        if (self.before is None) != (self.after is None):
            raise ValueError("before and after belong together; give both evaluations, or neither")
        return self
