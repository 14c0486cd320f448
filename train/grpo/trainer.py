"""TRL's GRPOTrainer with problems bound late: each generation draws from the curriculum and reports back to it.

The dataset that TRL iterates over contains only empty slots. Every process holds the same curriculum, makes the same
draw and takes its slice, rank by rank and group by group; outcomes are gathered to all processes. So processes need not
exchange draws, and the curriculum's state, saved in each checkpoint, is all that a resume needs.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any, Final

import polars as pl
import torch
from accelerate.utils import gather_object
from transformers import set_seed

from curate.artifacts.artifact import write_shard
from curate.artifacts.samples import sample_seed
from curriculum import Curriculum
from curriculum.canaries.problems import as_canary
from train.environment import first_process_says
from train.grpo.episodes import Episodes, punished_tokens
from train.grpo.evaluation import BENCHMARK, Evaluation, Judged
from train.grpo.loss.advantages import advantages
from train.grpo.loss.divisors import count_per_step, own_mask
from train.grpo.loss.losses import Tokens, gmpo_loss, kimi_loss, reinforce_loss, squared_log_ratio
from train.grpo.loss.reference import load_reference, save_reference
from train.grpo.loss.undecided import have_signal, whole_rows
from train.grpo.objectives import GMPO_CLIP, Objective
from train.grpo.rollout.draw import Draw
from train.grpo.rollout.groups import Group, group_figures, groups_of
from train.grpo.rollout.refill import dead_groups, replace_groups
from train.grpo.rollout.screening import ScreeningTrainer
from train.grpo.run_curriculum import print_notices
from train.grpo.stop_when import StopRules
from train.rewards.rewards import Accuracy
from train.runs.folder import CANARY, COMPLETIONS, DRAWS, RunFolder

Row = dict[str, Any]  # Any: columns of a problem, as TRL passes them to rewards
RECORDED: Final = ("num_correct", "num_wrong", "num_undecided", "mean_tokens_correct", "mean_tokens_wrong")


class CurriculumGRPOTrainer(ScreeningTrainer):
    """Trains on the draws of a curriculum; built by `train.grpo.command`. `problems` are the rows that draws index."""

    def __init__(
        self,
        *,
        problems: Sequence[Row],
        curriculum: Curriculum,
        objective: Objective,
        run: RunFolder,
        saves_completions: bool = False,
        evaluation: Evaluation | None = None,
        stop: StopRules | None = None,
        episodes: Episodes | None = None,
        **trl: Any,
    ) -> None:
        super().__init__(**trl, **({"rollout_func": episodes} if episodes else {}))
        self._episodes = episodes
        self._saves_completions, self._evaluation, self._stop = saves_completions, evaluation, stop
        if stop is not None:
            self.add_callback(stop)
        self._problems, self.curriculum, self._objective, self._run = problems, curriculum, objective, run
        self._accuracy = next(reward for reward in self.reward_funcs if isinstance(reward, Accuracy))
        # set before TRL generates, judged when TRL computes rewards, read after that
        self._draw = Draw((), 0, 0, self.num_generations)

    def _generate_and_score_completions(self, inputs: list[Row]) -> dict[str, Any]:
        if not self.model.training:
            set_seed(self._seed(f"probe {self.state.global_step} {inputs[0]['key']}"))
            self._begin(inputs)
            return dict(super()._generate_and_score_completions(inputs))
        if self._objective.resets_optimizer and self.optimizer is not None:
            self.optimizer.state.clear()
        world = self.accelerator.num_processes
        num_problems = len(inputs) * world // self.num_generations
        if self._objective.screen:
            return self._screened(num_problems)
        draw = self._next_draw(num_problems)
        scored, drawn = self._score(draw), draw.rows
        for _ in range(self._objective.refill_rounds):
            # all processes continue while one of them has a dead group
            most = max(gather_object([len(dead_groups(scored, self.num_generations))]))
            if most == 0:
                break
            fresh = self._next_draw(most * world, exclude=drawn)
            drawn += fresh.rows
            padding = self.processing_class.pad_token_id
            scored = replace_groups(scored, self._score(fresh), self.num_generations, padding)
        return scored

    def _next_draw(self, num_problems: int, exclude: Collection[int] = ()) -> Draw:
        step = int(self.state.global_step) + 1
        rows = self.curriculum.draw(num_problems, step=step, exclude=exclude)
        return Draw(tuple(rows), self.curriculum.clock.draw_number, step, self.num_generations)

    def _score(self, draw: Draw) -> dict[str, Any]:
        """This process's share of a draw's completions, scored."""
        self._draw = draw
        mine = self._mine(len(draw.rows) * self.num_generations)
        set_seed(self._seed(f"draw {draw.number}"))
        inputs = [self._problem(row, draw.step) for row in draw.slots()[mine]]
        self._begin(inputs)
        scored: dict[str, Any] = super()._generate_and_score_completions(inputs)
        judged = self._draw
        given = scored["advantages"].masked_fill(~judged.has_signal[mine], 0.0)
        scored["advantages"] = advantages(self._objective, judged, given, mine)
        if self._episodes is not None and self._objective.malformed_penalty:
            punished = punished_tokens(self._episodes.spans(), scored["completion_ids"].shape, given)
            scored["advantages"] = scored["advantages"].unsqueeze(1) - self._objective.malformed_penalty * punished
        is_canary = self._are_canaries(judged)[mine]
        # neither the loss nor a KL reads their tokens
        scored["completion_mask"] = scored["completion_mask"].masked_fill(is_canary.unsqueeze(1), 0)
        return scored

    def _problem(self, row: int, step: int) -> Row:
        """The problem as the completions of a step are judged: the truth of a canary is wrong."""
        problem, seed = self._problems[row], self.curriculum.config.seed
        return as_canary(problem, seed, step) if self.curriculum.is_canary(row) else dict(problem)

    def _are_canaries(self, draw: Draw) -> torch.Tensor:
        """For each completion of a draw, whether its problem is a canary."""
        return torch.tensor([self.curriculum.is_canary(row) for row in draw.slots()], device=self.accelerator.device)

    def _begin(self, inputs: Sequence[Row]) -> None:
        """Name the rows of the next generation to the episodes."""
        if self._episodes is not None:
            self._episodes.begin(inputs)

    def _prepare_inputs(self, generation_batch: Any) -> Any:
        before = self._buffered_inputs
        inputs = super()._prepare_inputs(generation_batch)
        if self._buffered_inputs is not before:
            num_steps = self.args.steps_per_generation // self.args.gradient_accumulation_steps
            only_correct = self._objective.baseline == "none"
            count_per_step(self._buffered_inputs, num_steps, self._total, only_correct=only_correct)
        return inputs

    def _total(self, number: torch.Tensor) -> torch.Tensor:
        """A number added up over all processes."""
        total: torch.Tensor = self.accelerator.gather(number).sum()
        return total

    def _seed(self, what: str) -> int:
        """Seed of this process's part of a generation, from values that a resume restores."""
        return sample_seed(self.args.seed, what, self.accelerator.process_index)

    def _calculate_rewards(self, inputs: Any, prompts: Any, completions: Any, completion_ids_list: Any) -> Any:
        if self._episodes is not None:
            # rewards, lengths and the curriculum see what the model wrote
            completion_ids_list = self._episodes.own_tokens(completion_ids_list)
        given = super()._calculate_rewards(inputs, prompts, completions, completion_ids_list)
        accuracy = self.reward_funcs.index(self._accuracy)
        weights = self.reward_weights.to(given.device)
        size = self.num_generations if self.model.training else self.num_generations_eval
        rewards = whole_rows(given, weights, size, accuracy)
        if self.model.training:
            rewards = rewards.masked_fill(self._are_canaries(self._draw).unsqueeze(1), torch.nan)
        if self._evaluation is not None and BENCHMARK in inputs[0]:
            values = self._accuracy.values
            mine = [
                Judged(row[BENCHMARK], row["key"], None if value is None else value > 0)
                for row, value in zip(inputs, values, strict=True)
            ]
            self._evaluation.collect(gather_object(mine))
        if self.model.training:
            is_summed = self.multi_objective_aggregation == "sum_then_normalize"
            signal = have_signal(rewards, weights, size, is_summed=is_summed)
            correctness = given[:, accuracy]
            learned = correctness.masked_fill(self._are_canaries(self._draw), torch.nan)
            self._draw = self._draw.judged(rewards, weights, learned, signal)
            lengths = gather_object([len(ids) for ids in completion_ids_list])
            reasons, said = gather_object(self._accuracy.reasons), self._answers(inputs, completions)
            self._record_draw(groups_of(self._draw.rows, correctness.tolist(), lengths, reasons, said))
            if self._saves_completions:
                plain = [self._accuracy.text(completion) for completion in completions]
                texts = gather_object(self._episodes.texts() if self._episodes else plain)
                self._keep({"text": texts, "num_tokens": lengths, "reason": reasons}, given)
        return rewards

    def _evaluate(self, *given: Any, **named: Any) -> Any:
        """Evaluate as TRL does, then close the evaluation; the checkpoint of the best step so far is kept."""
        metrics = super()._evaluate(*given, **named)
        if self._evaluation is not None:
            step = int(self.state.global_step)
            lines, is_best = self._evaluation.close(step) if self.accelerator.is_main_process else ([], False)
            for line in lines:
                print(line, flush=True)
            if first_process_says(is_best) and step:
                self.state.best_model_checkpoint = str(Path(self.args.output_dir) / f"checkpoint-{step}")
                self.control.should_save = True
            reason = self._stop.after_evaluation(step) if self._stop and self.accelerator.is_main_process else None
            if self._stop and (told := first_process_says(reason)) is not None:
                self._stop.end(self.state, self.control, told)
        return metrics

    def _keep(self, columns: dict[str, Sequence[Any]], rewards: Any) -> None:
        """Write the completions of the last draw with their rewards, for `gradus train trace`."""
        if self.accelerator.is_main_process:
            keys = [self.curriculum.keys[row] for row in self._draw.slots()]
            parts = {name: rewards[:, place].tolist() for place, name in enumerate(self.reward_func_names)}
            table = {"step": [self._draw.step] * len(keys), "key": keys, **columns, **parts, **self._wrong_truths()}
            path = Path(self.args.output_dir) / COMPLETIONS / f"draw-{self._draw.number:06d}.parquet"
            write_shard(path, pl.DataFrame(table, strict=False).fill_nan(None))

    def _wrong_truths(self) -> dict[str, list[str | None]]:
        """The wrong truth of each completion on a canary, as a column; no column in a run without canaries."""
        if not self.curriculum.config.canaries:
            return {}
        drawn = [(row, self._problem(row, self._draw.step)) for row in self._draw.slots()]
        return {CANARY: [one["ground_truth"] if self.curriculum.is_canary(row) else None for row, one in drawn]}

    def _record_draw(self, groups: list[Group]) -> None:
        """Record the outcomes of the last draw in the curriculum, the log of draws and TRL's metrics."""
        first = self._screening.visits()
        groups = [*self._screening.dropped_groups(), *groups]
        visits = [group.visit() for group in groups]
        self.curriculum.observe(visits, step=self._draw.step, forecast_of=first or visits)
        print_notices(self.curriculum, self._draw.step)
        canaries = [visit for visit in visits if self.curriculum.is_canary(visit.row)]
        visits = [visit for visit in visits if visit not in canaries]
        keys, other = ([self.curriculum.keys[visit.row] for visit in some] for some in (visits, canaries))
        columns = {name: [getattr(visit, name) for visit in visits] for name in RECORDED}
        place = {"step": self._draw.step, "draw": self._draw.number}
        self._run.append(DRAWS, {**place, "keys": keys, **columns, **({"canaries": other} if other else {})})
        groups = [group for group in groups if not self.curriculum.is_canary(group.row)]
        figures = {f"curriculum/{name}": value for name, value in self.curriculum.metrics().items()}
        for name, value in {**figures, **group_figures(groups), **self._screening.figures()}.items():
            self._metrics["train"][name].append(value)

    def _compute_loss(self, model: Any, inputs: dict[str, Any]) -> Any:
        if self._objective.loss == "trl" or not self.model.training:
            return super()._compute_loss(model, inputs)
        mask = own_mask(inputs)
        logps, entropies, _ = self._get_per_token_logps_and_entropies(
            model,
            *(_joined(inputs, name) for name in ("ids", "mask")),
            mask.size(1),
            compute_entropy=True,
        )
        self._metrics["train"]["entropy"].append(((entropies * mask).sum() / mask.sum().clamp(min=1)).item())
        old_logps = inputs.get("old_per_token_logps", logps.detach())
        # there only where vLLM sampled and TRL corrects for it
        weights = inputs.get("importance_sampling_ratio")
        tokens = Tokens(logps, old_logps, mask, inputs["advantages"], weights)
        length = self.max_completion_length
        if self._objective.loss == "kimi":
            self._metrics["train"]["log_ratio/mean_square"].append(squared_log_ratio(tokens).item())
            loss = kimi_loss(tokens, length, self._objective.tau)
        elif self._objective.loss == "gmpo":
            loss = gmpo_loss(tokens, GMPO_CLIP)
        else:
            loss = reinforce_loss(tokens, length)
        return loss / self.current_gradient_accumulation_steps

    def _save_checkpoint(self, model: Any, trial: Any) -> None:
        super()._save_checkpoint(model, trial)
        folder = Path(self.args.output_dir) / f"checkpoint-{self.state.global_step}"
        if self.args.sync_ref_model:
            save_reference(self.ref_model, folder, writes=self.args.should_save)
        if self.args.should_save:
            self.curriculum.save(folder)

    def _load_optimizer_and_scheduler(self, checkpoint: Any) -> None:
        super()._load_optimizer_and_scheduler(checkpoint)
        if self.args.sync_ref_model and checkpoint is not None:
            is_initial = self.state.global_step < self.args.ref_model_sync_steps
            load_reference(self.ref_model, Path(checkpoint), is_initial=is_initial)

    def log(self, logs: dict[str, float], start_time: float | None = None) -> None:
        """Log as TRL does, with the share of the run as `epoch`: a resume would count the slots from 0 again."""
        self.state.epoch = self.state.global_step / self.state.max_steps
        super().log(logs, start_time)


def _joined(inputs: dict[str, Any], name: str) -> Any:
    """Prompts and completions of a batch side by side, as the model reads them."""
    return torch.cat([inputs[f"prompt_{name}"], inputs[f"completion_{name}"]], dim=1)
