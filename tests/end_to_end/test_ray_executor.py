"""Difficulty on a Ray cluster of two nodes, one of which is killed at work: nothing lost, nothing doubled."""

import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from model_pool import pool, script, sums

from curate.artifact import Artifact, open_artifact
from curate.difficulty import DifficultyConfig, stage
from curate.errors import UserError
from curate.samples import LOG
from curate.stage import run_stage

pytestmark = [pytest.mark.heavy, pytest.mark.timeout(300), pytest.mark.filterwarnings("ignore::DeprecationWarning")]
# a node that is gone is noticed in seconds
HEALTH = {"health_check_initial_delay_ms": 0, "health_check_period_ms": 500, "health_check_failure_threshold": 4}
SLOW = [{"text": text, "delay_s": 0.05} for text in ("\\boxed{7}", "\\boxed{8}")]


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """Two nodes with room for one actor each."""
    ray = pytest.importorskip("ray", reason="Ray is not installed")
    from ray.cluster_utils import Cluster

    made = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "_system_config": HEALTH})
    made.second = made.add_node(num_cpus=1)
    ray.init(address=made.address, log_to_driver=False, logging_level="ERROR")
    yield made
    ray.shutdown()
    made.shutdown()


def measure(tmp_path: Path, out: str, executor: str, answers: Any = SLOW) -> Artifact:
    made = tmp_path / "pool"
    source = open_artifact(made) if made.exists() else pool(made, sums(120))
    config = DifficultyConfig(script=script(tmp_path / "s.json", {"*": answers}), replicas=2, max_in_flight=8)
    run_stage(stage(config), source, tmp_path / out, executor=executor)
    return open_artifact(tmp_path / out)


def test_a_mistake_on_a_node_is_the_same_one_line_as_here(cluster: Any, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="has no answer for") as caught:
        measure(tmp_path, "out", "ray", [])
    assert "\n" not in str(caught.value)


def test_a_node_killed_at_work_loses_and_doubles_nothing(cluster: Any, tmp_path: Path) -> None:
    here = measure(tmp_path, "here", "local")

    def kill_once_samples_arrive() -> None:
        log = tmp_path / "there" / LOG
        while not (log.exists() and log.stat().st_size):
            time.sleep(0.01)
        cluster.remove_node(cluster.second, allow_graceful=False)

    killer = threading.Thread(target=kill_once_samples_arrive)
    killer.start()
    there = measure(tmp_path, "there", "ray")
    killer.join()
    assert there.manifest == here.manifest
    assert there.read("samples").equals(here.read("samples"))
