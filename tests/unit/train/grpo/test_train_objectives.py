"""The objectives, compared by gradients of a tiny model on the same generation."""

import dataclasses
import json
import math
from dataclasses import replace
from math import sqrt
from pathlib import Path
from typing import Any

import pytest
from support.training.generations import GROUP, LENGTH, always, gradient, grpo_trainer, half, odd_start

from curate.errors import UserError
from train.grpo.config import GrpoConfig
from train.grpo.objectives import OBJECTIVES, objective_named
from train.rewards import rewards
from train.runs.folder import RunFolder


@pytest.mark.heavy
def test_dr_grpo_reinforce_and_kimi_without_tau_have_one_gradient_on_policy(generate: Any) -> None:
    import torch

    first, *others = (gradient(*generate(name)) for name in ("dr_grpo", "reinforce", "kimi"))
    assert first.norm() > 0
    for other in others:
        torch.testing.assert_close(other, first, rtol=1e-4, atol=1e-8)


@pytest.mark.heavy
def test_leave_one_out_is_the_mean_baseline_times_g_over_g_minus_1(generate: Any) -> None:
    import torch

    scaled = gradient(*generate("reinforce")) * GROUP / (GROUP - 1)
    torch.testing.assert_close(gradient(*generate("rloo")), scaled, rtol=1e-4, atol=1e-8)


@pytest.mark.heavy
def test_leave_one_out_counts_only_completions_that_were_judged(generate: Any) -> None:
    import torch

    _, plain = generate("reinforce", half)
    _, left_out = generate("rloo", half)
    judged = GROUP // 2
    torch.testing.assert_close(left_out["advantages"], plain["advantages"] * judged / (judged - 1))


@pytest.mark.heavy
def test_grpo_scales_each_completion_by_its_length_and_its_groups_deviation(generate: Any) -> None:
    import torch

    plain_trainer, plain = generate("dr_grpo")
    trainer, scored = generate("grpo")
    lengths = plain["completion_mask"].sum(1)
    rewards_PG = (lengths % 2).view(-1, GROUP).float()  # noqa: N806  # shape letters
    deviation = rewards_PG.std(dim=1).repeat_interleave(GROUP)
    signalling = [i for i in range(3 * GROUP) if plain["advantages"][i] != 0]
    assert len(signalling) >= GROUP
    for i in signalling[:3]:
        factor = LENGTH / lengths[i] / (deviation[i] + 1e-4)
        expected = gradient(plain_trainer, plain, only=i) * factor
        torch.testing.assert_close(gradient(trainer, scored, only=i), expected, rtol=1e-3, atol=1e-7)


@pytest.mark.heavy
def test_the_deviation_makes_a_rare_success_weigh_sqrt_of_failures_over_successes(generate: Any) -> None:
    _, scored = generate("grpo")
    solved = (scored["completion_mask"].sum(1) % 2).view(-1, GROUP).sum(1).tolist()
    mixed = [(group, k) for group, k in enumerate(solved) if 0 < k < GROUP]
    assert mixed
    for group, k in mixed:
        # TRL's deviation is that of a sample (divided by G - 1)
        expected = sqrt((GROUP - k) / k) * sqrt((GROUP - 1) / GROUP)
        assert scored["advantages"].view(-1, GROUP)[group].max().item() == pytest.approx(expected, rel=1e-3)


@pytest.mark.heavy
def test_dapo_weighs_every_token_of_the_batch_alike(generate: Any) -> None:
    import torch

    plain_trainer, plain = generate("grpo")
    trainer, scored = generate("dapo")
    lengths = plain["completion_mask"].sum(1)
    i = int(plain["advantages"].abs().argmax())
    expected = gradient(plain_trainer, plain, only=i) * len(lengths) * lengths[i] / lengths.sum()
    torch.testing.assert_close(gradient(trainer, scored, only=i), expected, rtol=1e-3, atol=1e-7)


@pytest.mark.heavy
@pytest.mark.parametrize("name", [name for name, row in OBJECTIVES.items() if row.baseline != "none"])
def test_groups_that_agree_have_no_gradient_where_there_is_a_baseline(generate: Any, name: str) -> None:
    assert gradient(*generate(name, always)).abs().max() == 0


def sampled_logps(trainer: Any, scored: dict[str, Any]) -> Any:
    """Log-probabilities of the completions' tokens under the current model."""
    import torch

    with torch.no_grad():
        logps, _, _ = trainer._get_per_token_logps_and_entropies(
            trainer.model,
            torch.cat([scored["prompt_ids"], scored["completion_ids"]], 1),
            torch.cat([scored["prompt_mask"], scored["completion_mask"]], 1),
            scored["completion_ids"].size(1),
        )
    return logps


@pytest.mark.heavy
def test_kimis_regulariser_pulls_towards_the_policy_that_sampled(generate: Any) -> None:
    """With no reward at all, the gradient at a moved policy is tau times the log-ratio's, so a step back lowers it."""

    trainer, scored = generate("kimi", always)
    trainer._objective = replace(trainer._objective, tau=0.5)
    logps = sampled_logps(trainer, scored)
    assert gradient(trainer, {**scored, "old_per_token_logps": logps}).norm() == pytest.approx(0, abs=1e-6)
    moved = {**scored, "old_per_token_logps": logps - 0.1}
    before = trainer._compute_loss(trainer.model, moved).item()
    step = gradient(trainer, moved)
    assert step.norm() > 0
    assert before == pytest.approx(
        0.25 * (0.1 * scored["completion_mask"].sum(1)).square().mean().item() / LENGTH, rel=1e-3
    )


@pytest.mark.heavy
def test_kimis_optimizer_is_reset_in_every_generation_and_its_reference_is_the_sampling_policy(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rewards.Accuracy, "__call__", odd_start)
    ages, steps = {}, 6
    for name in ("kimi", "dr_grpo"):
        config = GrpoConfig(
            objective=name, num_problems=2, group_size=GROUP, max_steps=steps, max_tokens=LENGTH, save_steps=steps,
            updates_per_generation=2, learning_rate=1e-2, logging_steps=1,
        )  # fmt: skip
        (tmp_path / name).mkdir()
        row = replace(objective_named(name), tau=0.1)
        run = RunFolder(tmp_path / name, {})
        trainer = grpo_trainer(place, config, row, run)
        trainer.train()
        ages[name] = {int(state["step"]) for state in trainer.optimizer.state.values()}
    # two updates since the last generation, not six since the start
    assert ages == {"kimi": {2}, "dr_grpo": {steps}}
    log = [json.loads(line) for line in (tmp_path / "kimi" / "log.jsonl").read_text().splitlines()]
    ratios = [line["log_ratio/mean_square"] for line in log if "log_ratio/mean_square" in line]
    # 0 at the first update of a generation, not at the second
    assert all(abs(ratio) < 1e-6 for ratio in ratios[::2])
    assert all(ratio > 1e-4 for ratio in ratios[1::2])


@pytest.mark.heavy
@pytest.mark.parametrize(("epsilon", "is_clipped"), [(0.2, True), (10.0, False)])
def test_a_wide_clip_range_lets_a_large_ratio_through(
    place: Path, tmp_path: Path, epsilon: float, is_clipped: bool
) -> None:
    """DeepSeek-R1's epsilon of 10: the gradient of a token whose probability grew fivefold is not cut."""
    import torch

    config = GrpoConfig(
        objective="grpo", num_problems=3, group_size=GROUP, max_steps=1, max_tokens=LENGTH, kl_coef=0.0,
        trl={"epsilon": epsilon},
    )  # fmt: skip
    run = RunFolder(tmp_path, {})
    trainer = grpo_trainer(place, config, objective_named("grpo"), run)
    trainer.model.train()
    trainer.current_gradient_accumulation_steps = 1
    scored = trainer._generate_and_score_completions([{"prompt": ""}] * (3 * GROUP))
    logps = sampled_logps(trainer, scored)
    grown = {**scored, "old_per_token_logps": logps - math.log(5), "advantages": torch.ones(3 * GROUP)}
    trainer.model.zero_grad()
    trainer._compute_loss(trainer.model, grown).backward()
    norm = sum(p.grad.norm() for p in trainer.model.parameters() if p.grad is not None)
    assert (norm == 0) == is_clipped


@pytest.mark.heavy
@pytest.mark.parametrize("name", OBJECTIVES)
def test_every_setting_is_a_field_of_trls_config(name: str) -> None:
    from trl import GRPOConfig

    assert set(OBJECTIVES[name].settings) <= {field.name for field in dataclasses.fields(GRPOConfig)}


def test_an_unknown_objective_names_the_nearest() -> None:
    with pytest.raises(UserError, match="did you mean dapo"):
        objective_named("dappo")


def test_kimi_with_one_update_per_generation_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match="kimi is inert"):
        GrpoConfig(objective="kimi")
    assert GrpoConfig(objective="kimi", updates_per_generation=2).sequences_per_step == 128


@pytest.mark.parametrize("option", [{"kl_coef": 0.1}, {"trl": {"epsilon": 10.0}}])
def test_an_option_that_an_objective_would_ignore_is_refused(option: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="objective rloo has no"):
        GrpoConfig(objective="rloo", **option)
    GrpoConfig(objective="dr_grpo", **option)


def test_a_step_that_cannot_hold_its_updates_is_refused() -> None:
    with pytest.raises(ValueError, match="cannot be split over 3"):
        GrpoConfig(num_problems=4, group_size=4, updates_per_generation=3, save_steps=3)


def test_checkpoints_lie_between_generations() -> None:
    with pytest.raises(ValueError, match="multiple of 4"):
        GrpoConfig(updates_per_generation=4, save_steps=10)
