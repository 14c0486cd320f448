"""The funnel: how many problems each stage of a run took in, kept and dropped, and why; as text and as a picture."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from curate.artifacts.chain import ancestors_of, ends_of
from curate.artifacts.manifest import MANIFEST, Manifest, read_manifest
from curate.errors import UserError

BAR_WIDTH: Final = 24
INK, KEPT, MUTED, OTHERS = "#1f2933", "#2f6f8f", "#5f6c77", "#c3cad0"
DROPPED: Final = ("#c8553d", "#d98e4a", "#e3bf6b", "#a3b18a", "#8e9aaf")


class Step(NamedTuple):
    """A stage's numbers; `reasons` counts dropped rows by reason, merged duplicates among them, most first."""

    stage: str
    num_in: int
    num_kept: int
    reasons: tuple[tuple[str, int], ...]


def chain_in(run: Path) -> list[str]:
    """The stages in a folder of artifacts, each made from what the previous one kept; `UserError` if they branch."""
    made = {path.parent: read_manifest(path.parent) for path in sorted(run.glob(f"*/{MANIFEST}"))}
    ends = ends_of(made)
    if not ends:
        raise UserError(f"{run}: holds no artifacts; give a folder that `gradus curate run` wrote, or one of artifacts")
    if len(ends) > 1:
        names = ", ".join(path.name for path in ends)
        raise UserError(f"{run}: {names} each end a separate chain; keep one chain in the folder")
    others = {path: manifest for path, manifest in made.items() if path != ends[0]}
    return [path.name for path in (*ancestors_of(made[ends[0]], others), ends[0])]


def steps_of(run: Path, stages: Sequence[str]) -> list[Step]:
    """The finished stages of a run, in order."""
    return [step_of(read_manifest(run / stage)) for stage in stages if (run / stage / MANIFEST).exists()]


def step_of(manifest: Manifest) -> Step:
    """A finished stage's numbers, from its manifest."""
    merged = int(manifest.facts.get("num_merged", 0))
    reasons = {**manifest.reasons, **({"merged_into_twin": merged} if merged else {})}
    by_count = sorted(reasons.items(), key=lambda item: (-item[1], item[0]))
    return Step(manifest.stage, manifest.num_in + merged, manifest.num_kept, tuple(by_count))


def table(steps: Sequence[Step]) -> str:
    """The funnel as text: a line a stage with a bar for the share of the whole pool that is left, then its reasons."""
    if not steps:
        return "no stage is finished yet"
    total = max(steps[0].num_in, 1)
    name = max(len(step.stage) for step in steps)
    width = len(f"{total:,}")
    lines = []
    for step in steps:
        share = step.num_kept / total
        bar = "█" * round(share * BAR_WIDTH)
        lines.append(
            f"{step.stage:<{name}}  {step.num_kept:>{width},} of {step.num_in:>{width},} kept  {bar} {share:.1%}"
        )
        lines += [f"{'':<{name}}  {count:>{width},} {reason}" for reason, count in step.reasons]
    return "\n".join(lines)


def draw(steps: Sequence[Step], path: Path) -> None:
    """The funnel as a PNG: one bar a stage, the kept rows on the left, then the dropped rows by reason.

    The reasons and their colours are listed under each bar, the rarest as one.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 0.9 + 0.62 * len(steps)), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    total = max(1, *(step.num_in for step in steps))
    for row, step in enumerate(steps):
        axes.barh(row, step.num_kept, color=KEPT, height=0.56)
        left, parts = step.num_kept, _parts(step.reasons)
        for (_, count), colour in parts:
            axes.barh(row, count, left=left, color=colour, height=0.56)
            left += count
        # in white on the bar, or behind the whole row if the bar is too short
        fits = step.num_kept > 0.08 * total
        place, colour = (0.0, "white") if fits else (left, INK)
        words = f"{step.num_kept:,}" if fits else f"{step.num_kept:,} kept"
        axes.text(place + 0.008 * total, row, words, color=colour, va="center", weight="bold", fontsize=9)
        axes.add_artist(_legend(parts, row + 0.42))
    axes.set_yticks(range(len(steps)), [step.stage for step in steps], color=INK)
    axes.set_ylim(len(steps) - 0.3, -0.6)
    axes.set_xlim(0, total * 1.01)
    axes.set_xlabel("problems", color=INK)
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.tick_params(left=False, colors=INK)
    # no software version in the file: equal runs give equal bytes
    figure.savefig(path, dpi=150, metadata={"Software": None})


def _parts(reasons: Sequence[tuple[str, int]]) -> list[tuple[tuple[str, int], str]]:
    """The reasons with a colour each; those beyond the palette share one."""
    num_own = len(DROPPED) if len(reasons) > len(DROPPED) + 1 else len(reasons)
    rest = reasons[num_own:]
    shown = [*reasons[:num_own], *([("others", sum(count for _, count in rest))] if rest else [])]
    return list(zip(shown, (*DROPPED, OTHERS), strict=False))


def _legend(parts: Sequence[tuple[tuple[str, int], str]], height: float) -> Any:  # Any: matplotlib is imported late
    """A line of coloured squares, each with its reason."""
    from matplotlib.offsetbox import AnnotationBbox, HPacker, TextArea

    words = []
    for (reason, count), colour in parts:
        words += [TextArea("■", textprops={"color": colour, "fontsize": 7.5})]
        words += [TextArea(f"{reason} {count:,}  ", textprops={"color": MUTED, "fontsize": 7.5})]
    if not words:
        words = [TextArea("nothing dropped", textprops={"color": MUTED, "fontsize": 7.5})]
    line = HPacker(children=[*words], align="baseline", pad=0, sep=3)
    return AnnotationBbox(line, (0, height), frameon=False, box_alignment=(0, 0.5), pad=0)
