"""A toy agent: a model of under a million parameters that repairs lines, its tasks, and scripted episodes to imitate.

A task is a small library of one-line functions, some of which return the wrong expression, and `check.py`, which names
the first wrong line and what it must return. The agent runs it, repairs that line with sed, and runs it again, until it
passes. The hidden tests call the functions.

`traces` ends some episodes too early, so that a model that imitates them solves only a part of the tasks.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from curate.tasks.task import Task
from curate.verify.repo.archive import Archive
from curate.verify.repo.grade import RepoTests

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerFast

SPECIAL: Final = ("<pad>", "<eos>", "<|user|>", "<|assistant|>", "<|tool|>")
MARKS: Final = ("<tool_call>", "</tool_call>", "<think>", "</think>")
TEMPLATE: Final = (
    "{#- tools are known from training -#}"
    "{%- for message in messages -%}"
    "{%- if message.role == 'assistant' -%}"
    "<|assistant|>{% generation %}{{ message.content or '' }}"
    "{%- for call in message.tool_calls or [] -%}"
    '<tool_call>{"name": "{{ call.function.name }}", "arguments": {{ call.function.arguments | tojson }}}</tool_call>'
    "{%- endfor -%}<eos>{% endgeneration %}"
    "{%- elif message.role == 'tool' -%}<|tool|>{{ message.content }}"
    "{%- else -%}<|user|>{{ message.content }}{%- endif -%}"
    "{%- endfor -%}"
    "{%- if add_generation_prompt -%}<|assistant|>{%- endif -%}"
)
OPERATORS: Final = "+-*"
NAMES: Final = "fgh"
CHECK: Final = """\
import pathlib
want = {want!r}
lines = pathlib.Path("tool.py").read_text().splitlines()
wrong = [(at, one) for at, one in enumerate(want, 1) if at > len(lines) or lines[at - 1].split("return ")[-1] != one]
print("%d: %s" % wrong[0] if wrong else "pass")
"""


def toy_tasks(number: int, seed: int) -> list[Task]:
    """Different tasks, with one to three wrong lines each."""
    rng, found = random.Random(seed), dict[str, Task]()
    while len(found) < number:
        right = [rng.choice(OPERATORS) for _ in NAMES]
        wrong = list(right)
        for place in rng.sample(range(3), rng.choice((1, 2, 2, 3))):
            wrong[place] = rng.choice([one for one in OPERATORS if one != right[place]])
        name = f"toy-{''.join(right)}-{''.join(wrong)}".translate(str.maketrans("+-*", "psm"))
        found.setdefault(name, _task(name, right, wrong))
    return list(found.values())


def _task(name: str, right: list[str], wrong: list[str]) -> Task:
    check = CHECK.format(want=[f"a {one} b" for one in right])
    values = {"+": 8, "-": 4, "*": 12}
    tests = "from tool import f, g, h\n" + "".join(
        f"\n\ndef test_{letter}():\n    assert {letter}(6, 2) == {values[one]}\n"
        for letter, one in zip(NAMES, right, strict=True)
    )
    names = [f"tests/test_tool.py::test_{letter}" for letter in NAMES]
    failing = [one for one, a, b in zip(names, right, wrong, strict=True) if a != b]
    passing = [one for one in names if one not in failing]
    files = Archive({"tests/test_tool.py": tests.encode()})
    return Task(
        name, f"Repair tool.py ({name[-3:]}).", Archive({"tool.py": _source(wrong), "check.py": check.encode()}),
        RepoTests(tuple(failing), tuple(passing), files, ("tool.py",)), {"tool.py": _source(right)},
        {"repo": "tool", "licence": "MIT"},
    )  # fmt: skip


def _source(operators: list[str]) -> bytes:
    lines = [f"def {name}(a, b): return a {one} b\n" for name, one in zip(NAMES, operators, strict=True)]
    return "".join(lines).encode()


def trace(task: Task, rng: random.Random, stop: float) -> Iterator[dict[str, Any]]:
    """A conversation that repairs a task line by line, and ends after each repair with the probability `stop`."""
    assert task.reference is not None
    pair = ((task.base.files["tool.py"]).decode(), (task.reference["tool.py"] or b"").decode())
    lines, right = ([line.split("return ")[1] for line in text.splitlines()] for text in pair)
    yield {"role": "user", "content": task.instruction}
    while True:
        wrong = next((at for at in range(3) if lines[at] != right[at]), None)
        yield _calls("bash", command="python3 check.py")
        yield {"role": "tool", "name": "bash", "content": "pass" if wrong is None else f"{wrong + 1}: {right[wrong]}"}
        if wrong is None:
            break
        new = right[wrong] if rng.random() > 0.1 else f"a {rng.choice(OPERATORS)} b"
        lines[wrong] = new
        yield _calls("bash", command=f"sed -i '{wrong + 1}s/return.*/return {new}/' tool.py")
        yield {"role": "tool", "name": "bash", "content": "(no output)"}
        if rng.random() < stop:
            break
    yield _calls("submit")


def _calls(name: str, **arguments: Any) -> dict[str, Any]:
    return {
        "role": "assistant",
        "content": "",
        "tool_calls": [{"type": "function", "function": {"name": name, "arguments": arguments}}],
    }


def write_traces(path: Path, tasks: Iterable[Task], stop: float, seed: int) -> Path:
    """Conversations to imitate, one a line, calls written as text, for `gradus train sft`."""
    rng = random.Random(seed)
    with path.open("w", encoding="utf-8") as file:
        for task in tasks:
            file.write(json.dumps({"messages": [_as_text(turn) for turn in trace(task, rng, stop)]}) + "\n")
    return path


def _as_text(turn: dict[str, Any]) -> dict[str, str]:
    calls = [json.dumps(call["function"]) for call in turn.get("tool_calls", ())]
    return {"role": turn["role"], "content": turn["content"] + "".join(f"<tool_call>{c}</tool_call>" for c in calls)}


def build_agent(folder: Path, corpus: Iterable[str] = (), *, hidden: int = 128, layers: int = 3, seed: int = 0) -> Path:
    """Write an untrained model with its tokenizer into a folder."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    tokenizer = _tokenizer(corpus)
    torch.manual_seed(seed)
    config = LlamaConfig(
        vocab_size=len(tokenizer), hidden_size=hidden, intermediate_size=4 * hidden, num_hidden_layers=layers,
        num_attention_heads=4, num_key_value_heads=4, max_position_embeddings=512, initializer_range=0.06,
        tie_word_embeddings=True, pad_token_id=tokenizer.pad_token_id, eos_token_id=tokenizer.eos_token_id,
        bos_token_id=None,
    )  # fmt: skip
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
        vocab_size=400, special_tokens=list(SPECIAL), initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )  # fmt: skip
    tokenizer.train_from_iterator(corpus, trainer)
    tokenizer.add_tokens([AddedToken(mark, normalized=False, special=False) for mark in MARKS])
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token=SPECIAL[0], eos_token=SPECIAL[1],
        additional_special_tokens=list(SPECIAL[2:]), model_max_length=512,
    )  # fmt: skip
    fast.chat_template = TEMPLATE
    return fast
