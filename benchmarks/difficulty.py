"""Cost of difficulty: samples beside the closed form, precise mode, and the stage's throughput beside raw vLLM.

    python benchmarks/difficulty.py [--model FOLDER] [--problems 300] [--quick]

All figures are ratios within one run, so a busy machine does not matter much. Exits 1 where measured samples are more
than 2% off the closed form or the stage has less than 0.9 of raw vLLM's throughput. `--quick` leaves vLLM out.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from curate.artifacts.samples import SampleList, sample_seed
from curate.difficulty.band import Band, expected_samples
from curate.difficulty.decision_rule import BandRule, DecisionRule, PreciseRule
from curate.engines import Engine, EngineConfig, Request, open_engine
from curate.sampling.grading import GradingConfig, Problem, grade
from curate.sampling.sampler import Limits, Meter, Sampler

BANDS = (Band(1, 7, 8), Band(0, 0, 8), Band(2, 6, 8), Band(3, 13, 16))
PRIORS = ((1.0, 1.0), (0.5, 0.5), (0.3, 0.6), (2.0, 2.0))
NUM_SIMULATED = 20_000
MAX_DEVIATION, MIN_THROUGHPUT = 0.02, 0.9


def draw(rule: DecisionRule, rate: float, chance: random.Random) -> list[str]:
    """The verdicts that a rule draws for a problem with this pass rate."""
    verdicts: list[str] = []
    while (num_owed := rule.owed(verdicts)) > 0:
        verdicts += ["correct" if chance.random() < rate else "wrong" for _ in range(num_owed)]
    return verdicts


def curtailed() -> bool:
    """Samples per problem: closed form, measured, and as a share of fixed K."""
    print("samples per problem, curtailed            closed form  measured  deviation  of fixed K")
    is_good = True
    for band in BANDS:
        for alpha, beta in PRIORS:
            chance = random.Random(f"{band}:{alpha}:{beta}")
            rule = BandRule(band, 0, is_curtailed=True)
            rates = (chance.betavariate(alpha, beta) for _ in range(NUM_SIMULATED))
            mean = sum(len(draw(rule, rate, chance)) for rate in rates) / NUM_SIMULATED
            form = expected_samples(band, alpha, beta)
            is_good &= abs(mean / form - 1) < MAX_DEVIATION
            name = f"  keep {band}, pass rates Beta({alpha:g}, {beta:g})"
            print(f"{name:<42}{form:>11.3f}{mean:>10.3f}{mean / form - 1:>11.2%}{mean / band.k:>12.2f}")
    return is_good


def precise() -> None:
    """Decision errors of fixed K and of the posterior stop, for the band 0.1 to 0.9 and Beta(.5, .5) pass rates.

    `wrong early` is the share among those that stopped before the cap, which the target bounds. The rest are too near
    the band's ends for that many samples, under any rule.
    """
    print("\nwrong decisions, band 0.1..0.9, Beta(.5, .5)       samples  wrong  wrong early")
    rules: dict[str, DecisionRule] = {
        f"fixed K = {k}": BandRule(Band.of_rates(0.1, 0.9, k), 0, is_curtailed=False) for k in (4, 8, 16, 32, 64)
    }
    rules |= {
        f"until error < {target}, at most {cap}": PreciseRule(0.1, 0.9, target, 4, cap, 0)
        for target, cap in ((0.2, 64), (0.1, 64), (0.05, 64), (0.05, 256))
    }
    for name, rule in rules.items():
        chance = random.Random(1)
        num_samples = num_wrong = num_early = num_wrong_early = 0
        for _ in range(4_000):
            rate = chance.betavariate(0.5, 0.5)
            verdicts = draw(rule, rate, chance)
            num_samples += len(verdicts)
            is_wrong = (rule.decision(verdicts) == "keep") != (0.1 <= rate <= 0.9)
            is_early = isinstance(rule, PreciseRule) and len(verdicts) < rule.max_samples
            num_wrong += is_wrong
            num_early += is_early
            num_wrong_early += is_wrong and is_early
        early = f"{num_wrong_early / num_early:>13.1%}" if num_early else f"{'-':>13}"
        print(f"  {name:<48}{num_samples / 4_000:>8.1f}{num_wrong / 4_000:>7.1%}{early}")


def raw_generate(model: Path, problems: list[Problem], k: int, max_tokens: int) -> float:
    """Tokens per second of one `LLM.generate` call over the same prompts, seeds and settings."""
    from transformers import AutoTokenizer
    from vllm import LLM, SamplingParams, TokensPrompt

    from curate.engines import vllm as ours
    from curate.engines.chat import render
    from curate.engines.config import settle

    settled = settle(EngineConfig(model=str(model), engine="vllm", max_tokens=max_tokens))
    arguments = ours.arguments(settled.config, model)
    llm = LLM(**arguments)
    tokenizer = AutoTokenizer.from_pretrained(model)
    start_s = time.perf_counter()
    requests = [Request(p.key, i, p.prompt, sample_seed(0, p.key, i)) for p in problems for i in range(k)]
    prompts = [TokensPrompt(prompt_token_ids=render(r, settled.config, tokenizer).tokens) for r in requests]
    params = [SamplingParams(max_tokens=max_tokens, temperature=1.0, seed=r.seed) for r in requests]
    outputs = llm.generate(prompts, params, use_tqdm=False)
    elapsed_s = time.perf_counter() - start_s
    llm.llm_engine.engine_core.shutdown()
    return sum(len(output.outputs[0].token_ids) for output in outputs) / elapsed_s


def staged(engine: Engine, problems: list[Problem], rule: BandRule) -> Meter:
    """The stage's own sampler with grading, over an open engine."""
    meter = Meter()
    with ThreadPoolExecutor(8) as graders, asyncio.Runner() as runner:
        sampler = Sampler(
            engine,
            SampleList(),
            lambda _, samples: rule.owed([sample.verdict for sample in samples]),
            partial(grade, config=GradingConfig()),
            seed=0,
            limits=Limits(),
            progress=None,
            meter=meter,
        )
        sampler.run(runner, graders, problems)
    return meter


def throughput(model: Path, num_problems: int) -> bool:
    """Raw vLLM against the stage with full K, and the savings of curtailing on this model."""
    k, max_tokens = 8, 48
    problems = [
        Problem(f"{n:06d}", f"{n} + {n * 7 % 13} = ?", str(n + n * 7 % 13), "math", None) for n in range(num_problems)
    ]
    raw = raw_generate(model, problems, k, max_tokens)
    config = EngineConfig(model=str(model), engine="vllm", max_tokens=max_tokens)
    with open_engine(config) as engine:
        full = staged(engine, problems, BandRule(Band(1, 7, k), 4, is_curtailed=False))
        early = staged(engine, problems, BandRule(Band(1, 7, k), 4, is_curtailed=True))
    ratio = full.num_tokens / full.total_s / raw
    print(f"\n{num_problems} problems x {k} on {model.name}, tokens per second")
    print(f"  LLM.generate                {raw:>9,.0f}")
    print(f"  difficulty stage, full K    {full.num_tokens / full.total_s:>9,.0f}  ratio {ratio:.2f}  ({full.line()})")
    print(f"  samples of fixed K, keep 1..7: {early.num_samples / full.num_samples:.2f}")
    return ratio >= MIN_THROUGHPUT


def main() -> int:
    """Print all tables; 0 where the figures hold."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", type=Path, help="model folder; a toy model with random weights by default")
    parser.add_argument("--problems", type=int, default=300)
    parser.add_argument("--quick", action="store_true", help="leave vLLM out")
    options = parser.parse_args()
    is_good = curtailed()
    precise()
    if not options.quick:
        sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
        from demo.toy import build_toy

        with tempfile.TemporaryDirectory() as folder:
            is_good &= throughput(options.model or build_toy(Path(folder) / "toy"), options.problems)
    return 0 if is_good else 1


if __name__ == "__main__":
    os.environ.setdefault("VLLM_LOGGING_LEVEL", "ERROR")
    os.environ.setdefault("VLLM_ENABLE_V1_MULTIPROCESSING", "0")
    sys.exit(main())
