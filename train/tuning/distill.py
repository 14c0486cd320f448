"""Distillation from samples: a student is fine-tuned on a teacher's verified answers."""

from __future__ import annotations

from pydantic import Field, PositiveInt

from train.data.selection import right_answers
from train.runs.command_line import DataFile, Force, Model, Out
from train.runs.frame import Job
from train.tuning.sft import SftConfig, fine_tune


class DistillConfig(SftConfig):
    """Learn another model's right answers.

    Data is an artifact with samples, as `gradus curate difficulty --model TEACHER` writes it: every completion that was
    judged correct and not cut off is an example (DeepSeek-R1, 2501.12948, sec. 2.4). The model is written to OUT/model.
    To learn a teacher's distribution instead, use `gradus train distill-on-policy`.

    Example: gradus train distill --model models/student --data runs/teacher_difficulty --out runs/distilled
    """

    per_problem: PositiveInt = Field(4, description="Maximum number of right answers per problem.")


def distill(model: Model, data: DataFile, out: Out, config: DistillConfig, force: Force = False) -> None:
    """Train and write the model to `out/model`."""
    fine_tune(Job("distill", model, data, out, force), right_answers(data, config.per_problem), config)
