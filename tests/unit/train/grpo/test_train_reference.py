"""The trainer against an implementation of its own of every objective, with undecided answers.

Steps are real: TRL's trainer with plain gradient descent, so that the change of the weights is the gradient.
"""

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.training import reference
from support.training.generations import GROUP, LENGTH, grpo_trainer, half, odd_start

from train.grpo.config import GrpoConfig
from train.grpo.objectives import OBJECTIVES, objective_named
from train.rewards import rewards
from train.runs.folder import RunFolder

pytestmark = pytest.mark.heavy
RATE = 0.5
SGD = {"optim": "sgd", "max_grad_norm": 1e9}
SECOND = sorted(set(rewards.REWARDS) - {"accuracy"})
PAIRS = [*((name, SECOND) for name in OBJECTIVES), *(("grpo", [reward]) for reward in SECOND)]


def some_wordless(self: Any, text: str, question: str) -> float | None:
    """A second reward that is undecided by itself for a part of a group."""
    return None if sum(map(ord, text)) % 4 == 0 else len(set(text)) / 100


class Seen:
    """What a trainer got and did: raw rewards by draw, forward passes and weights by optimizer step."""

    def __init__(self, trainer: Any, monkeypatch: pytest.MonkeyPatch, *, shift: float = 0.0) -> None:
        from transformers import TrainerCallback
        from trl import GRPOTrainer

        self.trainer, self.shift = trainer, shift
        self.rewards: list[Any] = []
        self.scored: list[Any] = []
        self.steps: list[tuple[Any, list[Any], Any]] = []
        self._passes: list[Any] = []
        seen = self

        calculate = GRPOTrainer._calculate_rewards

        def recorded(trl: Any, *given: Any) -> Any:
            found = calculate(trl, *given)
            seen.rewards.append(found.clone())
            return found

        class Watch(TrainerCallback):  # type: ignore[misc]  # transformers has no types
            def on_step_begin(self, *_: Any, **__: Any) -> None:
                seen._weights, seen._passes = seen.weights(), []

            def on_step_end(self, *_: Any, **__: Any) -> None:
                seen.steps.append((seen._weights, seen._passes, seen.weights()))

        monkeypatch.setattr(GRPOTrainer, "_calculate_rewards", recorded)
        monkeypatch.setattr(trainer, "_compute_loss", self._loss(trainer._compute_loss))
        monkeypatch.setattr(
            trainer, "_generate_and_score_completions", self._score(trainer._generate_and_score_completions)
        )
        trainer.add_callback(Watch())

    def weights(self) -> dict[str, Any]:
        return {name: value.detach().clone() for name, value in self.trainer.model.state_dict().items()}

    def _score(self, score: Any) -> Any:
        def kept(inputs: Any) -> Any:
            import torch

            scored = score(inputs)
            self.scored.append({name: value.clone() for name, value in scored.items()})
            # the untrained model ends nothing by itself
            ends = torch.randint(
                1, LENGTH + 1, (len(scored["advantages"]), 1), generator=torch.Generator().manual_seed(3)
            )
            scored["completion_mask"] = scored["completion_mask"] * (torch.arange(LENGTH) < ends)
            if self.shift and "old_per_token_logps" in scored:
                # log-ratios from far below to ln 19
                noise = torch.rand(scored["old_per_token_logps"].shape, generator=torch.Generator().manual_seed(1))
                change = torch.where((noise < 0.1) & (self.shift > 1), 30.0, (noise - 0.55) / 0.45 * self.shift)
                scored["old_per_token_logps"] = scored["old_per_token_logps"] + change
            if "ref_per_token_logps" in scored:
                noise = torch.randn(scored["ref_per_token_logps"].shape, generator=torch.Generator().manual_seed(2))
                scored["ref_per_token_logps"] = scored["ref_per_token_logps"] + noise
            return scored

        return kept

    def _loss(self, compute: Any) -> Any:
        def kept(model: Any, inputs: Any) -> Any:
            self._passes.append({name: value.clone() for name, value in inputs.items()})
            return compute(model, inputs)

        return kept


def samples(model: Any, passes: list[dict[str, Any]]) -> list[reference.Sampled]:
    """The completions of an optimizer step, unpadded, with their log-probabilities under `model`."""
    found = []
    for part in passes:
        for row in range(len(part["advantages"])):
            is_prompt, is_token = part["prompt_mask"][row].bool(), part["completion_mask"][row].bool()
            ids = part["completion_ids"][row][is_token]
            logps = reference.token_logps(model, part["prompt_ids"][row][is_prompt], ids)
            old, ref = (
                part[name][row][is_token] if name in part else logps.detach()
                for name in ("old_per_token_logps", "ref_per_token_logps")
            )
            found.append(reference.Sampled(logps, old, ref, part["advantages"][row].item()))
    return found


def trained(
    place: Path, out: Path, monkeypatch: pytest.MonkeyPatch, name: str, shift: float = 0.0, **settings: Any
) -> Seen:
    config = GrpoConfig.model_validate(
        {
            "objective": name, "num_problems": 4, "group_size": GROUP, "max_steps": 2, "max_tokens": LENGTH,
            "save_steps": 2, "logging_steps": 1, "learning_rate": RATE, "kl_coef": 0.0, "pass_k": 1,
            "updates_per_generation": 2, "micro_batch_size": 2, **settings, "trl": {**SGD, **settings.get("trl", {})},
        }
    )  # fmt: skip
    row = replace(
        objective_named(name), tau=config.tau, pass_k=config.pass_k, refill_rounds=config.generation.refill_rounds
    )
    out.mkdir(exist_ok=True)
    trainer = grpo_trainer(place, config, row, RunFolder(out, {}))
    seen = Seen(trainer, monkeypatch, shift=shift)
    trainer.train()
    return seen


def assert_steps_are_the_references(seen: Seen, name: str, constants: reference.Constants) -> None:
    import torch

    model = seen.trainer.model
    for before, passes, after in seen.steps:
        model.load_state_dict(before)
        model.zero_grad()
        reference.loss(name, samples(model, passes), constants).backward()
        named = dict(model.named_parameters())
        moved = torch.cat([((before[key] - after[key]) / RATE).flatten() for key in named])
        wanted = torch.cat([value.grad.flatten() for value in named.values()])
        assert wanted.norm() > 1e-4
        assert (moved - wanted).norm() / wanted.norm() < 1e-4


def assert_advantages_are_the_references(seen: Seen, name: str, weights: list[float]) -> None:
    for given, scored in zip(seen.rewards, seen.scored, strict=True):
        rows = [[None if math.isnan(value) else value for value in row] for row in given.tolist()]
        groups = [rows[start : start + GROUP] for start in range(0, len(rows), GROUP)]
        wanted = reference.batch_advantages(name, groups, weights)
        assert scored["advantages"].tolist() == pytest.approx(wanted, abs=1e-5)


@pytest.mark.parametrize("name", OBJECTIVES)
def test_every_objectives_step_is_that_of_its_equation(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """Two updates a generation of four passes each, half of the answers undecided, ratios from 0 to 19, with a KL."""
    monkeypatch.setattr(rewards.Accuracy, "__call__", half)
    beta = 0.04 if name in ("grpo", "dr_grpo", "dapo", "gspo", "luspo") else 0.0
    # the product of a completion's ratios is 0 at that spread
    shift = 0.2 if name == "vespo" else math.log(19)
    seen = trained(place, tmp_path / "run", monkeypatch, name, shift=shift, kl_coef=beta)
    assert len(seen.steps) == 2
    assert {len(passes) for _, passes, _ in seen.steps} == {4}
    lengths = [int(value) for _, passes, _ in seen.steps for part in passes for value in part["completion_mask"].sum(1)]
    assert len(set(lengths)) > 2
    assert_steps_are_the_references(seen, name, reference.Constants(LENGTH, beta, tau=0.1))


def test_deepseek_v32s_kl_is_an_option(place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rewards.Accuracy, "__call__", half)
    corrected = {"use_bias_correction_kl": True}
    seen = trained(place, tmp_path / "run", monkeypatch, "grpo", shift=math.log(19), kl_coef=0.04, trl=corrected)
    assert_steps_are_the_references(seen, "grpo", reference.Constants(LENGTH, 0.04, is_kl_weighted=True))


@pytest.mark.parametrize("is_weighted", [False, True])
def test_on_policy_k3_has_the_forward_kls_gradient_and_with_the_ratio_the_reverse_kls(is_weighted: bool) -> None:
    """What `train explain` says of both, with every token of a vocabulary weighted by its probability."""
    import torch

    torch.manual_seed(0)
    logits, ref = (
        torch.randn(7, dtype=torch.float64, requires_grad=True),
        torch.randn(7, dtype=torch.float64).log_softmax(0),
    )
    pi = logits.log_softmax(0)
    one = reference.Sampled(pi, pi.detach(), ref, 0.0)
    terms = one.k3 * one.ratios if is_weighted else one.k3
    (sampled,) = torch.autograd.grad((pi.detach().exp() * terms).sum(), logits, retain_graph=True)
    wanted = (pi.exp() * (pi - ref)).sum() if is_weighted else (ref.exp() * (ref - pi)).sum()
    torch.testing.assert_close(sampled, torch.autograd.grad(wanted, logits)[0])


@pytest.mark.parametrize(("name", "others"), PAIRS, ids=lambda part: part if isinstance(part, str) else "+".join(part))
def test_an_undecided_answer_is_no_wrong_answer_beside_other_rewards(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, others: list[str]
) -> None:
    monkeypatch.setattr(rewards.Accuracy, "__call__", half)
    monkeypatch.setattr(rewards.LanguageConsistency, "_of", some_wordless)
    weights = [1.0, *(0.0 if name in ("raft", "maxrl", "pass_at_k") else 0.5 for _ in others)]
    seen = trained(
        place, tmp_path / "run", monkeypatch, name, rewards=["accuracy", *others], reward_weights=weights,
        overlong_cache=LENGTH // 2,
    )  # fmt: skip
    assert_advantages_are_the_references(seen, name, weights)
    is_undecided = seen.rewards[0][:, 0].isnan()
    assert is_undecided.sum() == 2 * GROUP
    assert (seen.scored[0]["advantages"][is_undecided] == 0).all()
    assert (seen.scored[0]["advantages"] != 0).any()


def test_the_trace_keeps_the_other_rewards_of_an_undecided_completion(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import polars as pl

    monkeypatch.setattr(rewards.Accuracy, "__call__", half)
    trained(place, tmp_path / "run", monkeypatch, "grpo", rewards=["accuracy", "think_format"])
    written = pl.read_parquet(tmp_path / "run" / "completions" / "draw-000001.parquet")
    assert written["accuracy"].null_count() == 2 * GROUP
    assert written["think_format"].null_count() == 0


@pytest.mark.parametrize("bonus", [0.1, 0.7])
@pytest.mark.parametrize("name", ["dr_grpo", "grpo"])
def test_equal_rewards_are_no_signal_whatever_their_mean_rounds_to(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, bonus: float
) -> None:
    def constant(self: rewards.Accuracy, completion_ids: Any, **_: Any) -> list[float | None]:
        self.values, self.reasons = [0.0] * len(completion_ids), [""] * len(completion_ids)
        return self.values

    monkeypatch.setattr(rewards.Accuracy, "__call__", constant)
    monkeypatch.setattr(rewards.ThinkFormat, "__call__", lambda _, completions, **__: [bonus] * len(completions))
    seen = trained(
        place, tmp_path / "run", monkeypatch, name, group_size=8, refill_rounds=2, max_steps=1, save_steps=1,
        updates_per_generation=1, rewards=["accuracy", "think_format"],
    )  # fmt: skip
    assert (seen.scored[0]["advantages"] == 0).all()
    # all rounds were used: no group was taken for one with signal
    assert seen.trainer.curriculum.clock.draw_number == 3


def test_gdpo_keeps_undecided_answers_out_and_leave_one_out_refuses_it(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gdpo = {"multi_objective_aggregation": "normalize_then_sum"}
    for name in ("rloo", "raft"):
        with pytest.raises(ValueError, match=f"objective {name} has no multi_objective_aggregation"):
            GrpoConfig(objective=name, trl=gdpo)
    monkeypatch.setattr(rewards.Accuracy, "__call__", half)
    seen = trained(place, tmp_path / "run", monkeypatch, "grpo", rewards=["accuracy", "repetition"], trl=gdpo)
    assert (seen.scored[0]["advantages"][seen.rewards[0][:, 0].isnan()] == 0).all()
    assert (seen.scored[0]["advantages"] != 0).any()


def test_odd_starts_are_judged_alike_with_or_without_micro_batches(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import torch

    monkeypatch.setattr(rewards.Accuracy, "__call__", odd_start)
    for name in OBJECTIVES:
        ends = []
        for micro in (1, 4):
            settings: dict[str, Any] = {"micro_batch_size": micro}
            seen = trained(place, tmp_path / f"{name}-{micro}", monkeypatch, name, **settings)
            monkeypatch.undo()
            monkeypatch.setattr(rewards.Accuracy, "__call__", odd_start)
            ends.append(torch.cat([value.flatten() for value in seen.weights().values()]))
        torch.testing.assert_close(ends[0], ends[1], rtol=1e-5, atol=1e-6)
