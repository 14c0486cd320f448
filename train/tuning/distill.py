"""Distillation: a student learns a teacher's verified answers, or on-policy from what the teacher makes of its own."""

from __future__ import annotations

from pydantic import Field, PositiveInt

from curate.errors import UserError
from train.data.selection import right_answers
from train.runs.command_line import DataFile, Force, Model, Out
from train.runs.frame import Job
from train.tuning.on_policy import OnPolicyConfig, learn_on_policy
from train.tuning.sft import fine_tune

ONLY_ON_POLICY = ("divergence", "temperature", "vllm")


class DistillConfig(OnPolicyConfig):
    """Learn another model's right answers, or on-policy.

    Data is an artifact with samples, as `gradus curate difficulty --model TEACHER` leaves it: every completion that was
    judged correct and not cut off is an example (DeepSeek-R1, 2501.12948, sec. 2.4). With --teacher, data are problems:
    the student answers them, and the teacher's distribution at every token is what it learns. The model is left in
    OUT/model.

    Example: gradus train distill --model models/student --data runs/teacher_difficulty --out runs/distilled
    """

    per_problem: PositiveInt = Field(4, description="Without a teacher: at most so many right answers of each problem.")


def distill(model: Model, data: DataFile, out: Out, config: DistillConfig, force: Force = False) -> None:
    """Train and leave the model in `out/model`."""
    job = Job("distill", model, data, out, force)
    if config.teacher is not None:
        learn_on_policy(job, config)
        return
    if ignored := [name for name in ONLY_ON_POLICY if name in config.model_fields_set]:
        raise UserError(f"--{ignored[0]} does nothing without --teacher; name one, or leave it out")
    fine_tune(job, right_answers(data, config.per_problem), config)
