"""`gradus curriculum status`: pool sizes, slots, zero-variance shares and next re-checks of a run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import numpy as np

from curriculum.canaries.alarm import told
from curriculum.config import CurriculumConfig
from curriculum.draw.slots import Order, fill_slots
from curriculum.forecast.figures import MAX_SHOWN, predicted_zero_variance
from curriculum.state.files import Saved, newest, read
from curriculum.statistics.clock import Clock
from curriculum.statistics.parts import rates, summed
from curriculum.statistics.stats import ACTIVE, QUARANTINED, RETIRED, STATUSES

LISTED: Final = 10
RECENT_BATCHES: Final = 20
PREVIEW_SLOTS: Final = 256


def status(run: Path) -> str:
    """The status of a run's curriculum as text."""
    saved = read(newest(run))
    config = CurriculumConfig.model_validate(saved.config)
    parts = (
        _head(saved, config),
        _pools(saved),
        _slots(saved),
        _variance(saved, config),
        _parts(saved),
        _canaries(saved, config),
        _events(saved),
    )
    lines = [line for part in (*parts, _checks(saved), _quarantined(saved)) for line in part]
    return "\n".join(lines)


def figures(run: Path) -> dict[str, Any]:  # Any: JSON
    """The same figures, for `--json`: pools, slots, recent shares of groups without a gradient, events."""
    saved = read(newest(run))
    counts = np.bincount(saved.stats.status, minlength=len(STATUSES))
    return {
        "checkpoint": str(saved.folder),
        "clock": saved.clock,
        "settings": saved.config,
        "pools": {name: int(count) for name, count in zip(STATUSES, counts, strict=True)},
        "recent": saved.history.batches[-RECENT_BATCHES:],
        "parts": [{**one, **rates(one)} for one in _recent_parts(saved)],
        "suspects": dict(saved.history.suspects()),
        "events": dict(Counter(event["event"] for event in saved.history.events)),
    }


def _head(saved: Saved, config: CurriculumConfig) -> Iterator[str]:
    rule = f"{config.rule} (p0 {config.p0:g}, alpha {config.alpha:g})" if config.rule == "e_process" else config.rule
    yield f"{saved.folder}: step {saved.clock['step']}, {saved.clock['draw_number']} draws"
    mix = "" if config.mix is None else f", mix {config.mix if isinstance(config.mix, str) else dict(config.mix)}"
    yield f"  policy {config.policy}, rule {rule}{mix}{'' if config.mix is None else f' by {config.mix_by}'}"


def _pools(saved: Saved) -> Iterator[str]:
    counts = np.bincount(saved.stats.status, minlength=len(STATUSES))
    for name, count in zip(STATUSES, counts, strict=True):
        if count or name not in ("held_out", "canary"):
            yield f"  {name:<12}{count:>9,}  {count / len(saved.stats):6.1%}"


def _slots(saved: Saved) -> Iterator[str]:
    clock = saved.clock
    if not clock["num_slots"]:
        return
    names = {"num_rechecks": "re-checks", "num_floor": "floor", "num_fill": "fill", "num_repeats": "repeats"}
    shares = ", ".join(f"{label} {clock[name] / clock['num_slots']:.1%}" for name, label in names.items())
    yield f"  {clock['num_slots']:,} slots drawn: {shares}, the rest by policy"


def _variance(saved: Saved, config: CurriculumConfig) -> Iterator[str]:
    """Share of zero-variance groups: predicted for uniform draws and for the policy's, and recently observed."""
    size, stats = saved.clock["group_size"], saved.stats
    if not size:
        return
    active = np.flatnonzero(stats.status == ACTIVE)
    if len(active):
        order, forecast = Order(min(PREVIEW_SLOTS, len(active)), 0), saved.forecast()
        drawn = fill_slots(forecast, order, config, np.random.default_rng(0)).rows
        evenly, by_policy = (
            predicted_zero_variance(forecast, rows, np.full(len(rows), size))
            for rows in (active[:: -(-len(active) // MAX_SHOWN)], drawn)
        )
        yield from _progress(saved)
        yield f"  expected zero-variance groups of {size}: {by_policy:.1%} as drawn, {evenly:.1%} if drawn uniformly"
    yield from _recent_variance(saved)


def _progress(saved: Saved) -> Iterator[str]:
    """How far the model has come in each group, by the forecasts."""
    population, progress = saved.forecaster.population, saved.forecaster.progress
    yield "  progress since the start by group: gain in logits, polarisation (logits grew by this factor), mean rate"
    rates = (population.mean_belief() * progress.cell_rates()).sum(axis=1)
    for name, scale, shift, rate in zip(population.names, *progress.mean, rates, strict=True):
        yield f"    {name:<32}{shift:+6.2f}{np.exp(scale):7.2f}{rate:7.2f}"


def _recent_variance(saved: Saved) -> Iterator[str]:
    known = [line for line in saved.history.batches if line["zero_variance"] is not None][-RECENT_BATCHES:]
    if known:
        seen, predicted = (
            sum(line[name] for line in known) / len(known) for name in ("zero_variance", "predicted_zero_variance")
        )
        yield f"  in the last {len(known)} batches: {seen:.1%} observed, {predicted:.1%} predicted"


def _parts(saved: Saved) -> Iterator[str]:
    """The last batches by part: slots, success rate, groups with a signal, undecided, cut off; suspects."""
    counts = _recent_parts(saved)
    if not counts:
        return
    total = sum(one["slots"] for one in counts)
    yield f"  by part, last {RECENT_BATCHES} batches:{'':<10}slots   rate  signal  undecided  cut off  suspects"
    suspects = saved.history.suspects() if saved.config.get("suspect_alpha") else None
    for one in counts:
        shares = rates(one)
        cells = (
            f"{shares[name]:.1%}" if name in shares else "-" for name in ("rate", "signal", "undecided", "truncated")
        )
        rate, signal, undecided, cut = cells
        slots, num = f"{one['slots'] / total:.1%}", "-" if suspects is None else suspects[one["part"]]
        yield f"    {one['part']:<32}{slots:>7}{rate:>7}{signal:>8}{undecided:>11}{cut:>9}{num:>10}"


def _recent_parts(saved: Saved) -> list[dict[str, Any]]:  # Any: counts, and the name
    return summed([line.get("parts") or [] for line in saved.history.batches[-RECENT_BATCHES:]])


def _canaries(saved: Saved, config: CurriculumConfig) -> Iterator[str]:
    """What the canaries say, and the alarm."""
    canaries = Clock.from_json(saved.clock).canaries
    if canaries.num_visits:
        yield f"  canaries: {told(canaries)}; alarm at e = {1 / config.canary_alpha:g}"
    if canaries.alarm_step is not None:
        yield f"  ALARM since step {canaries.alarm_step}: the reward is hacked or the verifier leaks"


def _events(saved: Saved) -> Iterator[str]:
    counts = Counter(event["event"] for event in saved.history.events)
    yield "  events: " + (", ".join(f"{name} {count}" for name, count in sorted(counts.items())) or "none yet")


def _checks(saved: Saved) -> Iterator[str]:
    is_out = (saved.stats.status == RETIRED) | (saved.stats.status == QUARANTINED)
    if not is_out.any():
        return
    steps = np.maximum(saved.stats.next_check[is_out], saved.clock["step"])
    when, num = np.unique(steps, return_counts=True)
    due = ", ".join(f"{n} from step {step}" for step, n in zip(when[:5], num, strict=False))
    yield f"  next re-checks: {due}{', ...' if len(when) > 5 else ''}"


def _quarantined(saved: Saved) -> Iterator[str]:
    rows = np.flatnonzero(saved.stats.status == QUARANTINED)
    why = {event["key"]: event["detail"] for event in saved.history.events if event["event"] == "quarantined"}
    for row in rows[:LISTED]:
        yield f"  quarantined {saved.keys[int(row)]}: {why.get(saved.keys[int(row)], 'in an earlier run')}"
    if len(rows) > LISTED:
        yield f"  ... and {len(rows) - LISTED} more: status == 'quarantined' in {saved.folder / 'curriculum.parquet'}"
