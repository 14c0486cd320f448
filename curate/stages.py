"""The stages by name: the module and config model of each; imports none of them."""

from __future__ import annotations

from typing import Final, NamedTuple


class Entry(NamedTuple):
    """Location of a stage: the module defines the config model of this name and `stage(config) -> Stage`.

    The module of `FIRST`, which reads sources, defines `stage(config, plans)`.
    """

    module: str
    config: str


FIRST: Final = "ingest"
STAGES: Final[dict[str, Entry]] = {
    "ingest": Entry("curate.ingest.stage", "IngestConfig"),
    "dedup": Entry("curate.dedup.stage", "DedupConfig"),
    "multiple-choice": Entry("curate.multiple_choice.stage", "MultipleChoiceConfig"),
    "decontaminate": Entry("curate.decontaminate.stage", "DecontaminateConfig"),
    "verifiable": Entry("curate.verifiable.stage", "VerifiableConfig"),
    "solvable": Entry("curate.tasks.stage", "SolvableConfig"),
    "reviewed": Entry("curate.review.reviewed", "ReviewedConfig"),
    "no-think": Entry("curate.difficulty.no_think", "NoThinkConfig"),
    "difficulty": Entry("curate.difficulty.stage", "DifficultyConfig"),
}
