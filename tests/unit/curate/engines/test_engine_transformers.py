"""The transformers engine on a toy model: seeds, stops, lengths."""

import asyncio
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from curate.engines import Completion, Engine, EngineConfig, PromptTooLong, Request, open_engine
from curate.engines.chat import render
from curate.errors import UserError
from demo.toy import build_toy

pytestmark = [pytest.mark.heavy, pytest.mark.filterwarnings("ignore::DeprecationWarning")]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_toy(tmp_path_factory.mktemp("toy") / "model", layers=1)


@pytest.fixture(scope="module")
def engine(model: Path) -> Iterator[Engine]:
    with open_engine(EngineConfig(model=str(model), engine="transformers", max_tokens=12)) as opened:
        yield opened


def complete(engine: Engine, *requests: Request) -> list[Completion]:
    async def all_of_them() -> list[Completion]:
        return await asyncio.gather(*(engine.complete(request) for request in requests))

    return asyncio.run(all_of_them())


def ask(model: Path, **settings: Any) -> list[Completion]:
    config = EngineConfig(model=str(model), engine="transformers", **{"max_tokens": 12, **settings})
    with open_engine(config) as engine:
        return complete(engine, *(Request("key", n, "3 + 4", n) for n in range(4)))


def test_a_seed_decides_a_completion_in_any_batch(engine: Engine) -> None:
    alone = complete(engine, Request("a", 0, "3 + 4", seed=7))[0]
    # prompts of other lengths make the padding differ
    crowd = complete(engine, *(Request("b", n, "3 + 4" * (1 + n % 3 * (n != 7)), seed=n) for n in range(40)))
    assert crowd[7].text == alone.text
    assert len({completion.text for completion in crowd}) == 40


def test_sampling_follows_the_models_probabilities(engine: Engine, model: Path) -> None:
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer, lm = AutoTokenizer.from_pretrained(model), AutoModelForCausalLM.from_pretrained(model)
    prompt = tokenizer.apply_chat_template(
        [{"role": "user", "content": "3 + 4"}], tokenize=False, add_generation_prompt=True
    )
    tokens = tokenizer.encode(prompt, add_special_tokens=False, return_tensors="pt")
    with torch.inference_mode():
        # sharpened, so that the likeliest token stands out
        expected = (lm(tokens).logits[0, -1] / 0.1).softmax(-1)
    config = EngineConfig(model=str(model), engine="transformers", max_tokens=1, temperature=0.1)
    with open_engine(config) as one_token:
        drawn = complete(one_token, *(Request("a", n, "3 + 4", n) for n in range(600)))
    texts = tokenizer.batch_decode([[token] for token in range(len(expected))])
    # some tokens are bytes that look alike as text
    probabilities = {
        text: float(expected[at]) for at, text in enumerate(texts) if text.isascii() and text.isprintable()
    }
    likeliest = max(probabilities, key=lambda text: probabilities[text])
    share = sum(completion.text == likeliest for completion in drawn) / 600
    probability = probabilities[likeliest]
    assert abs(share - probability) < 4 * (probability * (1 - probability) / 600) ** 0.5


def test_greedy_completions_do_not_depend_on_seeds(model: Path) -> None:
    assert len({completion.text for completion in ask(model, temperature=0.0)}) == 1
    assert ask(model, temperature=0.0)[0].text == ask(model, top_k=1)[0].text


def test_a_stop_text_ends_a_completion_and_is_not_part_of_it(model: Path) -> None:
    whole = ask(model)[0]
    stop = whole.text[3:5]
    cut = ask(model, stop=(stop,))[0]
    assert (cut.text, cut.finish_reason) == (whole.text[: whole.text.index(stop)], "stop")
    assert whole.finish_reason == "length"


def test_a_prompt_beyond_the_context_raises_its_own_error(engine: Engine) -> None:
    with pytest.raises(PromptTooLong, match=r"\+ 12 > 512 tokens"):
        complete(engine, Request("a", 0, "3 + 4" * 200, seed=1))


def with_template(model: Path, folder: Path, template: str) -> Path:
    """The same model with another chat template."""
    shutil.copytree(model, folder)
    (folder / "chat_template.jinja").write_text(template)
    return folder


def test_a_think_block_that_the_template_opens_is_part_of_the_completion(model: Path, tmp_path: Path) -> None:
    opens = with_template(model, tmp_path / "opens", "<|user|>{{ messages[-1].content }}<|assistant|><think>\n")
    assert all(completion.text.startswith("<think>") for completion in ask(opens))


def test_an_empty_think_block_closes_the_one_that_the_template_opened(model: Path, tmp_path: Path) -> None:
    from transformers import AutoTokenizer

    opens = with_template(model, tmp_path / "opens", "<|user|>{{ messages[-1].content }}<|assistant|><think>\n")
    config = EngineConfig(model=str(opens), thinking="off", no_think_by="empty_think", max_tokens=4)
    tokenizer = AutoTokenizer.from_pretrained(opens)
    rendered = render(Request("a", 0, "2 + 2", 0), config, tokenizer)
    assert tokenizer.decode(rendered.tokens) == "<|user|>2 + 2<|assistant|><think>\n\n</think>\n\n"
    assert rendered.prefix == ""


def test_a_chat_template_that_raises_is_one_line_naming_model_and_problem(model: Path, tmp_path: Path) -> None:
    broken = with_template(model, tmp_path / "broken", "{{ raise_exception('no such role') }}")
    with pytest.raises(UserError, match=r"broken: its chat template fails on problem key \(no such role\)"):
        ask(broken)
