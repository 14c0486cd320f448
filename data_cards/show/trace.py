"""Prints a trace on a terminal of 100 columns: long texts are cut and control characters made visible."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from data_cards.dataset.evidence import Match, benchmark_of, fields
from data_cards.dataset.trace import Step, Trace
from data_cards.dataset.training import Training
from data_cards.show.side_by_side import Piece, compare

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

WIDTH: Final = 100
MAX_CHARS: Final = 1_200
MAX_SAMPLES: Final = 8
MAX_SAMPLE_CHARS: Final = 300
MAX_LISTED: Final = 10
OPEN, CLOSE = "⟦", "⟧"


def show(trace: Trace, trainings: Mapping[str, Training], console: Console) -> None:
    """Print a trace; `trainings` holds the problem's history in each training run, by run name."""
    _print_problem(trace, console)
    console.print(_heading("stages"))
    for number, step in enumerate(trace.steps, start=1):
        _print_step(number, step, console)
    _print_twins(trace, console)
    _print_samples(trace, console)
    for name, training in trainings.items():
        _print_training(name, training, console)


def visible(text: str) -> str:
    """The text with control characters (except line ends) as visible signs, so that none controls the terminal."""
    return "".join(
        chr(0x2400 + ord(mark)) if ord(mark) < 32 and mark != "\n" else "␡" if 0x7F <= ord(mark) <= 0x9F else mark
        for mark in text.replace("\t", "    ").replace("\r\n", "\n")
    )


def clipped(text: str, max_chars: int) -> str:
    """The first `max_chars` characters of a text, and the number of those left out."""
    return text if len(text) <= max_chars else f"{text[:max_chars]} … ({len(text) - max_chars:,} characters more)"


def _print_problem(trace: Trace, console: Console) -> None:
    row = trace.row
    console.print(_line(f"problem {row['key']}", trace.fate))
    _print_fields(
        {
            "source": f"{row['source']}, row {row['source_row']}",
            "also in": ", ".join(row.get("also_in") or ()),
            "kind": row["kind"],
            "prompt": row["prompt"],
            "choices": " | ".join(row.get("choices") or ()),
            "ground truth": row["ground_truth"],
        },
        console,
    )


def _print_step(number: int, step: Step, console: Console) -> None:
    evidence = fields(step.detail)
    detail = "" if evidence else step.detail or ""
    console.print(_line(f"{number:>3} {step.stage:<18} {step.verdict}", f"{step.reason or ''}  {detail}"))
    _print_fields({name: value for name, value in evidence.items() if name != "item_text"}, console)
    plain = {name: value for name, value in step.evidence.items() if isinstance(value, int | float)}
    if plain:
        _print_block(", ".join(f"{name} {value:.4g}" for name, value in plain.items()), console, indent=24)
    _print_fields({name: value for name, value in step.evidence.items() if name not in plain}, console)


def _print_twins(trace: Trace, console: Console) -> None:
    if trace.duplicates:
        console.print(_heading("dropped because of this one", f"({len(trace.duplicates)})"))
    for other in trace.duplicates[:MAX_LISTED]:
        place = f"{other['source']}, row {other['source_row']}"
        console.print(_line(f"    {other['key']}  {other['drop_reason']}", f"{place}: {other['prompt']}"))
    if len(trace.duplicates) > MAX_LISTED:
        console.print(f"    … and {len(trace.duplicates) - MAX_LISTED} more")
    if trace.match is not None:
        _print_beside(trace.row["prompt"] or "", trace.match, console)
    elif (matched := benchmark_of(trace.row)) is not None:
        console.print(_heading("side by side", f"with --against and the file of benchmark {matched[0]}"))


def _print_samples(trace: Trace, console: Console) -> None:
    for stage in dict.fromkeys(sample["stage"] for sample in trace.samples):
        samples = [sample for sample in trace.samples if sample["stage"] == stage]
        counts = {name: sum(s["verdict"] == name for s in samples) for name in ("correct", "wrong", "undecided")}
        verdicts = ", ".join(f"{number} {name}" for name, number in counts.items() if number)
        console.print(_heading(f"samples of {stage}", f"({len(samples)}: {verdicts})"))
        for sample in samples[:MAX_SAMPLES]:
            verdict = f"{sample['verdict']} ({sample['verdict_reason']}), {sample['num_tokens']} tokens"
            console.print(_line(f"    #{sample['index']:<3} {verdict}, {sample['finish_reason']}", ""))
            _print_block(clipped(sample["text"], MAX_SAMPLE_CHARS), console, indent=9)
        if len(samples) > MAX_SAMPLES:
            console.print(f"    … and {len(samples) - MAX_SAMPLES} more")


def _print_training(name: str, training: Training, console: Console) -> None:
    num_draws = sum(moment.event == "drawn" for moment in training.moments)
    times = f"drawn {num_draws} time{'s' if num_draws != 1 else ''}" if num_draws else "never drawn"
    console.print(_heading(f"training {name}", f"({times}{'; now ' if training.standing else ''}{training.standing})"))
    for moment in training.moments:
        console.print(_line(f"    step {moment.step:<6} {moment.event}", moment.detail))


def _print_beside(left: str, match: Match, console: Console) -> None:
    """Two texts in two columns; differences are in brackets and, on a terminal, coloured."""
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, width=WIDTH - 4, padding=(0, 2, 0, 0), show_edge=False)
    for name in ("this problem", match.name):
        table.add_column(Text(visible(name)), ratio=1, overflow="fold")
    table.add_row(*(_marked(side) for side in compare(clipped(left, MAX_CHARS), clipped(match.text, MAX_CHARS))))
    console.print(_heading("side by side", f"(what differs between {OPEN} {CLOSE})"))
    console.print(Padding(table, (0, 0, 0, 4)))


def _marked(pieces: Sequence[Piece]) -> Text:
    from rich.text import Text

    text = Text()
    for piece in pieces:
        words = visible(piece.text)
        text.append(f"{OPEN}{words}{CLOSE}" if piece.is_different else words, "bold red" if piece.is_different else "")
    return text


def _heading(title: str, note: str = "") -> Text:
    from rich.text import Text

    return Text.assemble("\n", (visible(title), "bold"), f" {visible(note)}".rstrip())


def _line(head: str, tail: str) -> Text:
    """One line: the head, and as much of the tail as fits."""
    from rich.text import Text

    line = f"{head}  {' '.join(visible(tail).split())}".rstrip()
    return Text(line if len(line) <= WIDTH else line[: WIDTH - 1] + "…", no_wrap=True, overflow="ellipsis")


def _print_fields(fields: Mapping[str, Any], console: Console) -> None:
    for name, value in fields.items():
        text = value if isinstance(value, str) else "" if value is None else json.dumps(value, ensure_ascii=False)
        if text:
            _print_block(clipped(text, MAX_CHARS), console, indent=24, head=f"    {name:<20}")


def _print_block(text: str, console: Console, indent: int, head: str = "") -> None:
    """Print text wrapped behind a margin; `head` precedes its first line."""
    from rich.text import Text

    for number, line in enumerate(Text(visible(text)).wrap(console, WIDTH - indent, overflow="fold")):
        line.rstrip()
        console.print(Text((head if number == 0 else "").ljust(indent)) + line)
