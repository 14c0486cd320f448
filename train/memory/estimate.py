"""Estimate of a training step's memory on one device, by part, before any weight is loaded.

Weights, gradients and both moments of AdamW are float32; bfloat16 is autocast, which keeps a copy of trained weights
for a pass. Activations follow Korthikanti et al. (arXiv 2205.05198, sec. 4) for a gated feed-forward part and attention
that stores no scores. Logits are float32 (accelerate converts a model's output), and three copies of them live at once:
those divided by the temperature, and two gradients. `benchmarks/step_memory.py` compares it with the peak of a step.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from train.memory.shape import Shape

FLOAT, HALF = 4, 2
LOGIT_COPIES: Final = 3
USABLE: Final = 0.9  # the rest is for fragments, workspaces and the context of the device
GB: Final = 1e9


@dataclass(frozen=True)
class Case:
    """What a load depends on beside settings.

    num_prompt_tokens: of the longest prompt. num_generated: sequences that one device samples between two draws.
    """

    num_prompt_tokens: int
    num_generated: int
    is_gpu: bool


@dataclass(frozen=True)
class Load:
    """What a step asks of a device, beside the model.

    num_tokens: of the longest sequence, with its prompt. num_scored: those with logits. num_generated: sequences that
    the trainer samples at once without vLLM. vllm_share: share of the device's memory that vLLM takes.
    num_frozen: further models of the same shape, such as a reference, that are not trained.
    """

    num_tokens: int
    num_scored: int
    num_generated: int = 0
    vllm_share: float = 0.0
    num_frozen: int = 0
    lora_rank: int = 0
    is_half: bool = True
    recomputes: bool = True


@dataclass(frozen=True)
class Machine:
    """Devices that train together: their number, the bytes of each, and over how many each part is spread."""

    num: int
    num_bytes: int
    is_gpu: bool = True
    weight_shards: int = 1
    gradient_shards: int = 1
    optimizer_shards: int = 1


@dataclass(frozen=True)
class Estimate:
    """Bytes on one device, by part. `sequence` is that of one sequence in a forward and backward pass."""

    weights: float
    gradients: float
    optimizer: float
    sequence: float
    generation: float
    vllm: float
    num_bytes: int

    def total(self, micro: int) -> float:
        """Bytes at the peak, with this many sequences in a pass; sampling without vLLM precedes the pass."""
        standing = self.weights + self.gradients + self.optimizer + self.vllm
        return standing + max(micro * self.sequence, self.generation)

    def fits(self, micro: int) -> bool:
        """Whether the device holds it, with room for what is not estimated."""
        return self.total(micro) <= USABLE * self.num_bytes

    def holds_pass(self, micro: int) -> bool:
        """Whether the device holds a forward and backward pass, whatever sampling needs before it."""
        return replace(self, generation=0.0).fits(micro)

    def line(self, micro: int) -> str:
        """The arithmetic in one line: `weights 24.1 + gradients 16.1 + ... = 71.3 of 80.0 GB`."""
        parts = " + ".join(f"{name} {value / GB:.1f}" for name, value in self._parts(micro) if value >= GB / 20)
        return f"{parts or 'all parts'} = {self.total(micro) / GB:.1f} of {self.num_bytes / GB:.1f} GB"

    def _parts(self, micro: int) -> Iterator[tuple[str, float]]:
        yield "weights", self.weights
        yield "gradients", self.gradients
        yield "optimizer", self.optimizer
        if self.generation > micro * self.sequence:
            yield "sampling", self.generation
        else:
            yield f"activations of {micro} sequence{'s' if micro > 1 else ''}", micro * self.sequence
        yield "vLLM", self.vllm


def estimate(shape: Shape, load: Load, machine: Machine) -> Estimate:
    """The memory of a step of `load` with a model of this shape on one device of a machine."""
    trained = shape.adapters(load.lora_rank) if load.lora_rank else shape.parameters
    frozen = load.num_frozen * shape.parameters + (shape.parameters if load.lora_rank else 0)
    copies = HALF * trained if load.is_half else 0
    wide = HALF if load.is_half else FLOAT
    # a sharded model is gathered part by part: the embeddings and one layer stand whole
    whole = wide * (shape.vocabulary * shape.hidden + shape.parameters // shape.layers) * (machine.weight_shards > 1)
    # DDP holds gradients a second time, in its buckets
    held_twice = 2 if machine.num > 1 and machine.gradient_shards == 1 else 1
    return Estimate(
        weights=(FLOAT * (trained + frozen) + copies) / machine.weight_shards + whole,
        gradients=held_twice * FLOAT * trained / machine.gradient_shards,
        optimizer=2 * FLOAT * trained / machine.optimizer_shards,
        sequence=load.num_tokens * _activations(shape, load, wide) + _logits(shape, load),
        generation=load.num_generated * load.num_tokens * 2 * shape.layers * shape.keys * wide,
        vllm=load.vllm_share * machine.num_bytes,
        num_bytes=machine.num_bytes,
    )


def largest_that_fits(found: Estimate, num: int) -> int:
    """The largest divisor of `num` sequences whose pass fits; 1 where none does."""
    return next((micro for micro in range(num, 0, -1) if num % micro == 0 and found.holds_pass(micro)), 1)


def _activations(shape: Shape, load: Load, wide: int) -> float:
    """Bytes of a token: the residual stream at each layer, and all that one layer, or each of them, keeps."""
    boundary = FLOAT * shape.hidden
    norms = 2 * (2 * FLOAT + wide) * shape.hidden
    attention = wide * (3 * shape.queries + 3 * shape.keys)
    layer = boundary + norms + attention + 4 * wide * shape.inner
    return shape.layers * boundary + layer if load.recomputes else shape.layers * layer


def _logits(shape: Shape, load: Load) -> float:
    return load.num_scored * shape.vocabulary * (LOGIT_COPIES * FLOAT + (HALF if load.is_half else 0))
