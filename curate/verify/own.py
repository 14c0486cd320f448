"""Verifiers that are functions: of a user's own kinds (`--verifier sql=mine.py:judge`), and of the kinds with a rule.

A function is called in a killable worker, with the arguments of these that it takes: `completion` (the whole text),
`response` (the text after the reasoning), `ground_truth`, `question`, `tests` and `source`. It returns `correct`,
`wrong` or `undecided`, or True, False or None.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any, Final

from curate.own_code import load, plain
from curate.process_wide import ProcessWide
from curate.verify.policy import OPTION, Policy
from curate.verify.rules.table import RULES
from curate.verify.symbolic.pool import Workers, default_workers
from curate.verify.thinking import after, split
from curate.verify.verdict import Item, Verdict, VerdictName

ARGUMENTS: Final = ("completion", "response", "ground_truth", "question", "tests", "source")
_BY_VALUE: Final[dict[object, tuple[VerdictName, str]]] = {
    True: ("correct", "accepted"), False: ("wrong", "different"), None: ("undecided", "no_verdict"),
}  # fmt: skip
VERDICTS: Final = _BY_VALUE | {pair[0]: pair for pair in _BY_VALUE.values()}
OVERRUNS: Final = ("timeout", "memory", "worker_crash")


class Verifiers:
    """The workers of each function, and the functions whose errors were reported."""

    def __init__(self) -> None:
        self._workers: dict[str, Workers] = {}
        self._reported: set[str] = set()

    def of(self, name: str) -> Workers:
        """The workers that call a function."""
        return self._workers.setdefault(name, Workers(plain(name)))

    def report(self, name: str, error: str) -> None:
        """Write the first error of a function on stderr; its completions are undecided."""
        if name not in self._reported:
            self._reported.add(name)
            sys.stderr.write(f"warning: verifier {plain(name)}: {error}; such completions are undecided\n")

    def stop(self) -> None:
        """Stop all idle workers."""
        for workers in self._workers.values():
            workers.stop_idle()


VERIFIERS: Final = ProcessWide(Verifiers, Verifiers.stop)


def judge(items: Sequence[Item], policy: Policy, workers: int | None = None) -> list[Verdict]:
    """Verdicts of functions on items of their kinds, in order. Never raises on what a function does."""
    with ThreadPoolExecutor(max_workers=min(workers or default_workers(), len(items))) as threads:
        return list(threads.map(lambda item: _judge(item, policy), items))


def _judge(item: Item, policy: Policy) -> Verdict:
    rule = RULES.get(item.kind)
    if rule is not None and split(item.completion).is_open:
        # reasoning that was cut could meet a rule
        return Verdict("wrong", "truncated", "extract", None, 0.0)
    name, stage = (rule.function, "rules") if rule is not None else (policy.own_kinds[item.kind], "own")
    verifiers = VERIFIERS.get()
    given = {argument: _value(item, argument) for argument in _taken(name)}
    reply, ms = verifiers.of(name).ask({"given": given}, policy)
    if reply in OVERRUNS:
        return Verdict("undecided", str(reply), stage, None, ms)
    error = reply.get("error") if isinstance(reply, dict) else "gave no reply"
    value = reply.get("value") if isinstance(reply, dict) else None
    if error is None and not (isinstance(value, str | bool | None) and value in VERDICTS):
        error = f"returned {value!r}"[:100] + "; return correct, wrong or undecided"
    if error is not None:
        verifiers.report(name, error)
        return Verdict("undecided", "verifier_error", stage, None, ms)
    verdict, reason = VERDICTS[value]
    return Verdict(verdict, reason, stage, None, ms)


def _value(item: Item, argument: str) -> Any:  # Any: text, or None
    return after(item.completion) if argument == "response" else getattr(item, argument)


@cache
def _taken(name: str) -> tuple[str, ...]:
    """The arguments that a function takes: those of `ARGUMENTS` that it names, or all of them."""
    parameters = inspect.signature(load(name, OPTION)).parameters.values()
    takes_all = any(parameter.kind is inspect.Parameter.VAR_KEYWORD for parameter in parameters)
    named = {parameter.name for parameter in parameters}
    return tuple(argument for argument in ARGUMENTS if takes_all or argument in named)
