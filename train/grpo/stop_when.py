"""Rules that end a run early: a decline or a plateau shown on benchmarks, or logged figures out of their bounds.

Decline and plateau are tests with a stated error rate. An evaluation gives each problem i of a benchmark a difference
d_i in [-1, 1] of success rates against an earlier evaluation. If the problems are independent draws of a population
whose mean difference is at least g, then prod_i (1 - l (d_i - g) / (1 + g)) has an expectation of at most 1 for every
l in (0, 1), and so has the mean over several l: an e-value (Waudby-Smith and Ramdas, "Estimating means of bounded
random variables by betting", 2024). With T tests in the run, each at alpha / T, the run ends wrongly with probability
at most alpha, however the tests depend on one another.
"""

from __future__ import annotations

import json
import math
from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any, Final

from transformers import TrainerCallback

from curate.artifacts.manifest import write_atomic
from train.environment import first_process_says, is_main_process
from train.grpo.tables import StopWhen
from train.runs.folder import ENDED, EVALUATIONS, LOG, RunFolder

BETS: Final = (0.05, 0.1, 0.2, 0.4, 0.8)
NO_SIGNAL: Final = "no_signal_above"
# logged figure of each bound; groups without a signal are those that are not mixed
BOUNDS: Final = {"entropy_below": "entropy", "length_below": "completions/mean_length", NO_SIGNAL: "groups/mixed"}


def e_value(differences: Sequence[float], at_least: float = 0.0) -> float:
    """Evidence against "the mean difference is at least `at_least`"; differences in [-1, 1], at_least in [0, 1)."""
    parts = [(difference - at_least) / (1 + at_least) for difference in differences]
    logs = [sum(math.log1p(-bet * part) for part in parts) for bet in BETS]
    highest = max(logs)
    return math.exp(min(highest, 700.0)) * sum(math.exp(one - highest) for one in logs) / len(logs)


class StopRules(TrainerCallback):  # type: ignore[misc]  # transformers has no types
    """The rules of a run; says when one ends it, and writes `ended.json` with the step and the reason.

    num_tests: tests of a kind in the whole run: evaluations after the first, times benchmarks.
    steps_per_draw: a run ends after a multiple of it, since a generation is in no checkpoint.
    """

    def __init__(self, rules: StopWhen, run: RunFolder, *, num_tests: int, steps_per_draw: int) -> None:
        self._rules, self._run = rules, run
        self._num_tests, self._steps_per_draw = max(1, num_tests), steps_per_draw
        self._windows = {name: deque[float](maxlen=rules.window) for name in BOUNDS}
        self._reason: str | None = None

    def on_train_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Read the figures logged before a resume."""
        path = self._run.folder / LOG
        for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else []:
            self._add(json.loads(line))

    def on_log(self, args: Any, state: Any, control: Any, logs: Mapping[str, Any], **_: Any) -> None:
        """Hold the bounds against the mean of the last logged figures."""
        self._add(logs)
        self._reason = self._reason or self._out_of_bounds()

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """End the run, with a checkpoint, after a log line that broke a bound."""
        if self._reason is not None and state.global_step % self._steps_per_draw == 0:
            self.end(state, control, self._reason)

    def after_evaluation(self, step: int) -> str | None:
        """The reason to end the run, by the evaluations up to this step; None to go on."""
        tests = {"decline": self._rules.decline, "plateau": self._rules.plateau}
        for name, by_step in self._evaluations(step).items():
            steps = sorted(by_step)
            if len(steps) < 2 or steps[-1] != step:
                continue
            for kind, alpha in tests.items():
                if alpha is not None and (reason := self._tested(kind, alpha, name, by_step)) is not None:
                    return reason
        return None

    def end(self, state: Any, control: Any, reason: str) -> None:
        """Stop training with a checkpoint of this step, and say why."""
        step = int(state.global_step)
        if is_main_process() and step < state.max_steps:
            told = {"step": step, "reason": reason}
            write_atomic(self._run.folder / ENDED, (json.dumps(told, indent=1) + "\n").encode())
            print(f"training ends early, at step {step}: {reason}", flush=True)
        control.should_training_stop = control.should_save = True

    def _tested(self, kind: str, alpha: float, name: str, by_step: Mapping[int, Mapping[str, Any]]) -> str | None:
        steps = sorted(by_step)
        behind = 1 + self._rules.plateau_evals
        if kind == "plateau" and len(steps) < behind:
            return None
        before = steps[0] if kind == "decline" else steps[-behind]
        gain = 0.0 if kind == "decline" else self._rules.plateau_gain
        differences = _differences(by_step[before], by_step[steps[-1]])
        if not differences or e_value(differences, gain) < self._num_tests / alpha:
            return None
        mean = sum(differences) / len(differences)
        said = "is below" if kind == "decline" else f"gained less than {gain:g} since"
        return f"{name} {said} step {before} ({mean:+.3f} on {len(differences)} problems, error rate {alpha:g})"

    def _evaluations(self, step: int) -> dict[str, dict[int, dict[str, Any]]]:
        path = self._run.folder / EVALUATIONS
        found: dict[str, dict[int, dict[str, Any]]] = {}
        for text in path.read_text(encoding="utf-8").splitlines() if path.exists() else []:
            line = json.loads(text)
            if line["step"] <= step:
                found.setdefault(line["benchmark"], {})[line["step"]] = line
        return found

    def _add(self, logs: Mapping[str, Any]) -> None:
        for name, figure in BOUNDS.items():
            if logs.get(figure) is not None:
                self._windows[name].append(float(logs[figure]))

    def _out_of_bounds(self) -> str | None:
        reasons = [reason for name in BOUNDS if (reason := self._beyond(name)) is not None]
        return first_process_says(reasons[0] if reasons else None)

    def _beyond(self, name: str) -> str | None:
        bound, window = getattr(self._rules, name), self._windows[name]
        if bound is None or len(window) < self._rules.window:
            return None
        mean, lines = sum(window) / len(window), f"over the last {len(window)} log lines"
        if name == NO_SIGNAL:
            lost = 1 - mean
            return f"groups without a signal are {lost:.3g}, above {bound:g}, {lines}" if lost > bound else None
        return f"{BOUNDS[name]} is {mean:.3g}, below {bound:g}, {lines}" if mean < bound else None


def _differences(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[float]:
    """Differences of success rates of the problems that both evaluations judged."""
    return [
        now["num_correct"][key] / now["num_judged"][key] - before["num_correct"][key] / before["num_judged"][key]
        for key in now["num_correct"]
        if now["num_judged"][key] and before["num_judged"].get(key)
    ]
