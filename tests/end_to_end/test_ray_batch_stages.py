"""The batch stages that need no model, on a Ray cluster: the same rows, decisions and bytes as in this process."""

import os
import socket
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from support.apart import apart
from support.small_run import problems, write_pool

from curate.artifacts.artifact import open_artifact
from curate.decontaminate import stage as decontaminate
from curate.dedup import stage as dedup
from curate.errors import UserError
from curate.multiple_choice import stage as multiple_choice
from curate.runner.run import run_stage
from curate.runner.stage import Stage
from curate.verifiable import stage as verifiable

pytestmark = [pytest.mark.heavy, pytest.mark.timeout(300)]
LEAK = "How many of the 24 lamps in the long hall are lit when every third lamp is broken and 5 others are off?"
BATCH_ROWS = 20
PROMPTS = [
    LEAK,
    LEAK.replace("24", "36"),
    f"Problem: {LEAK}",
    "Prove that there are infinitely many primes.",
    "What is 3 + 4? (A) 6 (B) 7 (C) 8",
    "True or false: 7 is prime.",
    *(f"What is {n} times {n + 1}?" for n in range(34)),
]


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("bench") / "bench.jsonl"
    pl.DataFrame({"problem": [LEAK], "answer": ["11"]}).write_ndjson(path)
    return path


def stages(bench: Path) -> dict[str, Callable[[], Stage]]:
    against = decontaminate.DecontaminateConfig(against=(str(bench),))
    return {
        "multiple-choice": lambda: multiple_choice.stage(multiple_choice.MultipleChoiceConfig()),
        "verifiable": lambda: verifiable.stage(verifiable.VerifiableConfig()),
        "decontaminate": lambda: decontaminate.stage(against),
    }


def run_on_a_cluster(folder: Path, bench: Path) -> None:
    """Each stage on one node with room for two actors, in batches that no other batch waits for."""
    import ray
    from ray.cluster_utils import Cluster

    made = Cluster(initialize_head=True, head_node_args={"num_cpus": 2})
    ray.init(address=made.address, log_to_driver=False, logging_level="ERROR")
    for name, make in stages(bench).items():
        run_stage(replace(make(), batch_rows=BATCH_ROWS), open_artifact(folder / "pool"), folder / name, executor="ray")


def run_beside_the_address_of_a_dead_cluster(folder: Path) -> None:
    """As a user without a cluster of their own, on a machine where one was killed."""
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{closed.getsockname()[1]}"
    os.environ["RAY_TMPDIR"] = str(folder / "tmp")
    note = folder / "tmp" / "ray" / "ray_current_cluster"
    note.parent.mkdir(parents=True)
    note.write_text(address)
    stage = multiple_choice.stage(multiple_choice.MultipleChoiceConfig())
    run_stage(stage, open_artifact(folder / "pool"), folder / "alone", executor="ray")


@pytest.fixture(scope="module")
def there(bench: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the pool and what a cluster made of it."""
    pytest.importorskip("ray", reason="Ray is not installed")
    folder = tmp_path_factory.mktemp("there")
    write_pool(folder / "pool", problems(PROMPTS))
    apart(run_on_a_cluster, folder, bench, timeout_s=200)
    return folder


@pytest.mark.parametrize("name", ["multiple-choice", "verifiable", "decontaminate"])
def test_a_batch_stage_makes_the_same_artifact_on_a_cluster(
    there: Path, bench: Path, tmp_path: Path, name: str
) -> None:
    stage = replace(stages(bench)[name](), batch_rows=BATCH_ROWS)
    run_stage(stage, open_artifact(there / "pool"), tmp_path / name)
    here, remote = open_artifact(tmp_path / name), open_artifact(there / name)
    assert remote.manifest == here.manifest
    assert 0 < here.manifest.num_dropped < len(PROMPTS)
    assert remote.read("dropped").equals(here.read("dropped"))


def test_the_address_that_a_dead_cluster_left_is_passed_over(there: Path) -> None:
    with tempfile.TemporaryDirectory() as short:  # Ray's sockets take no long path
        write_pool(Path(short) / "pool", problems(PROMPTS))
        apart(run_beside_the_address_of_a_dead_cluster, Path(short), timeout_s=100)
        assert open_artifact(Path(short) / "alone").manifest.num_dropped > 0


@pytest.mark.parametrize("address", ["127.0.0.1:9", "nonsense", "ray://127.0.0.1:9"])
def test_a_cluster_that_does_not_answer_is_one_line_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    pytest.importorskip("ray", reason="Ray is not installed")
    monkeypatch.setenv("RAY_ADDRESS", address)
    write_pool(tmp_path / "pool", problems(PROMPTS))
    stage = multiple_choice.stage(multiple_choice.MultipleChoiceConfig())
    with pytest.raises(UserError, match=f"RAY_ADDRESS is {address}; no cluster answers there"):
        run_stage(stage, open_artifact(tmp_path / "pool"), tmp_path / "out", executor="ray")


def test_an_executor_that_does_not_exist_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    write_pool(tmp_path / "pool", problems(PROMPTS))
    stage = multiple_choice.stage(multiple_choice.MultipleChoiceConfig())
    with pytest.raises(UserError, match="--executor is 'rai'; use local or ray"):
        run_stage(stage, open_artifact(tmp_path / "pool"), tmp_path / "out", executor="rai")
    assert not (tmp_path / "out").exists()


def test_a_stage_that_compares_problems_says_that_it_runs_here(tmp_path: Path) -> None:
    write_pool(tmp_path / "pool", problems(PROMPTS))
    with pytest.raises(UserError, match="dedup compares problems with one another and runs in this process"):
        run_stage(dedup.stage(dedup.DedupConfig()), open_artifact(tmp_path / "pool"), tmp_path / "out", executor="ray")
    assert not (tmp_path / "out").exists()
