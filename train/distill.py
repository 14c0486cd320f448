"""Sequence-level distillation: a student learns a teacher's verified answers (DeepSeek-R1, 2501.12948, sec. 2.4)."""

from __future__ import annotations

from pydantic import Field, PositiveInt

from train.command_line import DataFile, Force, Model, Out
from train.selection import right_answers
from train.sft import Job, SftConfig, fine_tune


class DistillConfig(SftConfig):
    """Fine-tune a model on the right answers of another one.

    Data is an artifact with samples, as `gradus curate difficulty --model TEACHER` leaves it: every completion that was
    judged correct and not cut off is an example. The model is left in OUT/model.

    Example: gradus train distill --model models/student --data runs/teacher_difficulty --out runs/distilled
    """

    per_problem: PositiveInt = Field(4, description="At most so many right answers of each problem.")


def distill(model: Model, data: DataFile, out: Out, config: DistillConfig, force: Force = False) -> None:
    """Train and leave the model in `out/model`."""
    rows = right_answers(data, config.per_problem)
    fine_tune(Job("distill", model, data, out, force), rows, config)
