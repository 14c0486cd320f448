"""Choice of the sequences of a forward pass by the estimate of a step's memory, said in one line."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from train.memory.estimate import USABLE, Estimate, largest_that_fits


class Choice(NamedTuple):
    """Sequences of a forward pass, and the lines that explain them."""

    micro: int
    lines: tuple[str, ...]


def chosen(found: Estimate, per_device: int, given: int | None) -> Choice:
    """The given number of sequences, else the largest divisor of a device's that fits, with a warning if none does.

    per_device: sequences of an optimizer step on one device.
    """
    micro = given or largest_that_fits(found, per_device)
    how = "given" if given else "chosen"
    lines = [f"memory of a device, estimated: {found.line(micro)}; --micro-batch-size {micro} of {per_device} ({how})"]
    if not found.fits(micro):
        lines.append(
            f"warning: over {USABLE:.0%} of the device; less need {', '.join(_ways_out(found, micro, per_device))}"
        )
    return Choice(micro, tuple(lines))


def _ways_out(found: Estimate, micro: int, per_device: int) -> Iterator[str]:
    fewer = largest_that_fits(found, per_device)
    if micro > fewer:
        yield f"--micro-batch-size {fewer}"
    if found.generation > micro * found.sequence:
        yield "--vllm"
    yield from ("fewer --max-tokens", "--lora-rank 64", "FSDP on more devices (gradus train accelerate-config fsdp)")
