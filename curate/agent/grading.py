"""The verdict on an episode, from its record: hidden tests for a task, the verifier on the last reply for the rest."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import NamedTuple

from curate.agent.config import AgentConfig
from curate.agent.engine import NO_TASKS
from curate.artifacts.samples import Sample
from curate.artifacts.trajectory import UNFINISHED, Trajectory, content_of, trajectory_of
from curate.engines import Completion
from curate.errors import UserError
from curate.sampling.grading import GradingConfig, Problem, grade, verdicts
from curate.tasks.store import TaskStore
from curate.verify.repo.box import Change
from curate.verify.repo.grade import grade as grade_changes
from curate.verify.verdict import Item


class Judged(NamedTuple):
    """A verdict, its reason code, and the evidence in one line."""

    verdict: str
    reason: str
    detail: str = ""


def grade_sample(
    problem: Problem, completion: Completion, config: GradingConfig, agent: AgentConfig, store: TaskStore | None
) -> Sample:
    """Judge one completion, be it an episode or not; runs tests in boxes, so call it in a thread."""
    told = trajectory_of(completion.text) if problem.kind == "agent" or agent.is_for_all else None
    if told is None:
        return grade(problem, completion, config)
    judged = judge(problem, told, config, agent, store)
    return Sample(
        key=completion.key, index=completion.index, text=completion.text, num_tokens=completion.num_tokens,
        finish_reason=completion.finish_reason, verdict=judged.verdict, verdict_reason=judged.reason,
        seed=completion.seed,
    )  # fmt: skip


def judge(
    problem: Problem, told: Trajectory, config: GradingConfig, agent: AgentConfig, store: TaskStore | None
) -> Judged:
    """The verdict on an episode. An unfinished one is what `truncated` says, unless that is `judged`."""
    if told.end == "sandbox_fault":
        return Judged("undecided", "sandbox_fault", told.detail)
    if told.end in UNFINISHED and config.truncated != "judged":
        return Judged(config.truncated, "truncated", f"{told.end} {told.detail}".strip())
    if problem.kind != "agent":
        truth, origin = problem.ground_truth, problem.source
        item = Item(told.answer, truth, problem.kind, problem.prompt, problem.tests, source=origin)
        found = verdicts([item], config)[0]
        return Judged(found.verdict, found.reason)
    if store is None:
        raise UserError(NO_TASKS)
    try:
        return _decided(problem.tests, problem.proof, json.dumps(told.changes), agent, store)
    except _Undecided as why:
        return why.args[0]  # type: ignore[no-any-return]


class _Undecided(Exception):  # noqa: N818  # a verdict, not a fault
    """Carries a verdict that is not to be remembered: the next try may be decided."""


# the episodes of a group often end in the same files
@lru_cache(maxsize=10_000)
def _decided(tests: str | None, proof: str | None, changed: str, agent: AgentConfig, store: TaskStore) -> Judged:
    task = store.task(tests, proof)
    changes = [Change(cell["path"], cell["kind"], cell["size"], content_of(cell)) for cell in json.loads(changed)]
    result = grade_changes(task.base, task.tests, changes, agent, exploit=agent.exploit)
    judged = Judged(result.verdict, result.reason, result.detail)
    if judged.verdict == "undecided":
        raise _Undecided(judged)
    return judged
