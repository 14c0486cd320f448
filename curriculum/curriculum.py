"""The curriculum: selects the problems of each generation batch and learns from their outcomes.

Every rank holds the same curriculum and makes the same draws: a draw depends only on the seed, the draw number and the
observations so far. A curriculum that was saved, loaded and continued draws the same as one that never stopped.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final, Self

import numpy as np
import polars as pl

from curate.errors import UserError
from curriculum.config import CurriculumConfig
from curriculum.draw.mix import next_mix, parts_of
from curriculum.draw.probe import probe_rows
from curriculum.draw.slots import Order, Slots, fill_slots
from curriculum.forecast.figures import batch_figures, rate_histogram, shown_rates
from curriculum.forecast.forecast import Forecast
from curriculum.forecast.forecaster import Forecaster
from curriculum.forecast.groups import group_names
from curriculum.forecast.prior import new_stats
from curriculum.pools.outage import Sign, believed, find_outages, in_a_row, lasting, of_all
from curriculum.pools.retirement import e_value
from curriculum.pools.transitions import EVENTS, Move, apply_moves, quarantine
from curriculum.state import files as state
from curriculum.state.handover import begin_again, by_key, changes
from curriculum.state.history import FIGURES, History
from curriculum.statistics.clock import Clock
from curriculum.statistics.parts import by_part
from curriculum.statistics.parts import rates as rates_of
from curriculum.statistics.stats import ACTIVE, HELD_OUT, STATUSES, Stats
from curriculum.statistics.visits import Batch, Ints, Visit, as_batches

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
        self._parts = parts_of(problems, config)
        self._sources = problems["source"] if "source" in problems.columns else None
        self._metrics: dict[str, float] = {}

    @classmethod
    def create(cls, problems: pl.DataFrame, config: CurriculumConfig, binding: Mapping[str, str]) -> Self:
        """Create a curriculum over `problems`; measured counts, where present, are the prior.

        binding: what the statistics depend on, by name: dataset digest, model, sampling parameters.
        """
        state.check_keys(problems)
        stats, names = new_stats(problems, config), group_names(problems, config)
        made = cls(problems, stats, Forecaster.fit(names, stats), config, binding)
        made._hold_out()
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
        mix, self.clock.mix_carried = next_mix(self._parts, self.forecast(), self.config, num_problems, self.clock)
        order = Order(num_problems, self._max_rechecks(num_problems), frozenset(exclude), mix)
        slots = fill_slots(self.forecast(), order, self.config, self._generator())
        self._count(slots)
        rows: list[int] = slots.rows.tolist()
        return rows

    def observe(self, visits: Sequence[Visit], *, step: int, forecast_of: Sequence[Visit] | None = None) -> None:
        """Update the curriculum with the outcomes of a batch at training step `step`.

        forecast_of: the visits of the batch that the forecast is held against, where which problems got more
        completions depended on their first ones; default: all.
        Raises `Outage` after `outage_limit` outages in a row. Sources whose verdicts stay undecided are left out.
        """
        visits = list(visits)
        self._check(visits)
        self.clock.step = step
        judged = visits if forecast_of is None else list(forecast_of)
        figures, sources = batch_figures(self.forecast(), judged), self._sources_of(visits)
        down = find_outages(self.stats, visits, sources, self.clock.doubts, self.config)
        down = of_all(down, self._trained_sources())
        trusted = believed(visits, sources, down)
        for sign in down:
            self._event("outage", where=sign.where, detail=sign.detail)
        moves = [move for batch in as_batches(trusted) for move in self._learn(batch)]
        self._log_batch(
            {**figures, "disbelieved": float(len(visits) - len(trusted))}, moves, by_part(self._parts, visits)
        )
        self.clock.outages = in_a_row(self.clock.outages, down, sources)
        for sign in lasting(self.clock.outages, down, step, self.config.outage_limit):
            self._leave_out(sign)

    def notices(self) -> list[str]:
        """Outages of the last observed batch and the sources left out then, one line each."""
        now = [event for event in self.history.events if event["draw"] == self.clock.draw_number]
        return [
            *(f"outage of {e['where']}, visits discarded: {e['detail']}" for e in now if e["event"] == "outage"),
            *(
                f"source {e['where']} is left out, {e['num_problems']} problems quarantined: {e['detail']}"
                for e in now
                if e["event"] == "left_out"
            ),
        ]

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
        state.write(folder, header, self.keys, self.stats, self.history)

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
        made.clock, made.history = Clock(**saved.clock), saved.history
        is_other = not saved.keys.equals(problems["key"])
        if is_other or saved.forecaster.population.names != group_names(problems, config):
            made.stats, made.forecaster, moved = by_key(saved, problems, config)
        if is_other:
            made.history.move_rows(moved)
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
        made._hold_out()
        # draw numbers continue: no random number is used twice
        made.clock = Clock(draw_number=saved.clock["draw_number"], group_size=saved.clock["group_size"])
        made._event("continued", **changes(saved.keys, made.keys))
        return made

    def _hold_out(self) -> None:
        num = self.config.probe_size
        if self.config.probe_held_out and num >= len(self.stats):
            raise UserError(f"curriculum.probe_size {num} holds out all {len(self.stats)} problems; make it smaller")
        if self.config.probe_held_out:
            self.stats.status[self.probe_rows(num)] = HELD_OUT

    def _settings(self) -> dict[str, Any]:
        settings: dict[str, Any] = json.loads(self.config.model_dump_json())
        return settings

    def _generator(self) -> np.random.Generator:
        """A new generator from (seed, draw number): it has no state that a resume could lose."""
        name = f"{self.config.seed}:{self.clock.draw_number}"
        return np.random.default_rng(int.from_bytes(hashlib.sha256(name.encode()).digest()[:16], "big"))

    def _max_rechecks(self, num: int) -> int:
        """Maximum re-check slots of this batch that keep their share of all slots within the bound."""
        share, clock = self.config.recheck_share, self.clock
        allowed = int(share * (clock.num_slots + num)) - clock.num_rechecks
        return max(0, min(allowed, math.ceil(share * num)))

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

    def _check(self, visits: list[Visit]) -> None:
        for visit in visits:
            counts = (visit.num_correct, visit.num_wrong, visit.num_undecided)
            if not 0 <= visit.row < len(self.stats) or min(counts) < 0:
                raise ValueError(f"{visit}: row outside 0 to {len(self.stats) - 1}, or a negative count")

    def _learn(self, batch: Batch) -> list[Move]:
        self.forecaster.learn(self.stats, batch, self.clock.step, self.config)
        moves = apply_moves(self.stats, batch, self.clock.step, self.config)
        rates, evidence = self.stats.mean_rate(batch.row), e_value(self.stats, batch.row)
        self.history.add_visits(batch, self.clock.draw_number, self.clock.step, rates, evidence)
        self.clock.group_size = int((batch.judged + batch.undecided).max())
        for move in moves:
            visit = int(self.stats.num_visits[move.row])
            self._event(move.event, key=self.keys[move.row], visit=visit, detail=move.detail)
        return moves

    def _leave_out(self, sign: Sign) -> None:
        """Quarantine all problems of a source; they return one by one, as re-checks judge them again."""
        num = quarantine(self.stats, self._rows_of(sign.where), self.clock.step, self.config)
        self.clock.outages.pop(sign.where)
        self._event("left_out", where=sign.where, num_problems=num, detail=sign.detail)

    def _rows_of(self, source: str) -> Ints:
        if self._sources is None:
            return np.arange(len(self.stats))
        return np.flatnonzero((self._sources.fill_null("") == source).to_numpy())

    def _trained_sources(self) -> set[str]:
        """Sources with an active problem."""
        if self._sources is None:
            return {""}
        return set(self._sources.fill_null("").filter(pl.Series(self.stats.status == ACTIVE)).unique())

    def _sources_of(self, visits: list[Visit]) -> list[str]:
        if self._sources is None:
            return [""] * len(visits)
        return [source or "" for source in self._sources[[visit.row for visit in visits]].to_list()]

    def _log_batch(self, figures: dict[str, float], moves: list[Move], parts: list[dict[str, Any]]) -> None:
        rates, (scale, shift) = shown_rates(self.forecast()), self.forecaster.mean_progress()
        moved = {f"events/{name}": float(sum(move.event == name for move in moves)) for name in EVENTS}
        # a figure that this batch lacks must not keep the previous batch's value
        drawn: dict[str, float] = {name: self._metrics[name] for name in DRAWN if name in self._metrics}
        self._metrics = {**drawn, **figures, **moved, "mean_rate": float(rates.mean())}
        self._metrics |= {"gain": shift, "polarisation": scale}
        for counts in parts:
            self._metrics |= {f"by_part/{counts['part']}/{name}": value for name, value in rates_of(counts).items()}
        line: dict[str, Any] = {"draw": self.clock.draw_number, "step": self.clock.step, **self.occupancy()}
        line |= {name: figures.get(name) for name in FIGURES}
        self.history.batches.append({**line, "rate_histogram": rate_histogram(rates), "parts": parts})

    def _event(self, event: str, **detail: Any) -> None:
        self.history.add_event(event, self.clock.draw_number, self.clock.step, **detail)
