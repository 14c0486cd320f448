"""The batch stages that need no model, on a Ray cluster: the same rows, decisions and bytes as in this process."""

from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from apart import apart
from small_run import problems, write_pool

from curate import decontaminate, dedup, multiple_choice, verifiable
from curate.artifact import open_artifact
from curate.errors import UserError
from curate.stage import Stage, run_stage

pytestmark = [pytest.mark.heavy, pytest.mark.timeout(300)]
LEAK = "How many of the 24 lamps in the long hall are lit when every third lamp is broken and 5 others are off?"
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
    """Each stage on one node with room for two actors."""
    import ray
    from ray.cluster_utils import Cluster

    made = Cluster(initialize_head=True, head_node_args={"num_cpus": 2})
    ray.init(address=made.address, log_to_driver=False, logging_level="ERROR")
    for name, make in stages(bench).items():
        run_stage(make(), open_artifact(folder / "pool"), folder / name, executor="ray")


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
    run_stage(stages(bench)[name](), open_artifact(there / "pool"), tmp_path / name)
    here, remote = open_artifact(tmp_path / name), open_artifact(there / name)
    assert remote.manifest == here.manifest
    assert 0 < here.manifest.num_dropped < len(PROMPTS)
    assert remote.read("dropped").equals(here.read("dropped"))


def test_a_stage_that_compares_problems_says_that_it_runs_here(tmp_path: Path) -> None:
    write_pool(tmp_path / "pool", problems(PROMPTS))
    with pytest.raises(UserError, match="dedup compares problems with one another and runs in this process"):
        run_stage(dedup.stage(dedup.DedupConfig()), open_artifact(tmp_path / "pool"), tmp_path / "out", executor="ray")
    assert not (tmp_path / "out").exists()
