"""Coverage of avg@n's 95% interval: how often it holds the mean rate of all problems, and its width.

Run with `python benchmarks/average_coverage.py [--samples N]`. Success rates of problems are drawn from a distribution,
completions from the rates.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from statistics import fmean
from typing import Final

import numpy as np
import numpy.typing as npt

from train.estimators import average

Draw = Callable[[np.random.Generator, int], npt.NDArray[np.float64]]
SIZES: Final = ((30, 1), (30, 64), (100, 8), (500, 4))  # problems, completions of each


def beta(a: float, b: float) -> Draw:
    """Rates of a beta distribution."""
    return lambda generator, num: generator.beta(a, b, num)


def few_solved(generator: np.random.Generator, num: int) -> npt.NDArray[np.float64]:
    """One problem in twenty has the rate .9, the others .02."""
    return np.where(generator.random(num) < 0.05, 0.9, 0.02)


KINDS: Final[dict[str, tuple[Draw, float]]] = {
    "Beta(.1, 2)": (beta(0.1, 2), 0.1 / 2.1),
    "Beta(2, .1)": (beta(2, 0.1), 2 / 2.1),
    "Beta(.1, .1)": (beta(0.1, 0.1), 0.5),
    "Beta(.5, .5)": (beta(0.5, 0.5), 0.5),
    "Beta(20, 20)": (beta(20, 20), 0.5),
    "5% at .9, rest .02": (few_solved, 0.064),
}


def main() -> None:
    """Print coverage and mean width of each distribution and size."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=1000)
    num_samples = parser.parse_args().samples
    print(f"{'rates':<20}{'problems x n':>14}{'coverage':>10}{'width':>8}   ({num_samples} samples)")
    for name, (draw, mean) in KINDS.items():
        for num, n in SIZES:
            generator = np.random.default_rng(0)
            found = [average(list(generator.binomial(n, draw(generator, num)) / n)) for _ in range(num_samples)]
            coverage = fmean(one.low <= mean <= one.high for one in found)
            width = fmean(one.high - one.low for one in found)
            print(f"{name:<20}{f'{num} x {n}':>14}{coverage:>10.1%}{width:>8.3f}", flush=True)


if __name__ == "__main__":
    main()
