r"""The demo's model: a Llama of about half a million parameters, small enough to train on two cores in half a minute.

`<think>`, `</think>` and `\boxed{` are single tokens, every digit is one, and words come from a byte-level BPE over the
demo's own questions, so that any text can be encoded and prompts stay short. The chat template knows
`enable_thinking=False` (it prefills an empty think block) and marks the assistant's turn for TRL's assistant-only loss.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerFast

SPECIAL: Final = ("<pad>", "<eos>", "<|user|>", "<|assistant|>")
MARKS: Final = ("<think>", "</think>", "\\boxed{")
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


def build_toy(folder: Path, corpus: Iterable[str] = (), *, hidden: int = 128, layers: int = 2, seed: int = 0) -> Path:
    """Write an untrained toy model with its tokenizer into `folder`, loadable by transformers and vLLM.

    `corpus` holds texts whose words become tokens; without it every byte is a token of its own.
    """
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    tokenizer = _tokenizer(corpus)
    torch.manual_seed(seed)
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=hidden,
        intermediate_size=4 * hidden,
        num_hidden_layers=layers,
        num_attention_heads=4,
        num_key_value_heads=4,
        max_position_embeddings=512,
        initializer_range=0.06,  # learns in half the steps of 0.02 at this width
        tie_word_embeddings=True,
        pad_token_id=tokenizer.pad_token_id,
        eos_token_id=tokenizer.eos_token_id,
        bos_token_id=None,
    )
    LlamaForCausalLM(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def _tokenizer(corpus: Iterable[str]) -> PreTrainedTokenizerFast:
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)]
    )
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=600,
        special_tokens=list(SPECIAL),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(corpus, trainer)
    tokenizer.add_tokens([AddedToken(mark, normalized=False, special=False) for mark in MARKS])
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token=SPECIAL[0],
        eos_token=SPECIAL[1],
        additional_special_tokens=list(SPECIAL[2:]),
        model_max_length=512,
    )
    fast.chat_template = CHAT_TEMPLATE
    return fast
