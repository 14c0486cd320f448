"""The funnel as text and as a picture."""

from dataclasses import replace
from pathlib import Path

import pytest
from PIL import Image
from support.small_run import problems, write_pool

from curate.artifacts.artifact import open_artifact
from curate.artifacts.funnel import DROPPED, OTHERS, Step, chain_in, draw, table
from curate.errors import UserError
from curate.multiple_choice import stage as multiple_choice
from curate.runner.run import run_stage
from data_cards.dataset.lineage import open_chain

STEPS = [
    Step("ingest", 1_000, 900, (("merged_into_twin", 80), ("broken_json", 20))),
    Step("dedup", 900, 900, ()),
    Step("verifiable", 900, 0, (("proof", 900),)),
]


def test_every_stage_has_its_numbers_share_and_reasons() -> None:
    lines = table(STEPS).splitlines()
    assert [line.split() for line in lines] == [
        ["ingest", "900", "of", "1,000", "kept", "█" * 22, "90.0%"],
        ["80", "merged_into_twin"],
        ["20", "broken_json"],
        ["dedup", "900", "of", "900", "kept", "█" * 22, "90.0%"],
        ["verifiable", "0", "of", "900", "kept", "0.0%"],
        ["900", "proof"],
    ]


def test_artifacts_made_one_by_one_are_found_in_order_also_where_a_stage_changed_nothing(tmp_path: Path) -> None:
    write_pool(tmp_path / "z", problems([f"What is {n} + {n}?" for n in range(4)]))
    quiet = multiple_choice.stage(multiple_choice.MultipleChoiceConfig())
    for before, name in (("z", "y"), ("y", "x"), ("x", "w")):
        run_stage(replace(quiet, name=f"stage {name}"), open_artifact(tmp_path / before), tmp_path / name)
    assert len({open_artifact(tmp_path / name).manifest.digest for name in "yxw"}) == 1
    assert chain_in(tmp_path) == ["z", "y", "x", "w"]
    assert [artifact.folder.name for artifact in open_chain(tmp_path)] == ["z", "y", "x", "w"]
    write_pool(tmp_path / "other", problems(["What is 9 + 9?"]))
    with pytest.raises(UserError, match="each end a separate chain"):
        chain_in(tmp_path)
    with pytest.raises(UserError, match="holds no artifacts"):
        chain_in(tmp_path / "z")


def test_a_run_without_a_finished_stage_has_a_message_for_a_table() -> None:
    assert table([]) == "no stage is finished yet"


@pytest.mark.parametrize("steps", [STEPS, STEPS[:1], [Step("ingest", 0, 0, ())]])
def test_the_picture_is_drawn_for_any_run(steps: list[Step], tmp_path: Path) -> None:
    draw(steps, tmp_path / "funnel.png")
    with Image.open(tmp_path / "funnel.png") as image:
        assert image.width > 600
        assert len(image.convert("RGB").getcolors(maxcolors=1 << 20) or []) > 10


def test_no_two_reasons_of_a_stage_share_a_colour(tmp_path: Path) -> None:
    reasons = tuple((f"reason_{place}", 100) for place in range(9))
    draw([Step("ingest", 1_000, 100, reasons)], tmp_path / "funnel.png")
    with Image.open(tmp_path / "funnel.png") as image:
        widths = {colour: count for count, colour in image.convert("RGB").getcolors(maxcolors=1 << 20) or []}
    colours = [tuple(bytes.fromhex(colour[1:])) for colour in (*DROPPED, OTHERS)]
    own, others = [widths[colour] for colour in colours[:-1]], widths[colours[-1]]
    assert max(own) < 1.1 * min(own)
    assert 3.5 * min(own) < others < 4.5 * min(own)
