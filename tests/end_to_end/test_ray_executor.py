"""Difficulty on a Ray cluster of two nodes, one of which is killed at work: nothing lost, nothing doubled."""

import threading
import time
from pathlib import Path
from typing import Any

import pytest
from support.apart import apart
from support.model_pool import pool, script, sums

from curate.artifacts.artifact import Artifact, open_artifact
from curate.artifacts.samples import LOG
from curate.difficulty.stage import DifficultyConfig, stage
from curate.errors import UserError
from curate.runner.run import run_stage

pytestmark = [pytest.mark.heavy, pytest.mark.timeout(300)]
# a node that is gone is noticed in seconds
HEALTH = {"health_check_initial_delay_ms": 0, "health_check_period_ms": 500, "health_check_failure_threshold": 4}
SLOW = [{"text": text, "delay_s": 0.05} for text in ("\\boxed{7}", "\\boxed{8}")]


def two_nodes() -> Any:
    """A cluster with room for one actor on each of its nodes."""
    import ray
    from ray.cluster_utils import Cluster

    made = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "_system_config": HEALTH})
    made.second = made.add_node(num_cpus=1)
    ray.init(address=made.address, log_to_driver=False, logging_level="ERROR")
    return made


def measure(tmp_path: Path, out: str, executor: str, answers: Any = SLOW) -> Artifact:
    made = tmp_path / "pool"
    source = open_artifact(made) if made.exists() else pool(made, sums(120))
    config = DifficultyConfig(script=script(tmp_path / "s.json", {"*": answers}), replicas=2, max_in_flight=8)
    run_stage(stage(config), source, tmp_path / out, executor=executor)
    return open_artifact(tmp_path / out)


def fail_on_a_node(tmp_path: Path) -> None:
    two_nodes()
    try:
        measure(tmp_path, "out", "ray", [])
    except UserError as mistake:
        (tmp_path / "mistake").write_text(str(mistake))


def lose_a_node(tmp_path: Path) -> None:
    cluster = two_nodes()

    def kill_once_samples_arrive() -> None:
        log = tmp_path / "there" / LOG
        while not (log.exists() and log.stat().st_size):
            time.sleep(0.01)
        cluster.remove_node(cluster.second, allow_graceful=False)
        (tmp_path / "killed").touch()

    threading.Thread(target=kill_once_samples_arrive, daemon=True).start()
    measure(tmp_path, "there", "ray")


def test_a_mistake_on_a_node_is_one_line_here(tmp_path: Path) -> None:
    pytest.importorskip("ray", reason="Ray is not installed")
    apart(fail_on_a_node, tmp_path, timeout_s=120)
    said = (tmp_path / "mistake").read_text()
    assert "has no answer for" in said
    assert "\n" not in said


def test_a_node_killed_at_work_loses_and_doubles_nothing(tmp_path: Path) -> None:
    pytest.importorskip("ray", reason="Ray is not installed")
    here = measure(tmp_path, "here", "local")
    apart(lose_a_node, tmp_path, timeout_s=180)
    there = open_artifact(tmp_path / "there")
    assert (tmp_path / "killed").exists()
    assert there.manifest == here.manifest
    assert there.read("samples").equals(here.read("samples"))
