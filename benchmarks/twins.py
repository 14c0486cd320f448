"""Recall and false drops of dedup and decontamination, by what a person calls the same problem.

Real problems are written as other sources write them (layout, tags, numbering, wrappers, spelling, a note more) and as
other problems (another figure, sign, name, a longer formula); then each copy is held against its original with the same
answer. With `--pools`, a folder with omni_math_rule.jsonl and gaokao2023en.jsonl (KbsdJames/omni-math-rule), pairs that
people read are counted too: they are named by their rows.

    python benchmarks/twins.py [--shared FOLDER] [--pools FOLDER] [--items 300]
"""

from __future__ import annotations

import argparse
import random
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import polars as pl
from tables import Table

from curate.decontaminate.benchmarks import read_items
from curate.decontaminate.search import LeakSearch
from curate.decontaminate.stage import DecontaminateConfig, thresholds
from curate.dedup.stage import DedupConfig, find_duplicates
from curate.ingest.sources import Source

Change = Callable[[str, random.Random], str]

SOURCES: Final = "math500/test.jsonl olympiadbench/test.jsonl gsm8k/test.jsonl amc23/test.jsonl minerva_math/test.jsonl"
_BRITISH: Final = {
    "color": "colour",
    "center": "centre",
    "meters": "metres",
    "neighbor": "neighbour",
    "labeled": "labelled",
}
_MATH: Final = re.compile(r"\$([^$]+)\$")

# rows of omni_math_rule and OlympiadBench, of omni_math_rule and gaokao2023en, and of two rows of omni_math_rule
LEAKS: Final = (
    (1039, 110), (986, 78), (2769, 18), (1031, 93), (1051, 95), (966, 59), (2763, 124), (1034, 62), (1054, 26),
    (2797, 49), (958, 85), (999, 28), (987, 84), (1036, 25), (2783, 54), (1042, 88), (1021, 69), (1026, 40), (1081, 14),
    (1028, 106), (2815, 43), (1018, 100), (2812, 22), (1032, 70), (1052, 102), (2762, 55), (959, 83),
    (1023, 92), (2793, 89),
)  # fmt: skip
REWORDED: Final = ((2789, 81), (2765, 47), (2774, 30))
GAOKAO: Final = ((2351, 160), (2016, 161), (1977, 162), (823, 168), (2156, 167), (1994, 164), (2104, 166), (673, 163))
TWINS: Final = (
    (2645, 2664), (2630, 2677), (2439, 2481), (2406, 2448), (2183, 2243), (1216, 1763), (1209, 1850), (116, 446),
    (2323, 2498), (2466, 2561), (1582, 2784), (231, 2767), (440, 1009), (2451, 2790), (1020, 1078), (151, 964),
    (626, 1022), (2670, 2688), (42, 151), (775, 880), (1630, 2700),
)  # fmt: skip


def _in_formulas(text: str, change: Callable[[str], str]) -> str:
    return _MATH.sub(lambda found: f"${change(found[1])}$", text)


def spaced(text: str, _: random.Random) -> str:
    """Points and products with spaces, as OCR writes them."""
    return _in_formulas(text, lambda math: re.sub(r"(?<![\\A-Za-z{])([A-Z])(?=[A-Z])", r"\1 ", math).replace("!", " !"))


def tagged(text: str, dice: random.Random) -> str:
    """A word or more in HTML, BBCode or Markdown, and line breaks as tags or letters."""
    before, behind = dice.choice([("<b>", "</b>"), ("[i]", "[/i]"), ("**", "**"), ("<em>", "</em>")])
    word = next(iter(re.findall(r"\b[a-z]{5,}\b", re.sub(_MATH, " ", text))), None)
    marked = text.replace(f" {word} ", f" {before}{word}{behind} ", 1) if word else text
    return re.sub(r"\n+", dice.choice(["<br/>", "\\n\\n", "\n\n"]), marked)


def numbered(text: str, dice: random.Random) -> str:
    """A number, points or a source in front, or the author behind."""
    front = dice.choice(["Problem 14. (AIME 2003) ", "3. [5] ", "Example 2: ", "(10 points) ", "[b]p7.[/b] ", ""])
    return front + text + ("" if front else "\n\n[i]Proposed by N. Bourbaki, Nancago[/i]")


def wrapped(text: str, dice: random.Random) -> str:
    """Instructions to the one who answers."""
    before, behind = dice.choice(
        [
            (
                (
                    "Solve the following math problem step by step. The last line of your response should be of the "
                    "form Answer: $Answer (without quotes).\n\n"
                ),
                '\n\nRemember to put your answer on its own line after "Answer:".',
            ),
            ("Question: ", "\nAnswer:"),
            ("", " Please reason step by step, and put your final answer within \\boxed{}."),
            ("Please solve this competition math problem:\n", ""),
        ]
    )
    return before + text + behind


def british(text: str, _: random.Random) -> str:
    """British words, and another word for the same extreme or task."""
    for one, other in (_BRITISH | {"largest": "greatest", "smallest": "least", "Find": "Determine"}).items():
        text = re.sub(rf"\b{one}\b", other, text)
    return text


def noted(text: str, _: random.Random) -> str:
    """A note behind."""
    return text + " (Note that every step of your work should be easy to follow for a reader of your age.)"


def other_figure(text: str, dice: random.Random) -> str:
    """One number is another."""
    found = list(re.finditer(r"\d+", text))
    place = dice.choice(found) if found else None
    return text[: place.start()] + str(int(place[0]) + dice.randint(1, 9)) + text[place.end() :] if place else ""


def other_sign(text: str, dice: random.Random) -> str:
    """One sign is another."""
    found = [
        place for place in re.finditer(r"(?<=[\w })]) ?[-+] ?(?=[\w\\{(])", text) if _is_in_formula(text, place.start())
    ]
    place = dice.choice(found) if found else None
    return text[: place.start()] + ("-" if "+" in place[0] else "+") + text[place.end() :] if place else ""


def longer(text: str, _: random.Random) -> str:
    """The last formula goes on."""
    places = [*_MATH.finditer(text)]
    is_last = places and re.fullmatch(r"\W*", text[places[-1].end() :])
    return text[: places[-1].end() - 1] + " - 6 x + 5$." if is_last else ""


def other_extreme(text: str, _: random.Random) -> str:
    """The least in the place of the greatest."""
    changed = re.sub(r"\b(?:largest|greatest|maximum)\b", "smallest", text)
    return changed if changed != text else ""


def _is_in_formula(text: str, place: int) -> bool:
    return text[:place].count("$") % 2 == 1


SAME: Final[dict[str, Change]] = {f.__name__: f for f in (spaced, tagged, numbered, wrapped, british, noted)}
OTHER: Final[dict[str, Change]] = {f.__name__: f for f in (other_figure, other_sign, longer, other_extreme)}


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shared", type=Path, default=Path(__file__).resolve().parents[2] / "shared")
    parser.add_argument("--pools", type=Path, help="folder with the pools of the pairs that people read")
    parser.add_argument("--items", type=int, default=300, help="problems taken from each source")
    options = parser.parse_args()
    data = options.shared / "data"
    if not data.is_dir():
        sys.exit(f"skipped: no data in {data}; name its folder with --shared")
    items = pl.concat([_items(data / path).head(options.items) for path in SOURCES.split()]).unique("key")
    items = items.filter(pl.col("ground_truth").is_not_null() & (pl.col("prompt").str.len_chars() > 60))
    table = Table(
        f"{items.height:,} problems: % taken for the same", ("copies", "decontaminate", "dedup"), label_width=16
    )
    for kinds in (SAME, OTHER):
        for name, change in kinds.items():
            table.row(name, *_shares(items, change))
    if options.pools:
        read_by_people(data, options.pools)


def _shares(items: pl.DataFrame, change: Change) -> tuple[int, str, str]:
    dice = random.Random(1)
    changed = pl.Series([change(text, dice) for text in items["prompt"]])
    is_copy = (changed != "") & (changed != items["prompt"])
    items = items.with_columns(solution=pl.lit(None, pl.String))  # the same solution would tell
    copies = items.filter(is_copy).with_columns(prompt=changed.filter(is_copy), key=pl.format("copy of {}", "key"))
    # another problem has another answer, which is not known here
    truth = pl.lit(None, pl.String) if change in OTHER.values() else pl.col("ground_truth")
    rows = copies.with_columns(ground_truth=truth).drop("benchmark", "item")
    leaks = LeakSearch(items, thresholds(DecontaminateConfig())).find(rows)
    names = zip(copies["benchmark"], copies["item"], strict=True)
    found = sum(
        hit is not None and hit.fate == "contaminated" and (hit.benchmark, hit.item) == name
        for hit, name in zip(leaks, names, strict=True)
    )
    dropped = _dropped(pl.concat([items, copies]).drop("benchmark", "item"))
    twins = sum(f"copy of {key}" in dropped for key in items["key"])
    share = 100 / max(copies.height, 1)
    return copies.height, f"{share * found:.1f}", f"{share * twins:.1f}"


def read_by_people(data: Path, pools: Path) -> None:
    """Recall of the pairs that people read."""
    omni, olympiad = _items(pools / "omni_math_rule.jsonl"), _items(data / "olympiadbench/test.jsonl")
    gaokao = _items(pools / "gaokao2023en.jsonl")
    table = Table("pairs that people call one problem", ("pairs", "found"), label_width=34)
    for label, items, pairs in (
        ("omni in OlympiadBench", olympiad, LEAKS),
        ("the same, reworded", olympiad, REWORDED),
        ("omni in Gaokao 2023", gaokao, GAOKAO),
    ):
        table.row(label, len(pairs), sum(_leaks(omni, items, pairs)))
    dropped = _dropped(omni.drop("benchmark", "item"))
    keys = dict(zip(omni["source_row"], omni["key"], strict=True))
    roots = {row: dropped.get(keys[row], keys[row]) for pair in TWINS for row in pair}
    table.row("twins in omni", len(TWINS), sum(roots[one] == roots[other] for one, other in TWINS))


def _leaks(pool: pl.DataFrame, items: pl.DataFrame, pairs: tuple[tuple[int, int], ...]) -> Iterator[bool]:
    rows = [row for row, _ in pairs]
    wanted = dict(zip(items["source_row"], items["item"], strict=True))
    some = pl.DataFrame({"source_row": rows}, schema={"source_row": pl.Int64}).join(pool, on="source_row", how="left")
    found = LeakSearch(items, thresholds(DecontaminateConfig())).find(some.drop("benchmark", "item"))
    for hit, (_, item) in zip(found, pairs, strict=True):
        yield hit is not None and hit.fate == "contaminated" and hit.item == wanted[item]


def _dropped(pool: pl.DataFrame) -> dict[str, str]:
    """The row that stays for each row that is dropped, by key."""
    found = find_duplicates(lambda: iter([pool]), DedupConfig()).filter(pl.col("drop_reason") == "near_duplicate_of")
    return dict(zip(found["key"], found["drop_detail"], strict=True))


def _items(path: Path) -> pl.DataFrame:
    return read_items([Source(path=path, name=path.parent.name)])


if __name__ == "__main__":
    main()
