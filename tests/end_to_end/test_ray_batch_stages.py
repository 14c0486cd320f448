"""The batch stages that need no model, on a Ray cluster: the same rows, decisions and bytes as in this process."""

from collections.abc import Callable, Iterator
from pathlib import Path

import polars as pl
import pytest
from small_run import problems, write_pool

from curate import decontaminate, dedup, multiple_choice, verifiable
from curate.artifact import open_artifact
from curate.errors import UserError
from curate.stage import Stage, run_stage

pytestmark = [pytest.mark.heavy, pytest.mark.timeout(300), pytest.mark.filterwarnings("ignore::DeprecationWarning")]
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
def cluster() -> Iterator[None]:
    """One node with room for two actors."""
    ray = pytest.importorskip("ray", reason="Ray is not installed")
    from ray.cluster_utils import Cluster

    made = Cluster(initialize_head=True, head_node_args={"num_cpus": 2})
    ray.init(address=made.address, log_to_driver=False, logging_level="ERROR")
    yield
    ray.shutdown()
    made.shutdown()


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


@pytest.mark.parametrize("name", ["multiple-choice", "verifiable", "decontaminate"])
def test_a_batch_stage_makes_the_same_artifact_on_a_cluster(
    cluster: None, bench: Path, tmp_path: Path, name: str
) -> None:
    write_pool(tmp_path / "pool", problems(PROMPTS))
    for executor in ("local", "ray"):
        stage = stages(bench)[name]()
        run_stage(stage, open_artifact(tmp_path / "pool"), tmp_path / executor, executor=executor)
    here, there = open_artifact(tmp_path / "local"), open_artifact(tmp_path / "ray")
    assert there.manifest == here.manifest
    assert 0 < here.manifest.num_dropped < len(PROMPTS)
    assert there.read("dropped").equals(here.read("dropped"))


def test_a_stage_that_compares_problems_says_that_it_runs_here(tmp_path: Path) -> None:
    write_pool(tmp_path / "pool", problems(PROMPTS))
    with pytest.raises(UserError, match="dedup compares problems with one another and runs in this process"):
        run_stage(dedup.stage(dedup.DedupConfig()), open_artifact(tmp_path / "pool"), tmp_path / "out", executor="ray")
    assert not (tmp_path / "out").exists()
