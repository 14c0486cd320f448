"""Puzzles of reasoning-gym: entries and answers without the library, and its scorers where it is installed."""

import importlib.util
import json
from pathlib import Path

import pytest

from curate.difficulty.chance import chance
from curate.errors import UserError
from curate.verifiable.rule_checks import RuledProblem, check_ruled_problems
from curate.verify import Item, Policy, verify_many
from curate.verify.rules.puzzle import answer_in, entry_of, fault, judge, written
from curate.verify.rules.table import reference
from train.grpo.command import grpo_training
from train.grpo.config import GrpoConfig
from train.grpo.objectives import objective_named

ENTRY = {"question": "1 + 1?", "answer": "2", "metadata": {"source_dataset": "chain_sum", "source_index": 0}}
HAS_LIBRARY = importlib.util.find_spec("reasoning_gym") is not None
needs_library = pytest.mark.skipif(not HAS_LIBRARY, reason="reasoning-gym is not installed")


@pytest.mark.parametrize(
    ("response", "answer"),
    [
        ("<answer>1</answer> no, <answer> 2 </answer>", "2"),
        (r"<answer>1</answer> so \boxed{\{2\}}", r"\{2\}"),
        (r"\boxed{1}, that is <answer>2</answer>", "2"),
        (" 2\n", "2"),
        (r"\boxed{2", r"\boxed{2"),
    ],
)
def test_the_answer_is_the_last_one_that_is_marked_else_everything(response: str, answer: str) -> None:
    assert answer_in(response) == answer


def test_an_entry_is_read_from_tables_and_from_their_json() -> None:
    truth = written("1 + 1?", "2", json.dumps(ENTRY["metadata"]))
    assert truth == written("1 + 1?", "2", ENTRY["metadata"])
    assert entry_of(truth or "") == ENTRY
    assert written("1 + 1?", "2", {"source": "web"}) is written("1 + 1?", "2", "none") is None
    assert "is no entry" in (fault('{"answer": "2"}') or "")


@pytest.mark.skipif(HAS_LIBRARY, reason="reasoning-gym is installed")
def test_a_missing_library_is_named(capfd: pytest.CaptureFixture[str]) -> None:
    assert "gradus-rlvr[puzzles]" in (fault(json.dumps(ENTRY)) or "")
    found = verify_many([Item("2", json.dumps(ENTRY), "puzzle")])
    assert (found[0].verdict, found[0].reason) == ("undecided", "verifier_error")
    assert "gradus-rlvr[puzzles]" in capfd.readouterr().err


@needs_library
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "task", ["chain_sum", "countdown", "word_sorting", "mini_sudoku", "arc_agi", "prime_factorization"]
)
def test_the_scorer_of_a_task_decides(task: str) -> None:
    import reasoning_gym

    for entry in reasoning_gym.create_dataset(task, size=3, seed=1):
        truth = written(entry["question"], entry["answer"], entry["metadata"]) or ""
        assert fault(truth) is None
        right = entry["answer"] if entry["answer"] is not None else entry["metadata"]["expression"]
        assert judge(f"<answer>{right}</answer>", truth) is True, entry
        for cheat in ("", "0", "<answer></answer>", "<answer>the answer</answer>", entry["question"]):
            assert judge(cheat, truth) is False


@needs_library
def test_an_unknown_task_is_named() -> None:
    other = {**ENTRY, "metadata": {"source_dataset": "chess"}}
    assert fault(json.dumps(other)) == "reasoning-gym has no task chess"


@needs_library
@pytest.mark.filterwarnings("ignore")
def test_a_task_that_any_answer_solves_and_an_entry_that_contradicts_itself_are_dropped() -> None:
    import reasoning_gym

    halting = next(
        e for e in reasoning_gym.create_dataset("game_of_life_halting", size=20, seed=3) if "False" in e["answer"]
    )
    good = reasoning_gym.create_dataset("word_sorting", size=1, seed=1)[0]
    entries = [halting, good, {**good, "answer": "zebra, apple"}]
    truths = [written(entry["question"], entry["answer"], entry["metadata"]) for entry in entries]
    found = check_ruled_problems([RuledProblem("puzzle", truth, "?") for truth in truths], Policy())
    assert [one.reason for one in found] == ["no_tests", None, "reference_fails_tests"]


def test_a_blind_guess_is_counted_by_the_entrys_answer() -> None:
    truth = written("Does it halt?", "True", ENTRY["metadata"]) or ""
    assert chance(reference("puzzle", truth), None) == 1 / 2
    assert reference("json", '{"type": "string"}') is None
    assert reference("puzzle", written("Make 7.", None, ENTRY["metadata"]) or "") is None


@pytest.mark.skipif(HAS_LIBRARY, reason="reasoning-gym is installed")
def test_training_on_puzzles_without_the_library_is_refused_before_a_model_loads(tmp_path: Path) -> None:
    row = {"prompt": "1 + 1?", "kind": "puzzle", "ground_truth": json.dumps(ENTRY)}
    (tmp_path / "pool.jsonl").write_text(json.dumps(row))
    training = grpo_training(tmp_path / "pool.jsonl", GrpoConfig(), objective_named("grpo"))
    with pytest.raises(UserError, match=r"kind puzzle needs reasoning_gym.*gradus-rlvr\[puzzles\]"):
        training.read()
