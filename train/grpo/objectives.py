"""Table of objectives: paper, equation, normalisation, bias, and TRL's settings.

Symbols: a group of G completions o_i of one problem q with rewards r_i; |o_i| is its length in tokens, rho_it the
ratio of the policy to the one that sampled token t, L a constant (the longest completion allowed).

`settings` are fields of TRL's `GRPOConfig`. Where TRL has no such loss, `loss` names ours (`train.grpo.loss.losses`);
where the baseline differs, `baseline` names it. Everything else is TRL's.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from curate.config import nearest
from curate.errors import UserError


@dataclass(frozen=True)
class Objective:
    """One row of the table.

    loss: `trl` for TRL's loss, else the name of ours.
    baseline: what is subtracted from a reward: the group's mean, the mean of the others (leave-one-out), or nothing.
        Without one, correct completions weigh 1, all others 0, and the loss is divided by the tokens of the former.
        relative, pass_at_k and batch are advantages of `train.grpo.loss.advantages`; the first two read correctness
        alone.
    pass_k: k of the objective pass_at_k. A run sets it.
    resets_optimizer: whether every generation starts with a fresh optimizer.
    tau: weight of Kimi's squared log-ratio; refill_rounds: of DAPO's dynamic sampling; screen: completions that are
    sampled first (`train.grpo.rollout.screen`), 0 for all at once; malformed_penalty: what is taken from the advantage
    of an agent's malformed call, on its own tokens. A run sets the four.
    normalises, biases: what the formula divides by, and what that favours; printed by `gradus train explain`.
    """

    paper: str
    equation: str
    normalises: str
    biases: str
    settings: Mapping[str, Any] = field(default_factory=dict)  # Any: values of TRL's fields
    loss: Literal["trl", "reinforce", "kimi", "gmpo"] = "trl"
    baseline: Literal["mean", "leave_one_out", "none", "relative", "pass_at_k", "batch"] = "mean"
    resets_optimizer: bool = False
    tau: float = 0.0
    pass_k: int = 4
    refill_rounds: int = 0
    screen: int = 0
    malformed_penalty: float = 0.0


# KL as DeepSeekMath (2402.03300), eq. 4, has it; TRL's default is DeepSeek-V3.2's, the ratio times that
EQ_4: Final = {"use_bias_correction_kl": False}
KL: Final = (
    "A KL (--kl-coef) is k3 of each token, without the ratio: on policy its gradient is that of the forward KL, "
    "KL(pi_ref || pi). DeepSeek-V3.2 (2512.02556, sec. 3.1) multiplies it by rho, which makes that the reverse KL: "
    "--trl '{use_bias_correction_kl: true}'."
)

OBJECTIVES: Final[dict[str, Objective]] = {
    "reinforce": Objective(
        paper="Williams 1992, with the group's mean as baseline (a signed, weighted form of SFT)",
        equation="1/(G L) sum_i (r_i - mean r) sum_t log pi(o_it)",
        normalises="nothing but the constant L",
        biases="None on policy. A generation used for more than one update is treated as if it were on policy.",
        settings={"loss_type": "dr_grpo", "scale_rewards": "none", "beta": 0.0},
        loss="reinforce",
    ),
    "grpo": Objective(
        paper="DeepSeekMath, arXiv 2402.03300, eq. 3 and 4",
        equation="1/G sum_i 1/|o_i| sum_t min(rho A_i, clip(rho, 1-.2, 1+.2) A_i) - .04 k3_it,  "
        "A_i = (r_i - mean r) / std r,  k3 = pi_ref/pi - log(pi_ref/pi) - 1",
        normalises="each advantage by the group's standard deviation, each completion by its length",
        biases="std: problems that are nearly always or nearly never solved weigh more; with k of G correct, a correct "
        "completion gets sqrt((G-k)/k). Length: a long wrong answer costs less per token than a short one, so wrong "
        f"answers grow. {KL}",
        settings={"loss_type": "grpo", "scale_rewards": "group", "beta": 0.04, "epsilon": 0.2, **EQ_4},
    ),
    "dr_grpo": Objective(
        paper="Understanding R1-Zero-Like Training, arXiv 2503.20783, sec. 3.2",
        equation="1/(G L) sum_i sum_t min(rho A_i, clip(rho, 1-.2, 1+.2) A_i),  A_i = r_i - mean r",
        normalises="nothing but the constant L",
        biases="Neither of GRPO's two; a problem is weighted by its variance, p(1-p). r_i - mean r is (G-1)/G of the "
        "leave-one-out advantage.",
        # TRL's loss_type alone does not switch the standard deviation off
        settings={"loss_type": "dr_grpo", "scale_rewards": "none", "beta": 0.0, "epsilon": 0.2, **EQ_4},
    ),
    "dapo": Objective(
        paper="DAPO, arXiv 2503.14476, eq. 8",
        equation="1/(sum_i |o_i|) sum_i sum_t min(rho A_i, clip(rho, 1-.2, 1+.28) A_i),  A_i = (r_i - mean r) / std r",
        normalises="each advantage by the group's standard deviation, the sum over the completions of an optimizer "
        "step by their number of tokens",
        biases="std as in GRPO. Every token weighs the same, so long completions weigh more than short ones. The wider "
        "upper clip lets the probability of rare tokens grow, so entropy falls later. No KL. Each optimizer step "
        "divides by its own tokens, also where several share a generation (TRL divides by their mean).",
        settings={
            "loss_type": "dapo", "scale_rewards": "group", "beta": 0.0, "epsilon": 0.2, "epsilon_high": 0.28,
            **EQ_4,
        },
    ),
    "kimi": Objective(
        paper="Kimi k1.5, arXiv 2501.12599, eq. 3",
        equation="1/(G L) sum_i [(r_i - mean r) log pi(o_i) - tau/2 (log pi(o_i) - log pi_start(o_i))^2]",
        normalises="nothing but the constant L",
        biases="Neither std nor length. The squared log-ratio to the policy that sampled restrains a completion as a "
        "whole; it is 0, and so is its gradient, until the generation is used for a second update. Each generation is "
        "an iteration: the policy that sampled it is the reference, and the optimizer is reset.",
        settings={"loss_type": "dr_grpo", "scale_rewards": "none", "beta": 0.0},
        loss="kimi",
        resets_optimizer=True,
    ),
    "gspo": Objective(
        paper="GSPO, arXiv 2507.18071, eq. 5 and 7; clip range from sec. 5.1",
        equation="1/G sum_i min(s_i A_i, clip(s_i, 1-3e-4, 1+4e-4) A_i),  s_i = (prod_t rho_it)^(1/|o_i|),  "
        "A_i = (r_i - mean r) / std r",
        normalises="each advantage by the group's standard deviation, the ratio by the completion's length",
        biases="std as in GRPO. A completion is clipped as a whole, not token by token, which stabilises mixtures of "
        "experts.",
        settings={
            "loss_type": "grpo", "importance_sampling_level": "sequence", "scale_rewards": "group", "beta": 0.0,
            "epsilon": 3e-4, "epsilon_high": 4e-4, **EQ_4,
        },
    ),
    "rloo": Objective(
        paper="Back to Basics, arXiv 2402.14740, sec. 2.3 (after Kool et al. 2019)",
        equation="1/(G L) sum_i (r_i - mean of the others' r) sum_t log pi(o_it)",
        normalises="nothing but the constant L",
        biases="None: the baseline does not depend on the completion itself. G/(G-1) times dr_grpo's gradient.",
        settings={"loss_type": "dr_grpo", "scale_rewards": "none", "beta": 0.0},
        loss="reinforce",
        baseline="leave_one_out",
    ),
    "raft": Objective(
        paper="RAFT, arXiv 2504.11343, eq. 1 (Dong et al., 2304.06767, keep the best of a group; here, as there, all "
        "correct ones): rejection fine-tuning, that is expert iteration with a round per generation",
        equation="1/(sum_{i correct} |o_i|) sum_{i correct} sum_t min(rho, 1+.2),  whose gradient is SFT's on the "
        "correct completions while rho is 1",
        normalises="the sum over the correct completions of an optimizer step by their number of tokens, as SFT does",
        biases="Learns nothing from wrong completions, and as much from a group that is all correct as from any other: "
        "a problem is weighted by p, so easy ones weigh most, and entropy falls sooner than with a baseline "
        "(2504.11343, sec. 1). Every token weighs the same, so long correct completions weigh more. A generation used "
        "for more than one update is bounded by ratio and clip, as in eq. 6 (RAFT++), which divides by each length "
        "instead; each update divides by its own correct tokens.",
        settings={"loss_type": "dapo", "scale_rewards": "none", "beta": 0.0, "epsilon": 0.2},
        baseline="none",
    ),
    "cispo": Objective(
        paper="MiniMax-M1, arXiv 2506.13585, eq. 4 and 5; upper bound from ScaleRL, 2510.13786",
        equation="1/(sum_i |o_i|) sum_i sum_t sg(min(rho, 5)) A_i log pi(o_it),  A_i = (r_i - mean r) / std r",
        normalises="as dapo",
        biases="Bounds the weight of a token in place of dropping its gradient, so rare tokens that a clip silences go "
        "on learning. std and tokens as in dapo. --trl '{epsilon_high: B}' sets the bound B.",
        settings={"loss_type": "cispo", "scale_rewards": "group", "beta": 0.0, "epsilon_high": 5.0, **EQ_4},
    ),
    "sapo": Objective(
        paper="Soft Adaptive Policy Optimization, arXiv 2511.20347",
        equation="1/G sum_i 1/|o_i| sum_t 4/tau sigmoid(tau (rho - 1)) A_i,  tau = 1 for A_i > 0, else 1.05",
        normalises="each advantage by the group's standard deviation, each completion by its length",
        biases="std and length as in grpo. A smooth gate in place of the clip: a token's gradient fades as its ratio "
        "leaves 1, sooner for negative advantages.",
        settings={"loss_type": "sapo", "scale_rewards": "group", "beta": 0.0, **EQ_4},
    ),
    "luspo": Objective(
        paper="LUSPO, arXiv 2602.05261 (the clip range is GSPO's)",
        equation="1/G sum_i |o_i| min(s_i A_i, clip(s_i, 1-3e-4, 1+4e-4) A_i),  s_i = (prod_t rho_it)^(1/|o_i|)",
        normalises="each advantage by the group's standard deviation, the ratio by the completion's length",
        biases="gspo times each completion's length: tokens weigh alike again, so long completions are no longer "
        "favoured less. The loss grows with length, so the learning rate has to be lower than gspo's.",
        settings={
            "loss_type": "luspo", "importance_sampling_level": "sequence", "scale_rewards": "group", "beta": 0.0,
            "epsilon": 3e-4, "epsilon_high": 4e-4, **EQ_4,
        },
    ),
    "vespo": Objective(
        paper="VESPO, arXiv 2602.10693 (constants as in TRL)",
        equation="1/(sum_i |o_i|) sum_i sg(phi(w_i)) A_i sum_t log pi(o_it),  w_i = prod_t rho_it,  "
        "phi(w) = e^c w^k e^(-c w),  (k, c) = (2, 3) for A_i >= 0, else (3, 2)",
        normalises="as dapo",
        biases="A smooth weight of the whole completion in place of a clip: 1 on policy, 0 far from it on either side, "
        "so a long completion whose tokens all moved a little weighs next to nothing.",
        settings={
            "loss_type": "vespo", "scale_rewards": "group", "beta": 0.0,
            "vllm_importance_sampling_mode": "token_truncate", **EQ_4,
        },
    ),
    "gmpo": Objective(
        paper="GMPO, arXiv 2507.20673",
        equation="1/G sum_i A_i (prod_t rho_it')^(1/|o_i|),  A_i = (r_i - mean r) / std r,  log rho' = log rho clipped "
        "at .4 on the side that A_i favours",
        normalises="each advantage by the group's standard deviation, the ratio by the completion's length",
        biases="std as in grpo. The geometric mean of a completion's ratios is less moved by single tokens than their "
        "mean, so the clip can be wide. As in gspo each token's gradient is divided by the length, and by the ratio of "
        "the whole completion.",
        settings={"loss_type": "dr_grpo", "scale_rewards": "group", "beta": 0.0},
        loss="gmpo",
    ),
    "maxrl": Objective(
        paper="Maximum likelihood RL (MaxRL), by its advantage; clip and constant are dr_grpo's",
        equation="1/(G L) sum_i sum_t min(rho A_i, clip(rho, 1-.2, 1+.2) A_i),  A_i = (r_i - mean r) / mean r",
        normalises="each advantage by the group's share of correct completions, and the constant L",
        biases="With k of G correct, a correct completion gets (G-k)/k and a wrong one -1: rarely solved problems "
        "weigh most, as the gradient of log p does. Reads correctness alone.",
        settings={"loss_type": "dr_grpo", "scale_rewards": "none", "beta": 0.0, "epsilon": 0.2, **EQ_4},
        baseline="relative",
    ),
    "pass_at_k": Objective(
        paper="Pass@k training, arXiv 2508.10751, analytical form; the loss is dapo's",
        equation="A+ = (1-R)/s, A- = (1-R - C(m-1,k-1)/C(n-1,k-1))/s,  R = 1 - C(m,k)/C(n,k), s = sqrt(R(1-R)), "
        "m of n wrong; k is --pass-k",
        normalises="as dapo, with the deviation of a subset's reward in place of the group's",
        biases="Rewards a subset of k of which one is right: problems that are solved often lose their weight, so "
        "entropy falls later and pass@k rises. k = 1 is dapo's advantage. Reads correctness alone.",
        settings={
            "loss_type": "dapo", "scale_rewards": "none", "beta": 0.0, "epsilon": 0.2, "epsilon_high": 0.28, **EQ_4,
        },
        baseline="pass_at_k",
    ),
    "reinforce_pp": Objective(
        paper="REINFORCE++-baseline, arXiv 2501.03262; its KL term is left to --kl-coef",
        equation="1/(sum_i |o_i|) sum_i sum_t min(rho A_i, clip(rho, 1-.2, 1+.2) A_i),  "
        "A_i = (a_i - mean a) / std a over the batch,  a_i = r_i - mean r of its group",
        normalises="each advantage by the deviation over the whole batch, the sum by the tokens of an optimizer step",
        biases="No group's deviation: a nearly solved problem weighs no more than its variance. The scale of a step "
        "depends on the batch's mixture. Every token weighs the same, as in dapo.",
        settings={"loss_type": "dapo", "scale_rewards": "none", "beta": 0.0, "epsilon": 0.2, **EQ_4},
        baseline="batch",
    ),
    "gdpo": Objective(
        paper="GDPO, arXiv 2601.05242",
        equation="grpo's with A_i = (a_i - mean a) / std a over the batch,  "
        "a_i = sum_k w_k (r_ik - mean r_k) / std r_k",
        normalises="each reward by its own mean and deviation in the group, their sum by that of the batch, each "
        "completion by its length",
        biases="Rewards of different scales keep their say: in grpo the widest decides. With one reward it is grpo "
        "whose advantages are normalised once more.",
        settings={
            "loss_type": "grpo", "scale_rewards": "group", "multi_objective_aggregation": "normalize_then_sum",
            "beta": 0.0, "epsilon": 0.2, **EQ_4,
        },
    ),
}  # fmt: skip


GMPO_CLIP: Final = 0.4  # 2507.20673, sec. 4: (e^-0.4, e^0.4)
# fields of TRL's own losses, which ours do not read
ONLY_TRLS: Final = frozenset(
    {
        "epsilon", "epsilon_high", "delta", "importance_sampling_level", "top_entropy_quantile", "entropy_coef",
        "use_adaptive_entropy", "off_policy_mask_threshold", "use_bias_correction_kl", "router_aux_loss_coef",
    }
)  # fmt: skip


def objective_named(name: str) -> Objective:
    """The row of the table, or `UserError` naming the nearest one."""
    if name not in OBJECTIVES:
        raise UserError(f"--objective is {name!r}; {nearest(name, list(OBJECTIVES))}")
    return OBJECTIVES[name]
