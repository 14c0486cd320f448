"""`gradus curriculum explain`: every visit of a problem and the reason for its current pool."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl

from curate.errors import UserError
from curriculum.config import CurriculumConfig
from curriculum.pools.retirement import e_value
from curriculum.state.files import Saved, newest, read
from curriculum.statistics.stats import ACTIVE, CANARY, HELD_OUT, PARKED, QUARANTINED, RETIRED, STATUSES


def explain(run: Path, key: str) -> str:
    """The history of the problem whose key begins with `key`, as text."""
    saved = read(newest(run))
    row = _find(saved, key)
    config = CurriculumConfig.model_validate(saved.config)
    return "\n".join([*_now(saved, row), *_why(saved, row, config), *_visits(saved, row), *_lost(saved)])


def _find(saved: Saved, key: str) -> int:
    found = np.flatnonzero(saved.keys.str.starts_with(key).to_numpy())
    if len(found) == 1:
        return int(found[0])
    if len(found):
        raise UserError(f"{key}: begins {len(found)} keys, {saved.keys[int(found[0])]} among them; give more digits")
    raise UserError(f"{key}: begins no key in {saved.folder}; keys look like {saved.keys[0]}")


def _now(saved: Saved, row: int) -> Iterator[str]:
    stats = saved.stats
    a, b = (float(figure[0]) for figure in stats.posterior(np.array([row])))
    yield f"{saved.keys[row]}: {STATUSES[stats.status[row]]} at step {saved.clock['step']}"
    judged = int(stats.num_correct[row] + stats.num_wrong[row])
    seen = f"{stats.num_correct[row]} of {judged} correct, {stats.num_undecided[row]} undecided"
    yield f"  {stats.num_visits[row]} visits in training: {seen}"
    yield f"  counts alone: success rate about {a / (a + b):.2f}, Beta({a:.1f}, {b:.1f}), measured samples included"
    yield from _forecast(saved, row)
    lengths = [
        f"{name} {length[row]:.0f}"
        for name, length in (("correct", stats.tokens_correct), ("wrong", stats.tokens_wrong))
        if not np.isnan(length[row])
    ]
    if lengths:
        yield f"  mean tokens: {', '.join(lengths)}"


def _forecast(saved: Saved, row: int) -> Iterator[str]:
    """The current forecast and where it comes from."""
    stats, forecast, rows = saved.stats, saved.forecast(), np.array([row])
    belief, rates = forecast.belief(rows)[0], forecast.cell_rates(rows)[0]
    low, high = np.interp((0.1, 0.9), np.cumsum(belief[:-2] / belief[:-2].sum()), rates[:-2])
    rate, age = float(forecast.mean_rate(rows)[0]), saved.clock["step"] - float(stats.seen_at[row])
    yield f"  forecast {rate:.2f}: evidence {age:.0f} steps old on average, plus the progress since"
    yield f"    never solved {belief[-2]:.0%}, always {belief[-1]:.0%}, else between {low:.2f} and {high:.2f} (80%)"
    if size := saved.clock["group_size"]:
        yield f"    a group of {size} has no signal with probability {forecast.no_signal(rows, size)[0]:.0%}"
    group = int(stats.group[row])
    mean = float((saved.forecaster.population.mean_belief()[group] * forecast.progress.cell_rates()[group]).sum())
    yield f"    its group, {saved.forecaster.population.names[group]}, has the mean rate {mean:.2f}"


def _why(saved: Saved, row: int, config: CurriculumConfig) -> Iterator[str]:
    """The reason for the current pool, in terms of the settings."""
    stats, status = saved.stats, saved.stats.status[row]
    moves = [event for event in saved.history.events if event.get("key") == saved.keys[row]]
    if status == HELD_OUT:
        yield "  why: part of the probe set, which is never drawn"
    elif status == CANARY:
        yield "  why: a canary, which has another wrong truth each time and is never learned from"
        for event in moves:
            yield f"  step {event['step']}: {event['detail']}"
    elif moves:
        last = moves[-1]
        yield f"  why: {last['event']} at step {last['step']}, visit {last['visit']}: {last['detail']}"
    else:
        yield "  why: no move" + (" in this run" if status != ACTIVE else " since the start")
    if status in (RETIRED, QUARANTINED):
        yield f"  next: re-check from step {stats.next_check[row]}, interval {stats.check_interval[row]} steps"
    if status == ACTIVE:
        e = float(e_value(stats, np.array([row]))[0])
        mastery = f"retires at e = {1 / config.alpha:g}, now {e:.3g}" if config.rule == "e_process" else config.rule
        yield f"  next: {mastery}; parks after {config.park_after} visits without success, now {stats.num_dry[row]}"
    if status == PARKED and moves and moves[-1]["event"] == "suspected":
        yield "  next: returns on a success, once the other answer has less than half, or the truth as many"
    elif status == PARKED:
        yield f"  next: returns on one success; {stats.num_dry[row]} consecutive visits without one"


def _visits(saved: Saved, row: int) -> Iterator[str]:
    visits = saved.history.visits.filter(pl.col("row") == row)
    if not visits.height:
        return
    moves: dict[tuple[int, int], list[str]] = {}
    for event in saved.history.events:
        if event.get("key") == saved.keys[row]:
            moves.setdefault((event["draw"], event["step"]), []).append(event["event"])
    yield f"  {'step':>6}{'draw':>7}{'correct':>9}{'wrong':>7}{'undecided':>11}{'rate':>7}{'e':>9}"
    for visit in visits.iter_rows(named=True):
        counts = f"{visit['num_correct']:>9}{visit['num_wrong']:>7}{visit['num_undecided']:>11}"
        after = f"{visit['rate_after']:>7.2f}{visit['e_after']:>9.3g}"
        moved = ", ".join(moves.get((visit["draw"], visit["step"]), ()))
        yield f"  {visit['step']:>6}{visit['draw']:>7}{counts}{after}  {moved}".rstrip()


def _lost(saved: Saved) -> Iterator[str]:
    """What the table lacks: visits discarded by an outage, visits of an earlier run."""
    events = saved.history.events
    outages = [str(event["step"]) for event in events if event["event"] == "outage"]
    if outages:
        yield f"  outages, whose visits were discarded: step {', '.join(outages)}"
    for event in events:
        if event["event"] == "left_out":
            yield f"  source {event['where']} left out at step {event['step']}: {event['detail']}"
    if any(event["event"] == "continued" for event in events):
        yield "  statistics include an earlier run; its visits are in that run's state"
