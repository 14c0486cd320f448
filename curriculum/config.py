"""The options of the curriculum, each with its name, type, default and help."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, model_validator

from curate.config import Config


class CurriculumConfig(Config):
    """Which problem next, when one counts as mastered, and when it comes back. A step is one of the trainer's."""

    policy: Literal["uniform", "prioritized", "easy_to_hard", "learnability", "target"] = Field(
        "target", description="How slots go to active problems."
    )
    seed: int = Field(0, ge=0, description="Seed of all draws; draw number d uses (seed, d) and nothing carried over.")
    half_life_visits: float = Field(
        3.0, gt=0, description="Visits after which an outcome weighs half; large values never forget."
    )
    gain_half_life: float = Field(
        30.0,
        ge=0,
        description="Steps after which a batch weighs half in the estimate of how fast all problems become easier; "
        "0 = rates do not change between visits.",
    )
    prior_weight: float = Field(
        8.0, ge=0, description="At most this many of the measured samples count as evidence of the pass rate."
    )
    floor: float = Field(
        0.05, gt=0, le=1, description="Share of slots drawn evenly from all active and parked problems."
    )
    target: float = Field(0.5, gt=0, lt=1, description="Policy target: the success rate to draw nearest to.")
    level: str | None = Field(
        None, description="Column, or field of extra, that orders easy to hard; default: the measured pass rate."
    )
    hard_from_step: int | None = Field(
        None, ge=0, description="From this step on draw only from the hardest problems, whatever the policy."
    )
    hard_share: float = Field(0.5, gt=0, le=1, description="Which share of the problems counts as the hardest.")
    rule: Literal["e_process", "threshold", "posterior", "none"] = Field(
        "e_process", description="What retires a problem; only e_process bounds false retirement."
    )
    p0: float = Field(0.8, gt=0, lt=1, description="A problem is mastered when its success rate exceeds this.")
    alpha: float = Field(0.05, gt=0, lt=1, description="Bound on the probability of ever retiring below p0.")
    threshold: float = Field(1.0, gt=0, le=1, description="Rule threshold: retire when one group reaches this rate.")
    recheck_after: int = Field(20, ge=1, description="Steps from retirement to the first re-check.")
    recheck_growth: float = Field(2.0, ge=1, description="Factor on the interval after each passed re-check.")
    recheck_share: float = Field(0.05, ge=0, le=1, description="At most this share of all slots goes to re-checks.")
    park_after: int = Field(8, ge=1, description="Visits in a row without a success after which a problem is parked.")
    quarantine_after: int = Field(
        3, ge=1, description="Visits in a row that were mostly undecided after which a problem is quarantined."
    )
    quarantine_rate: float = Field(
        0.5, gt=0, lt=1, description="A visit counts as mostly undecided above this share of its completions."
    )
    outage_p: float = Field(
        1e-6,
        ge=0,
        lt=1,
        description="A batch with next to no success, of a probability below this, is an outage; 0 = never.",
    )
    outage_undecided: float = Field(
        0.5, gt=0, le=1, description="A batch with more undecided completions than this share is an outage."
    )
    outage_limit: int = Field(3, ge=1, description="Outages in a row after which training stops.")
    probe_size: int = Field(0, ge=0, description="Problems of the fixed probe set.")
    probe_held_out: bool = Field(True, description="Keep the probe set out of all draws.")

    @model_validator(mode="after")
    def _looks_back(self) -> Self:
        if self.recheck_share == 0 and self.rule != "none":
            raise ValueError("recheck_share 0 would never look back at a retired problem; use at least 0.01")
        return self
