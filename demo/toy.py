"""The demo's model: a Llama of 0.9M parameters over characters, small enough to train on two cores in a minute.

`<think>`, `</think>` and `\\boxed{` are single tokens. The chat template knows `enable_thinking=False` (it prefills an empty
think block) and marks the assistant's turn for TRL's assistant-only loss. Weights start random from a seed.
"""

from __future__ import annotations

import string
from pathlib import Path
from typing import Final

SPECIAL: Final = ["<pad>", "<eos>", "<unk>", "<|user|>", "<|assistant|>"]
WORDS: Final = ["<think>", "</think>", "\\boxed{"]
CHARACTERS: Final = string.digits + string.ascii_letters + string.punctuation + " \n"
CHAT_TEMPLATE: Final = (
    "{%- for message in messages -%}"
    "{%- if message.role == 'assistant' -%}"
    "<|assistant|>{% generation %}{{ message.content }}<eos>{% endgeneration %}"
    "{%- else -%}<|user|>{{ message.content }}{%- endif -%}"
    "{%- endfor -%}"
    "{%- if add_generation_prompt -%}<|assistant|>"
    "{%- if enable_thinking is defined and not enable_thinking -%}<think></think>{%- endif -%}"
    "{%- endif -%}"
)


def build_toy(folder: Path, *, hidden: int = 128, layers: int = 4, seed: int = 0) -> Path:
    """Write an untrained toy model with its tokenizer into `folder`, loadable by transformers and vLLM."""
    import torch
    from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    vocabulary = {token: index for index, token in enumerate([*SPECIAL, *WORDS, *CHARACTERS])}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Split(Regex(r"<think>|</think>|\\boxed\{|[\s\S]"), "isolated")
    tokenizer.decoder = decoders.Fuse()
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token="<pad>",
        eos_token="<eos>",
        unk_token="<unk>",
        additional_special_tokens=["<|user|>", "<|assistant|>"],
        model_max_length=512,
    )
    fast.chat_template = CHAT_TEMPLATE
    torch.manual_seed(seed)
    model = LlamaForCausalLM(
        LlamaConfig(
            vocab_size=len(vocabulary),
            hidden_size=hidden,
            intermediate_size=4 * hidden,
            num_hidden_layers=layers,
            num_attention_heads=4,
            num_key_value_heads=4,
            max_position_embeddings=512,
            tie_word_embeddings=True,
            pad_token_id=fast.pad_token_id,
            eos_token_id=fast.eos_token_id,
            bos_token_id=None,
        )
    )
    model.save_pretrained(folder)
    fast.save_pretrained(folder)
    return folder
