"""The funnel in words and as a picture."""

from pathlib import Path

import pytest
from PIL import Image

from curate.funnel import DROPPED, OTHERS, Step, draw, table

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


def test_a_run_without_a_finished_stage_says_so() -> None:
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
