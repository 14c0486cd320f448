"""The objectives from their papers' equations: an implementation of their own, to which the trainer is compared.

Nothing of `train` or TRL is used. Completions are lists of unpadded tensors and groups are lists, one at a time, so
that no mask, padding or split into micro-batches can be wrong in the same way here and there.

A reward is None where it is undecided. Such a completion belongs to no baseline and has the advantage 0, but it is one
of the G completions, and its tokens are tokens of the batch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import sqrt
from typing import Any

import torch

Rewards = Sequence[float | None]  # of one completion, one of each reward function
STD = 1e-4  # added to a deviation


@dataclass(frozen=True)
class Sampled:
    """One completion of an update: log-probabilities of its tokens now, when sampled, and of the reference model."""

    logps: torch.Tensor
    old: torch.Tensor
    ref: torch.Tensor
    advantage: float

    @property
    def ratios(self) -> torch.Tensor:
        """rho_t of every token."""
        return torch.exp(self.logps - self.old)

    @property
    def k3(self) -> torch.Tensor:
        """DeepSeekMath (2402.03300), eq. 4, of every token."""
        return torch.exp(self.ref - self.logps) - (self.ref - self.logps) - 1


def total(rewards: Rewards, weights: Sequence[float], applies: Sequence[bool]) -> float | None:
    """The weighted sum of a completion's rewards, None where one that counts is undecided."""
    terms = [(value, weight) for value, weight, does in zip(rewards, weights, applies, strict=True) if weight and does]
    if all(value is None for value in rewards) or any(value is None for value, _ in terms):
        return None
    return sum(float(value) * weight for value, weight in terms if value is not None)


def batch_advantages(objective: str, groups: Sequence[Sequence[Rewards]], weights: Sequence[float]) -> list[float]:
    """The advantages of a batch's completions, group by group."""
    if objective not in ("reinforce_pp", "gdpo"):
        return [value for group in groups for value in group_advantages(objective, group, weights)]
    values: list[float | None] = []
    signals: list[bool] = []
    for group in groups:
        applies = [place == 0 or any(rewards[place] is not None for rewards in group) for place in range(len(weights))]
        totals = [total(rewards, weights, applies) for rewards in group]
        known = [rewards for rewards, value in zip(group, totals, strict=True) if value is not None]
        per_reward = [[row[k] or 0.0 for row in known] for k in range(len(weights)) if applies[k] and weights[k]]
        if objective == "gdpo":
            scales = [weight for k, weight in enumerate(weights) if applies[k] and weight]
            columns = zip(*map(standard, per_reward), strict=True)
            own = iter([sum(w * part for w, part in zip(scales, row, strict=True)) for row in columns])
            signals += [any(max(part) - min(part) > 1e-9 for part in per_reward)] * len(group)
        else:
            sums = [value for value in totals if value is not None]
            mean = sum(sums) / len(sums) if sums else 0.0
            own = iter([value - mean for value in sums])
            signals += [len(sums) > 1 and max(sums) - min(sums) > 1e-9] * len(group)
        values += [None if value is None else next(own) for value in totals]
    scored = [value for value in values if value is not None]
    mean = sum(scored) / len(scored)
    deviation = sqrt(sum((value - mean) ** 2 for value in scored) / (len(scored) - 1))
    return [
        0.0 if value is None or (objective == "gdpo" and not has) else (value - mean) / (deviation + STD)
        for value, has in zip(values, signals, strict=True)
    ]


def standard(values: Sequence[float]) -> list[float]:
    """Values minus their mean, over their deviation."""
    if len(values) < 2:
        return [0.0] * len(values)
    mean = sum(values) / len(values)
    deviation = sqrt(sum((value - mean) ** 2 for value in values) / (len(values) - 1))
    return [(value - mean) / (deviation + STD) for value in values]


def subset_reward(correct: Sequence[bool], k: int) -> list[float]:
    """Advantages of pass@k training by counting every subset of k completions (2508.10751, before its closed form).

    A subset has the reward 1 if one of it is correct; a completion's advantage is the mean of the normalised rewards of
    the subsets that hold it.
    """
    subsets = list(combinations(range(len(correct)), k))
    rewards = [float(any(correct[place] for place in subset)) for subset in subsets]
    mean = sum(rewards) / len(rewards)
    deviation = sqrt(sum((reward - mean) ** 2 for reward in rewards) / len(rewards))
    if deviation == 0:
        return [0.0] * len(correct)
    found = []
    for place in range(len(correct)):
        own = [reward for subset, reward in zip(subsets, rewards, strict=True) if place in subset]
        found.append((sum(own) / len(own) - mean) / deviation)
    return found


def group_advantages(objective: str, group: Sequence[Rewards], weights: Sequence[float], k: int = 1) -> list[float]:
    """The advantages of one group; the first reward is accuracy."""
    if objective == "raft":
        return [float(rewards[0] == 1) for rewards in group]
    applies = [place == 0 or any(rewards[place] is not None for rewards in group) for place in range(len(weights))]
    totals = [total(rewards, weights, applies) for rewards in group]
    known = [value for value in totals if value is not None]
    if len(known) < 2 or max(known) - min(known) < 1e-9:
        return [0.0] * len(group)
    mean = sum(known) / len(known)
    deviation = sqrt(sum((value - mean) ** 2 for value in known) / (len(known) - 1))
    if objective == "pass_at_k":
        subsets = iter(subset_reward([value == 1 for value in known], k) if len(known) >= k else [0.0] * len(known))
        return [0.0 if value is None else next(subsets) for value in totals]
    found = []
    for value in totals:
        if value is None:
            found.append(0.0)
        elif objective == "rloo":
            found.append(value - (sum(known) - value) / (len(known) - 1))
        elif objective == "maxrl":
            found.append(value / mean - 1)
        elif objective in ("grpo", "dapo", "gspo", "cispo", "sapo", "luspo", "vespo", "gmpo"):
            found.append((value - mean) / (deviation + STD))
        else:
            found.append(value - mean)
    return found


def surrogate(ratio: torch.Tensor, advantage: float, low: float, high: float) -> torch.Tensor:
    """min(rho A, clip(rho, 1 - low, 1 + high) A)."""
    return torch.minimum(ratio * advantage, ratio.clip(1 - low, 1 + high) * advantage)


def gate(one: Sampled) -> torch.Tensor:
    """SAPO's gate of every token: 4/tau sigmoid(tau (rho - 1)) A."""
    tau = 1.0 if one.advantage > 0 else 1.05
    return 4 / tau / (1 + torch.exp(-tau * (one.ratios - 1))) * one.advantage


def far(one: Sampled) -> torch.Tensor:
    """VESPO's weight of a completion: e^c w^k e^(-c w) of the product w of its ratios."""
    power, c = (2, 3) if one.advantage >= 0 else (3, 2)
    w = (one.logps - one.old).detach().double().sum().exp()
    return (w**power * torch.exp(c * (1 - w))).float()


def geometric(one: Sampled) -> torch.Tensor:
    """GMPO's geometric mean of the ratios, each bounded by e^.4 or e^-.4 as the sign of the advantage has it."""
    edge = 2.718281828459045**0.4
    ratios = one.ratios.double()
    bounded = ratios.clip(max=edge) if one.advantage > 0 else ratios.clip(min=1 / edge)
    return (torch.prod(bounded) ** (1 / len(ratios))).float()


@dataclass(frozen=True)
class Constants:
    """L, the weights of a KL and of Kimi's squared log-ratio, and whether the KL is DeepSeek-V3.2's, ratio times k3."""

    longest: int
    beta: float = 0.0
    tau: float = 0.0
    is_kl_weighted: bool = False


def loss(objective: str, update: Sequence[Sampled], constants: Constants) -> Any:
    """Minus the objective over the completions of one optimizer step."""
    num, tokens, longest, tau = len(update), sum(len(one.logps) for one in update), constants.longest, constants.tau
    kl = [constants.beta * one.k3 * (one.ratios if constants.is_kl_weighted else 1) for one in update]
    if objective in ("grpo", "gdpo"):
        terms = [
            (surrogate(o.ratios, o.advantage, 0.2, 0.2) - k).sum() / len(k) for o, k in zip(update, kl, strict=True)
        ]
        return -sum(terms) / num
    if objective in ("dr_grpo", "maxrl"):
        terms = [(surrogate(o.ratios, o.advantage, 0.2, 0.2) - k).sum() for o, k in zip(update, kl, strict=True)]
        return -sum(terms) / (num * longest)
    if objective in ("reinforce_pp", "cispo", "sapo", "luspo", "vespo", "gmpo"):
        return later_loss(objective, update, kl)
    if objective in ("dapo", "pass_at_k"):
        terms = [(surrogate(o.ratios, o.advantage, 0.2, 0.28) - k).sum() for o, k in zip(update, kl, strict=True)]
        return -sum(terms) / tokens
    if objective == "gspo":
        means = [torch.exp((o.logps - o.old).mean()) for o in update]
        terms = [surrogate(s, o.advantage, 3e-4, 4e-4) - k.mean() for s, o, k in zip(means, update, kl, strict=True)]
        return -sum(terms) / num
    if objective == "raft":
        correct = [one for one in update if one.advantage > 0]
        return -sum(one.ratios.clip(max=1.2).sum() for one in correct) / max(1, sum(len(o.logps) for o in correct))
    terms = [one.advantage * one.logps.sum() for one in update]
    if objective == "kimi":
        apart = [tau / 2 * (one.logps - one.old).sum() ** 2 for one in update]
        return -(sum(terms) - sum(apart)) / (num * longest)
    assert objective in ("reinforce", "rloo")
    return -sum(terms) / (num * longest)


def later_loss(objective: str, update: Sequence[Sampled], kl: Sequence[torch.Tensor]) -> Any:
    """The losses of the objectives after GSPO."""
    num, tokens = len(update), sum(len(one.logps) for one in update)
    if objective == "reinforce_pp":
        return -sum(surrogate(one.ratios, one.advantage, 0.2, 0.2).sum() for one in update) / tokens
    if objective == "cispo":
        return -sum((o.ratios.clip(max=5).detach() * o.advantage * o.logps).sum() for o in update) / tokens
    if objective == "sapo":
        return -sum(gate(one).sum() / len(one.logps) for one in update) / num
    if objective == "luspo":
        means = [torch.exp((o.logps - o.old).mean()) for o in update]
        terms = [
            len(k) * surrogate(s, o.advantage, 3e-4, 4e-4) - k.sum() for s, o, k in zip(means, update, kl, strict=True)
        ]
        return -sum(terms) / num
    if objective == "gmpo":
        return -sum(geometric(one) * one.advantage for one in update) / num
    if objective == "vespo":
        return -sum(far(one) * one.advantage * one.logps.sum() for one in update) / tokens
    raise ValueError(objective)


def token_logps(model: Any, prompt: torch.Tensor, completion: torch.Tensor, temperature: float = 1.0) -> torch.Tensor:
    """Log-probabilities of a completion's tokens after its prompt, in a batch of their own without padding."""
    logits = model(input_ids=torch.cat([prompt, completion]).unsqueeze(0)).logits[0].float()
    table = torch.log_softmax(logits[len(prompt) - 1 : -1] / temperature, dim=-1)
    return table.gather(1, completion.unsqueeze(1)).squeeze(1)
