"""Plot of `gradus curriculum simulate`: the results of each policy by rollouts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

import numpy as np

from curriculum.show.plots import Axes, canvas
from curriculum.simulate.simulate import Course
from curriculum.statistics.visits import Floats

SMOOTHED_STEPS: Final = 20
COLOURS: Final = ("#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee", "#aa3377", "#bbbbbb")
Lines = tuple[Floats, Floats]


def plot_courses(courses: dict[str, list[Course]], title: str, out: Path) -> Path:
    """Plot mean rate, mastered share and effective groups by rollouts, and waste by step."""
    from matplotlib.ticker import EngFormatter

    figure, axes = canvas(title)
    panels: tuple[tuple[str, str, str, Callable[[Course], Lines]], ...] = (
        ("Mean true success rate", "rollouts", "success rate", lambda run: (run.rollouts, run.mean_rate)),
        ("Mastered: true rate above p0", "rollouts", "share of problems", lambda run: (run.rollouts, run.mastered)),
        ("Groups with a gradient", "rollouts", "groups so far", lambda run: (run.rollouts, run.effective)),
        ("Rollouts wasted on groups without one", "step", f"share, mean of {SMOOTHED_STEPS} steps", _waste),
    )
    for place, (name, x, y, lines) in zip(axes.flat, panels, strict=True):
        _panel(place, courses, lines)
        place.set(title=name, xlabel=x, ylabel=y)
        place.set_xlim(left=0)
        place.xaxis.set_major_formatter(EngFormatter(sep=""))
    axes[0, 0].legend()
    out.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(out, dpi=120)
    return out


def _panel(axes: Axes, courses: dict[str, list[Course]], lines: Callable[[Course], Lines]) -> None:
    for number, (policy, runs) in enumerate(courses.items()):
        colour = COLOURS[number % len(COLOURS)]
        across, values = (np.array(part) for part in zip(*(lines(run) for run in runs), strict=True))
        x, mean = across.mean(axis=0), values.mean(axis=0)
        axes.plot(x, mean, color=colour, label=policy)
        axes.fill_between(x, values.min(axis=0), values.max(axis=0), color=colour, alpha=0.15, linewidth=0)


def _waste(run: Course) -> Lines:
    groups, effective = (np.diff(total, prepend=0.0) for total in (run.groups, run.effective))
    window = np.ones(min(SMOOTHED_STEPS, len(groups)))
    spent, used = (np.convolve(part, window, "valid") for part in (groups, effective))
    # a policy without active problems spends and wastes no rollouts
    share: Floats = np.where(spent > 0, 1.0 - used / np.maximum(spent, 1.0), np.nan)
    return np.arange(len(window), len(groups) + 1, dtype=np.float64), share
