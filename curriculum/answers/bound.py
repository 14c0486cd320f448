"""A lower bound of a share that holds at every time at once, from counts that are looked at as they grow.

Against "the share is at most p" a bet q > p multiplies its stake by (q/p)^k ((1-q)/(1-p))^(n-k) after k of n. Under
that hypothesis no mixture of bets grows in expectation, however the share varies below p. With q uniform over (p, 1)

    e(p) = p^-k (1-p)^(k-n) / (1-p) * integral from p to 1 of q^k (1-q)^(n-k) dq

By Ville's inequality e(p) ever reaches 1/alpha with probability at most alpha; the bound is the largest p that e rules
out (Howard, Ramdas, McAuliffe and Sekhon, "Time-uniform, nonparametric, nonasymptotic confidence sequences", 2021).
"""

from __future__ import annotations

import math
from typing import Final

HALVINGS: Final = 40


def log_evidence(num: int, total: int, share: float) -> float:
    """Log e(share) after `num` of `total`; 0 for none."""
    from scipy.special import betainc, betaln

    if total == 0:
        return 0.0
    a, b = num + 1.0, total - num + 1.0
    above = float(1.0 - betainc(a, b, share))
    if above <= 0.0:
        return -math.inf
    stake = float(betaln(a, b)) + math.log(above) - math.log1p(-share)
    return stake - num * math.log(share) - (total - num) * math.log1p(-share)


def lower_bound(num: int, total: int, alpha: float) -> float:
    """The share that is exceeded with confidence 1 - alpha, valid at every time; 0 if nothing is ruled out."""
    low, high = 0.0, num / total if total else 0.0
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        if middle > 0.0 and log_evidence(num, total, middle) >= -math.log(alpha):
            low = middle
        else:
            high = middle
    return low
