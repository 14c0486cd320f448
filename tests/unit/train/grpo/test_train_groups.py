"""Flat lists over all processes become groups, and groups become visits and figures."""

from math import nan

from train.grpo.rollout.groups import group_figures, groups_of

GROUPS = groups_of(
    [7, 3],
    [1.0, 0.0, nan, 1.0, 0.0, 0.0, 0.0, nan],
    [10, 30, 99, 20, 5, 7, 9, 99],
    ["", "", "timeout", "", *[""] * 3, "memory"],
)


def test_groups_keep_the_order_of_the_draw() -> None:
    assert [group.row for group in GROUPS] == [7, 3]
    assert GROUPS[1].num_tokens == (5, 7, 9, 99)


def test_an_undecided_completion_is_neither_correct_nor_wrong() -> None:
    visit = GROUPS[0].visit()
    assert (visit.num_correct, visit.num_wrong, visit.num_undecided) == (2, 1, 1)
    assert (visit.mean_tokens_correct, visit.mean_tokens_wrong) == (15, 30)
    assert visit.undecided_reason == "timeout"


def test_figures_split_lengths_by_verdict_and_leave_the_undecided_out() -> None:
    figures = group_figures(GROUPS)
    assert figures["completions/mean_length_correct"] == 15
    assert figures["completions/mean_length_wrong"] == (30 + 5 + 7 + 9) / 4
    assert figures["accuracy"] == 2 / 6
    assert (figures["groups/solved_by_none"], figures["groups/solved_by_all"], figures["groups/mixed"]) == (0.5, 0, 0.5)


def test_the_share_without_an_answer_is_of_all_completions() -> None:
    reasons = ["no_answer", "think_only", "different", "timeout", "exact", "truncated", "no_answer", "exact"]
    groups = groups_of([7, 3], [0.0, 0.0, 0.0, nan, 1.0, 0.0, 0.0, 1.0], [5] * 8, reasons)
    assert group_figures(groups)["completions/no_answer_ratio"] == 3 / 8


def test_a_generation_with_nothing_judged_has_no_figures() -> None:
    assert group_figures(groups_of([0], [nan, nan], [1, 1], ["timeout", "timeout"])) == {}
