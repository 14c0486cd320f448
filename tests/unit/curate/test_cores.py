"""The number of things started together: as many as the process may use, fewer in one of many actors."""

import os
import subprocess
import sys

import pytest

from curate.cpus import VARIABLE, usable_cores

ONE_OF_MANY = """
from curate.runner.ray import _Actor
from curate.verify.symbolic.pool import WORKERS, default_workers
from curate.cpus import usable_cores
_Actor(None, False, {one_of_many})
print(usable_cores(), default_workers(), WORKERS.get().slots._value)
"""


@pytest.mark.parametrize(("stated", "number"), [("3", 3), ("0", None), ("", None), ("many", None), ("-2", None)])
def test_the_variable_overrides_the_cores_that_the_system_allows(
    stated: str, number: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, stated)
    assert usable_cores() == (number or len(os.sched_getaffinity(0)))


def test_a_process_that_may_run_on_one_processor_starts_one_at_a_time() -> None:
    one = "import os; os.sched_setaffinity(0, [min(os.sched_getaffinity(0))])\n"
    assert printed(one + ONE_OF_MANY.format(one_of_many=False)) == "1 1 1"


def test_an_actor_on_every_core_starts_one_at_a_time_by_default() -> None:
    assert printed(ONE_OF_MANY.format(one_of_many=True)) == "1 1 1"
    assert printed(ONE_OF_MANY.format(one_of_many=True), "5") == "5 5 5"


def printed(program: str, stated: str = "") -> str:
    environment = {name: value for name, value in os.environ.items() if name != VARIABLE}
    environment |= {VARIABLE: stated} if stated else {}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()
