"""The simulated model and the figures of a simulated run."""

import numpy as np
import polars as pl
import pytest

from curriculum import CurriculumConfig
from curriculum.simulate.learner import LEARNERS, Habits, Learner
from curriculum.simulate.rules import RULES
from curriculum.simulate.simulate import Course, SimulateConfig, half_width, run_course

STILL = Habits(0.0, 0.0, 0.0, 0.0, 0.0)


def learner(rates: list[float], habits: Habits, families: list[int] | None = None) -> Learner:
    codes = np.array(families or [0] * len(rates))
    return Learner(np.array(rates), codes, habits, np.random.default_rng(0))


def pool(num: int = 400) -> pl.DataFrame:
    rng = np.random.default_rng(0)
    return pl.DataFrame(
        {
            "key": [str(i) for i in range(num)],
            "num_correct": rng.binomial(8, rng.beta(0.5, 0.5, num)),
            "num_samples": [8] * num,
        }
    )


def course(policy: str, **more: object) -> Course:
    config = SimulateConfig.model_validate({"steps": 60, "num_problems": 16, **more})
    return run_course(pool(), CurriculumConfig(), config, policy, 0)


def test_a_problem_is_answered_at_its_rate() -> None:
    model = learner([0.2, 0.9], STILL)
    outcome = model.answer(np.repeat([0, 1], 5000), 8)
    assert outcome.correct[:5000].mean() / 8 == pytest.approx(0.2, abs=0.01)
    assert outcome.correct[5000:].mean() / 8 == pytest.approx(0.9, abs=0.01)


def test_the_verifier_errs_at_its_configured_rate() -> None:
    model = learner([0.5], Habits(0, 0, 0, 0.1, 0.25))
    outcome = model.answer(np.zeros(20_000, np.int64), 8)
    assert outcome.undecided.mean() / 8 == pytest.approx(0.25, abs=0.01)
    judged = 8 - outcome.undecided
    assert outcome.correct.sum() / judged.sum() == pytest.approx(0.5, abs=0.01)
    always = learner([1 - 1e-6], Habits(0, 0, 0, 0.1, 0.0)).answer(np.zeros(20_000, np.int64), 8)
    assert always.correct.mean() / 8 == pytest.approx(0.9, abs=0.01)


def test_unanimous_groups_teach_nothing_and_split_ones_their_family() -> None:
    model = learner([0.5, 0.5, 0.5], Habits(0.5, 0.5, 0.0, 0, 0), [0, 0, 1])
    model.practise(np.array([0, 2]), np.array([8, 0]), 8, 2)
    assert model.rates().tolist() == [0.5, 0.5, 0.5]
    model.practise(np.array([0]), np.array([4]), 8, 2)
    mine, sibling, stranger = model.rates()
    assert mine > sibling > stranger == 0.5


def test_what_is_not_practised_is_forgotten() -> None:
    model = learner([0.5], Habits(0.0, 2.0, 0.1, 0, 0))
    model.practise(np.array([0]), np.array([4]), 8, 1)
    high = model.rates()[0]
    for _ in range(100):
        model.practise(np.empty(0, np.int64), np.empty(0, np.int64), 8, 1)
    assert high > 0.8
    assert model.rates()[0] == pytest.approx(0.5, abs=0.01)


def test_dapo_pays_for_its_refills_and_gets_full_batches() -> None:
    plain, dapo = course("plain"), course("dapo")
    assert plain.rollouts[-1] == 60 * 16 * 8
    assert dapo.rollouts[-1] > plain.rollouts[-1]
    assert plain.effective[-1] < dapo.effective[-1] <= 60 * 16


@pytest.mark.parametrize("policy", ["learnability", "target"])
def test_thompson_policies_waste_less_than_uniform_sampling(policy: str) -> None:
    plain, chosen = course("plain"), course(policy)
    assert chosen.effective[-1] > 1.1 * plain.effective[-1]


def test_a_course_is_a_function_of_its_seed() -> None:
    first, second = course("learnability", learner="noisy"), course("learnability", learner="noisy")
    assert all(np.array_equal(vars(first)[name], vars(second)[name]) for name in vars(first))


@pytest.mark.parametrize("name", LEARNERS)
def test_totals_never_fall_and_shares_are_shares(name: str) -> None:
    run = course("prioritized", learner=name)
    for total in (run.rollouts, run.groups, run.effective):
        assert (np.diff(total) >= 0).all()
    assert ((run.mean_rate > 0) & (run.mean_rate < 1) & (run.mastered >= 0) & (run.mastered <= 1)).all()


def test_an_interval_is_students_t() -> None:
    # t(2, .975) = 4.3027 for three seeds
    assert half_width(np.array([1.0, 2.0, 3.0])) == pytest.approx(4.3027 / np.sqrt(3), rel=1e-4)


def test_every_rule_that_can_be_configured_is_compared() -> None:
    assert set(RULES) == {"e_process", "threshold", "posterior"}
