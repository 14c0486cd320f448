"""The stages behind `ingest`, by name: the module that holds each, and its config model. It imports none of them."""

from __future__ import annotations

from typing import Final, NamedTuple


class Entry(NamedTuple):
    """Where a stage lives. Its module has the config model of this name and `stage(config) -> Stage`."""

    module: str
    config: str


STAGES: Final[dict[str, Entry]] = {
    "dedup": Entry("curate.dedup.stage", "DedupConfig"),
    "multiple-choice": Entry("curate.multiple_choice.stage", "MultipleChoiceConfig"),
    "decontaminate": Entry("curate.decontaminate.stage", "DecontaminateConfig"),
    "verifiable": Entry("curate.verifiable.stage", "VerifiableConfig"),
    "reviewed": Entry("curate.review.reviewed", "ReviewedConfig"),
    "no-think": Entry("curate.difficulty.no_think", "NoThinkConfig"),
    "difficulty": Entry("curate.difficulty.stage", "DifficultyConfig"),
}
