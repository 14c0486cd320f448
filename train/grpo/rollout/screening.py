"""The part of the trainer that screens: first completions, the choice, and the rest of the chosen groups."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from accelerate.utils import gather_object
from transformers import set_seed
from trl import GRPOTrainer

from curriculum import Curriculum
from curriculum.answers.spelling import answer_of
from train.grpo.objectives import Objective
from train.grpo.rollout.draw import Draw
from train.grpo.rollout.screen import Candidate, Sampled, Screening, Verdicts, candidates_of, choose, merged
from train.rewards.rewards import Accuracy


class ScreeningTrainer(GRPOTrainer):  # type: ignore[misc]  # trl has no types
    """Screens the problems of a generation (`train.grpo.rollout.screen`); the subclass draws, seeds and scores."""

    curriculum: Curriculum
    _objective: Objective
    _accuracy: Accuracy

    def __init__(self, **trl: Any) -> None:
        super().__init__(**trl)
        # of this generation: the problems screened, and what is sampled already of each of this process's completions
        self._screening = Screening((), ())
        self._kept: list[Sampled | None] = []

    def _next_draw(self, num_problems: int, exclude: Collection[int] = ()) -> Draw:
        raise NotImplementedError

    def _problem(self, row: int, step: int) -> dict[str, Any]:
        raise NotImplementedError

    def _score(self, draw: Draw) -> dict[str, Any]:
        raise NotImplementedError

    def _seed(self, what: str) -> int:
        raise NotImplementedError

    def _screened(self, num_problems: int) -> dict[str, Any]:
        """A generation of problems whose first completions disagree, as far as the rounds find them."""
        found: list[Candidate] = []
        for _ in range(self._objective.refill_rounds + 1):
            missing = num_problems - sum(one.is_mixed(self._objective) for one in found)
            if missing <= 0:
                break
            # as many for each process, whole groups
            each = -(-missing // self.accelerator.num_processes)
            draw = self._next_draw(each * self.accelerator.num_processes, exclude=[one.group.row for one in found])
            found += self._first_completions(draw)
        self._screening = choose(found, num_problems, self._objective)
        self.state.num_input_tokens_seen += sum(one.num_tokens for one in self._screening.dropped)
        self._kept = self._screening.kept(self.num_generations)[self._mine(num_problems * self.num_generations)]
        try:
            return self._score(replace(draw, rows=self._screening.rows, group_size=self.num_generations))
        finally:
            self._screening, self._kept = Screening((), ()), []

    def _first_completions(self, draw: Draw) -> list[Candidate]:
        """The first completions of a draw's problems, judged, from all processes."""
        rows = [row for row in draw.rows for _ in range(self._objective.screen)]
        set_seed(self._seed(f"screen {draw.number}"))
        inputs = [self._problem(row, draw.step) for row in rows[self._mine(len(rows))]]
        # counted once the group is whole; of dropped problems only the tokens are
        metrics = {name: list(values) for name, values in self._metrics["train"].items()}
        tokens = self.state.num_input_tokens_seen
        self._kept = [None] * len(inputs)
        prompt_ids, ids, _, completions, logprobs, *_ = self._generate([row["prompt"] for row in inputs])
        self._metrics["train"].clear()
        self._metrics["train"].update(metrics)
        self.state.num_input_tokens_seen = tokens
        columns = {name: [row[name] for row in inputs] for name in inputs[0] if name != "prompt"}
        values = self._accuracy(completions=completions, completion_ids=ids, **columns)
        sampled = [Sampled(list(one), logprob) for one, logprob in zip(ids, logprobs or [None] * len(ids), strict=True)]
        judged = Verdicts(
            gather_object([float("nan") if value is None else value for value in values]),
            gather_object(self._accuracy.reasons),
            self._answers(inputs, completions),
        )
        return candidates_of(draw.rows, gather_object(sampled), judged, gather_object([len(one) for one in prompt_ids]))

    def _generate_single_turn(
        self, prompt_ids: Any, images: Any, fields: Any, num_generations: int, **more: Any
    ) -> Any:
        if not self._kept:
            return super()._generate_single_turn(prompt_ids, images, fields, num_generations, **more)
        gaps = [place for place, one in enumerate(self._kept) if one is None]
        fields = {name: [values[place] for place in gaps] for name, values in fields.items()}
        ids, logprobs = super()._generate_single_turn([prompt_ids[gap] for gap in gaps], images, fields, 1, **more)
        fresh = [Sampled(list(one), logprob) for one, logprob in zip(ids, logprobs or [None] * len(ids), strict=True)]
        whole = merged(self._kept, fresh)
        return [one.ids for one in whole], [one.logprobs for one in whole] if logprobs else None

    def _answers(self, inputs: Sequence[Mapping[str, Any]], completions: Sequence[Any]) -> list[str | None]:
        """The answers of all processes' completions in one spelling; empty where no suspects are looked for."""
        if not self.curriculum.config.suspect_alpha:
            return []
        texts = zip(inputs, completions, strict=True)
        mine = [answer_of(self._accuracy.text(text)) if row["kind"] == "math" else None for row, text in texts]
        everyone: list[str | None] = gather_object(mine)
        return everyone

    def _mine(self, num: int) -> slice:
        """This process's share of `num` completions, in the order of a draw."""
        rank, world = self.accelerator.process_index, self.accelerator.num_processes
        return slice(rank * num // world, (rank + 1) * num // world)
