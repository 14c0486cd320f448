"""The curriculum: selects the problems of each generation batch and learns from their outcomes.

Every rank holds the same curriculum and makes the same draws: a draw depends only on the seed, the draw number and the
observations so far. A curriculum that was saved, loaded and continued draws the same as one that never stopped.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final, Self

import numpy as np
import polars as pl

from curate.errors import UserError
from curriculum.answers.watch import Answers
from curriculum.canaries.alarm import due, learn
from curriculum.canaries.problems import set_aside
from curriculum.config import CurriculumConfig
from curriculum.draw.mix import next_mix, parts_of
from curriculum.draw.probe import probe_rows
from curriculum.draw.slots import Order, Slots, fill_slots, max_rechecks
from curriculum.forecast.figures import batch_figures, rate_histogram, shown_rates
from curriculum.forecast.forecast import Forecast
from curriculum.forecast.forecaster import Forecaster
from curriculum.forecast.groups import group_names
from curriculum.forecast.prior import new_stats
from curriculum.pools.outage import Sign, believed, find_outages, in_a_row, lasting, of_all
from curriculum.pools.retirement import e_value
from curriculum.pools.transitions import EVENTS, SUSPECTED, Move, apply_moves, park_suspects, quarantine
from curriculum.state import files as state
from curriculum.state.handover import begin_again, by_key, changes
from curriculum.state.history import FIGURES, History, notices
from curriculum.statistics.clock import Clock
from curriculum.statistics.parts import all_rates, by_part
from curriculum.statistics.sources import Sources
from curriculum.statistics.stats import CANARY, HELD_OUT, STATUSES, Stats
from curriculum.statistics.visits import Batch, Ints, Visit, as_batches, check

DRAWN: Final = ("draw", "rechecks", "floor_slots", "fill_slots", "repeats")


class Curriculum:
    """Statistics, draws and pools of one dataset, made by `create`, `load` or `continue_from`."""

    def __init__(
        self,
        problems: pl.DataFrame,
        stats: Stats,
        forecaster: Forecaster,
        config: CurriculumConfig,
        binding: Mapping[str, str],
    ) -> None:
        """`problems` needs the column `key`; with a column `source`, outages are detected per source."""
        self.keys = problems["key"]
        self.stats = stats
        self.config = config
        self.binding = dict(binding)
        self.forecaster = forecaster
        self.clock = Clock()
        self.history = History()
        self.answers = Answers()
        self._parts = parts_of(problems, config)
        self._sources = Sources(problems)
        self._metrics: dict[str, float] = {}

    @classmethod
    def create(cls, problems: pl.DataFrame, config: CurriculumConfig, binding: Mapping[str, str]) -> Self:
        """Create a curriculum over `problems`; measured counts, where present, are the prior.

        binding: what the statistics depend on, by name: dataset digest, model, sampling parameters.
        """
        state.check_keys(problems)
        stats, names = new_stats(problems, config), group_names(problems, config)
        made = cls(problems, stats, Forecaster.fit(names, stats), config, binding)
        made._hold_out(problems)
        return made

    def draw(self, num_problems: int, *, step: int | None = None, exclude: Collection[int] = ()) -> list[int]:
        """Row positions of the next generation batch, one per group, distinct while enough problems exist.

        step: training step of the batch; default: the last one observed.
        exclude: rows not to draw, such as those already in a batch that is refilled.
        Raises `PoolExhausted` if no problem is active.
        """
        if num_problems < 1:
            raise ValueError(f"a batch needs at least one problem, not {num_problems}")
        self.clock.step = self.clock.step if step is None else step
        canaries = self._canaries_due(num_problems, exclude)
        num, rng = num_problems - len(canaries), self._generator()
        mix, self.clock.mix_carried = next_mix(self._parts, self.forecast(), self.config, num, self.clock)
        order = Order(num, max_rechecks(self.clock, num, self.config), frozenset(exclude), mix)
        slots = fill_slots(self.forecast(), order, self.config, rng)
        self._count(slots)
        rows = rng.permutation(np.concatenate([slots.rows, canaries])) if len(canaries) else slots.rows
        return [int(row) for row in rows]

    def observe(self, visits: Sequence[Visit], *, step: int, forecast_of: Sequence[Visit] | None = None) -> None:
        """Update the curriculum with the outcomes of a batch at training step `step`.

        Visits of canaries count for the alarm alone.
        forecast_of: the visits of the batch that the forecast is held against, where which problems got more
        completions depended on their first ones; default: all.
        Raises `Outage` after `outage_limit` outages in a row. Sources whose verdicts stay undecided are left out.
        """
        everything = list(visits)
        check(everything, len(self.stats))
        self.clock.step = step
        visits = self._without_canaries(everything)
        judged = visits if forecast_of is None else self._without_canaries(forecast_of)
        figures, sources = batch_figures(self.forecast(), judged), self._sources.of(visits)
        down = find_outages(self.stats, visits, sources, self.clock.doubts, self.config)
        down = of_all(down, self._sources.trained(self.stats))
        trusted = believed(visits, sources, down)
        for sign in down:
            self._event("outage", where=sign.where, detail=sign.detail)
        suspects = self.answers.learn(trusted, self.config.suspect_alpha)
        moves = [move for batch in as_batches(trusted) for move in self._learn(batch, suspects)]
        self._log_batch(
            {**figures, "disbelieved": float(len(visits) - len(trusted))}, moves, by_part(self._parts, visits)
        )
        self._watch([visit for visit in everything if self.is_canary(visit.row)])
        self.clock.outages = in_a_row(self.clock.outages, down, sources)
        for sign in lasting(self.clock.outages, down, step, self.config.outage_limit):
            self._leave_out(sign)

    def notices(self) -> list[str]:
        """Outages of the last observed batch, the sources left out then, and the alarm, one line each."""
        return notices(self.history.events, self.clock.draw_number)

    def is_canary(self, row: int) -> bool:
        """Whether the problem at position `row` is a canary, whose outcomes teach nothing."""
        return bool(self.stats.status[row] == CANARY)

    def metrics(self) -> dict[str, float]:
        """Figures of the last draw and observation, and current pool sizes, for the trainer's log."""
        return {**self._metrics, **{name: float(count) for name, count in self.occupancy().items()}}

    def occupancy(self) -> dict[str, int]:
        """Number of problems in each pool."""
        counts = np.bincount(self.stats.status, minlength=len(STATUSES))
        return {name: int(count) for name, count in zip(STATUSES, counts, strict=True)}

    def forecast(self) -> Forecast:
        """Current success rates, including the model's progress since each problem was last seen."""
        return self.forecaster.forecast(self.stats, self.clock.step)

    def probe_rows(self, num: int | None = None) -> list[int]:
        """Rows of the fixed probe set for an unbiased progress curve: `probe_size` rows, or `num`."""
        held_out = np.flatnonzero(self.stats.status == HELD_OUT)
        if num is None and len(held_out):
            return [int(row) for row in held_out]
        return probe_rows(self.keys.to_list(), self.config.probe_size if num is None else num, self.config.seed)

    def save(self, folder: Path) -> None:
        """Write the state into `folder`, each file atomically, `curriculum.json` last."""
        header = {"binding": self.binding, "config": self._settings(), "clock": asdict(self.clock)}
        header["forecast"] = self.forecaster.to_json()
        state.write(folder, header, self.keys, self.stats, self.history, self.answers)

    @classmethod
    def load(
        cls,
        folder: Path,
        problems: pl.DataFrame,
        config: CurriculumConfig,
        binding: Mapping[str, str],
        *,
        adopt_dataset: bool = False,
    ) -> Self:
        """Load the curriculum saved into `folder`; it continues exactly.

        Raises `UserError` naming what differs: a setting, the model, the sampling, the dataset. With `adopt_dataset`
        the dataset may differ and is matched by key: known problems keep their statistics, new ones join, and the
        event `adopted` lists the missing ones.
        """
        state.check_keys(problems)
        saved = state.read(folder)
        free = frozenset({"dataset"} if adopt_dataset else ())
        state.refuse_mismatch(saved, json.loads(config.model_dump_json()), binding, free)
        if not adopt_dataset and not saved.keys.equals(problems["key"]):
            raise UserError(
                f"{folder}: the dataset's problems or their order changed; --adopt-dataset maps them by key"
            )
        made = cls(problems, saved.stats, saved.forecaster, config, binding)
        made.clock, made.history, made.answers = Clock.from_json(saved.clock), saved.history, saved.answers
        is_other = not saved.keys.equals(problems["key"])
        if is_other or saved.forecaster.population.names != group_names(problems, config):
            made.stats, made.forecaster, moved = by_key(saved, problems, config)
        if is_other:
            made.history.move_rows(moved)
            made.answers = saved.answers.moved(moved)
            made._event("adopted", **changes(saved.keys, made.keys))
        return made

    @classmethod
    def continue_from(
        cls, run: Path, problems: pl.DataFrame, config: CurriculumConfig, binding: Mapping[str, str]
    ) -> Self:
        """Start a new run with the statistics and pools of an earlier `run` or checkpoint, matched by key.

        Settings, model and dataset may differ; other bindings, such as the sampling, may not. Steps restart at 0: a
        re-check due in 30 steps stays due in 30 steps. The earlier visits stay with the earlier run.
        """
        saved = state.read(state.newest(run))
        state.refuse_mismatch(saved, saved.config, binding, frozenset({"dataset", "model"}))
        state.check_keys(problems)
        stats, forecaster, _ = by_key(saved, problems, config, saved.clock["step"])
        made = cls(problems, stats, forecaster, config, binding)
        begin_again(made.stats, saved, config)
        made._hold_out(problems)
        # draw numbers continue: no random number is used twice
        made.clock = Clock(draw_number=saved.clock["draw_number"], group_size=saved.clock["group_size"])
        made._event("continued", **changes(saved.keys, made.keys))
        return made

    def _hold_out(self, problems: pl.DataFrame) -> None:
        """Set aside what is not trained on: the probe set and the canaries."""
        num = self.config.probe_size
        if self.config.probe_held_out and num >= len(self.stats):
            raise UserError(f"curriculum.probe_size {num} holds out all {len(self.stats)} problems; make it smaller")
        if self.config.probe_held_out:
            self.stats.status[self.probe_rows(num)] = HELD_OUT
        set_aside(problems, self.stats, self.config)

    def _canaries_due(self, num: int, exclude: Collection[int]) -> Ints:
        """The canaries of the next batch of `num`."""
        if not self.config.canaries:
            return np.empty(0, np.int64)
        rows = np.flatnonzero(self.stats.status == CANARY)
        return due(self.clock.canaries, rows[~np.isin(rows, list(exclude))], num, self.config)

    def _without_canaries(self, visits: Sequence[Visit]) -> list[Visit]:
        return [visit for visit in visits if not self.is_canary(visit.row)]

    def _watch(self, visits: Sequence[Visit]) -> None:
        """Count the visits of canaries, with an event for each success and for the alarm."""
        events, figures = learn(self.clock.canaries, visits, self.clock.step, self.config)
        for event, row, detail in events:
            self._event(event, **({} if row is None else {"key": self.keys[row]}), detail=detail)
        self._metrics |= figures

    def _settings(self) -> dict[str, Any]:
        settings: dict[str, Any] = json.loads(self.config.model_dump_json())
        return settings

    def _generator(self) -> np.random.Generator:
        """A new generator from (seed, draw number): it has no state that a resume could lose."""
        name = f"{self.config.seed}:{self.clock.draw_number}"
        return np.random.default_rng(int.from_bytes(hashlib.sha256(name.encode()).digest()[:16], "big"))

    def _count(self, slots: Slots) -> None:
        clock = self.clock
        clock.draw_number += 1
        clock.num_slots += len(slots.rows)
        clock.num_rechecks += slots.num_rechecks
        clock.num_floor += slots.num_floor
        clock.num_fill += slots.num_fill
        clock.num_repeats += slots.num_repeats
        figures = (clock.draw_number, slots.num_rechecks, slots.num_floor, slots.num_fill, slots.num_repeats)
        self._metrics |= dict(zip(DRAWN, map(float, figures), strict=True))

    def _learn(self, batch: Batch, suspects: Mapping[int, str]) -> list[Move]:
        self.forecaster.learn(self.stats, batch, self.clock.step, self.config)
        moves = park_suspects(self.stats, suspects, apply_moves(self.stats, batch, self.clock.step, self.config))
        rates, evidence = self.stats.mean_rate(batch.row), e_value(self.stats, batch.row)
        self.history.add_visits(batch, self.clock.draw_number, self.clock.step, rates, evidence)
        self.clock.group_size = int((batch.judged + batch.undecided).max())
        for move in moves:
            visit = int(self.stats.num_visits[move.row])
            part = {"part": self._parts.name(move.row)} if move.event == SUSPECTED else {}
            self._event(move.event, key=self.keys[move.row], visit=visit, detail=move.detail, **part)
        return moves

    def _leave_out(self, sign: Sign) -> None:
        """Quarantine all problems of a source; they return one by one, as re-checks judge them again."""
        num = quarantine(self.stats, self._sources.rows(sign.where), self.clock.step, self.config)
        self.clock.outages.pop(sign.where)
        self._event("left_out", where=sign.where, num_problems=num, detail=sign.detail)

    def _log_batch(self, figures: dict[str, float], moves: list[Move], parts: list[dict[str, Any]]) -> None:
        rates, (scale, shift) = shown_rates(self.forecast()), self.forecaster.mean_progress()
        moved = {f"events/{name}": float(sum(move.event == name for move in moves)) for name in EVENTS}
        # a figure that this batch lacks must not keep the previous batch's value
        drawn: dict[str, float] = {name: self._metrics[name] for name in DRAWN if name in self._metrics}
        self._metrics = {**drawn, **figures, **moved, "mean_rate": float(rates.mean())}
        self._metrics |= {"gain": shift, "polarisation": scale}
        self._metrics |= all_rates(parts)
        if self.config.suspect_alpha:
            self._metrics |= self.history.num_suspects(self._parts)
        line: dict[str, Any] = {"draw": self.clock.draw_number, "step": self.clock.step, **self.occupancy()}
        line |= {name: figures.get(name) for name in FIGURES}
        self.history.batches.append({**line, "rate_histogram": rate_histogram(rates), "parts": parts})

    def _event(self, event: str, **detail: Any) -> None:
        self.history.add_event(event, self.clock.draw_number, self.clock.step, **detail)
