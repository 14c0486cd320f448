"""Warnings beside the log: above a fifth, once, and again only after it was below."""

from train.runs.output.cautions import Cautions

CUT, MUTE = "completions/clipped_ratio", "completions/no_answer_ratio"


def test_a_warning_says_what_is_wrong_and_what_to_change() -> None:
    (cut,), (mute,) = Cautions().due({CUT: 0.41}), Cautions().due({MUTE: 0.21})
    assert "41% of completions are cut off" in cut
    assert "--max-tokens" in cut
    assert "in 21% of completions the verifier finds no answer" in mute
    assert "--template" in mute


def test_a_fifth_and_missing_figures_are_no_cause_for_a_warning() -> None:
    assert Cautions().due({CUT: 0.2, MUTE: 0.0}) == []
    assert Cautions().due({"loss": 3.0}) == []


def test_a_step_without_a_generation_ends_no_warning() -> None:
    cautions = Cautions()
    assert [len(cautions.due(logs)) for logs in ({CUT: 0.5}, {"loss": 3.0}, {CUT: 0.5})] == [1, 0, 0]


def test_a_warning_is_not_repeated_while_it_holds() -> None:
    cautions = Cautions()
    counts = [len(cautions.due({CUT: rate})) for rate in (0.5, 0.6, 0.3, 0.1, 0.3)]
    assert counts == [1, 0, 0, 0, 1]
