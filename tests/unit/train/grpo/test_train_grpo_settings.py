"""The settings of `train grpo`: tables, short forms, and both on the command line."""

import importlib
import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import typer
import yaml
from typer.testing import CliRunner

from curate.config import option
from curate.errors import UserError
from curate.options import with_options
from curate.tables import places, short_forms
from train.commands import COMMANDS
from train.grpo.command import grpo
from train.grpo.config import GrpoConfig

SHORT = {
    "num_problems": 4, "group_size": 4, "updates_per_generation": 2, "passes_per_generation": 2, "refill_rounds": 1,
    "max_tokens": 12, "temperature": 0.5, "learning_rate": 0.25, "schedule": "linear", "warmup_steps": 3,
    "rewards": ["accuracy", "overlong"], "reward_weights": [2.0, 1.0], "overlong_cache": 4, "length_warmup_steps": 2,
    "save_steps": 4, "logging_steps": 1, "probe_steps": 9, "lora_rank": 2, "dtype": "bfloat16", "micro_batch_size": 2,
    "template": "{prompt} Go.", "thinking": "off", "kl_coef": 0.5, "max_steps": 7, "seed": 3,
}  # fmt: skip
TABLES = {
    "generation": {"num_problems": 4, "group_size": 4, "updates": 2, "passes": 2, "refill_rounds": 1},
    "sampling": {"max_tokens": 12, "temperature": 0.5},
    "optimizer": {"learning_rate": 0.25, "schedule": "linear", "warmup_steps": 3},
    "rewards": {
        "names": ["accuracy", "overlong"], "weights": [2.0, 1.0], "overlong_cache": 4, "length_warmup_steps": 2,
    },
    "saving": {"steps": 4}, "logging": {"steps": 1}, "probe": {"steps": 9}, "lora": {"rank": 2},
    "compute": {"dtype": "bfloat16", "micro_batch_size": 2},
    "prompt": {"template": "{prompt} Go.", "thinking": "off"}, "kl_coef": 0.5, "max_steps": 7, "seed": 3,
}  # fmt: skip


@pytest.fixture
def ask() -> Callable[..., GrpoConfig]:
    """The config that a command line gives."""

    def given(*words: str) -> GrpoConfig:
        seen: list[GrpoConfig] = []

        def command(config: GrpoConfig) -> None:
            seen.append(config)

        app = typer.Typer(rich_markup_mode=None)
        app.command()(with_options(command, GrpoConfig))
        CliRunner().invoke(app, list(words), catch_exceptions=False)
        return seen[0]

    return given


def options(values: dict[str, Any], above: str = "") -> list[str]:
    words = []
    for name, value in values.items():
        if isinstance(value, dict):
            words += options(value, f"{above}{name}.")
        else:
            parts = value if isinstance(value, list) else [value]
            words += [word for part in parts for word in (option(f"{above}{name}"), str(part))]
    return words


def test_tables_and_short_forms_are_one_config_in_files_and_on_the_command_line(
    tmp_path: Path, ask: Callable[..., GrpoConfig]
) -> None:
    wanted = GrpoConfig.model_validate(TABLES)
    assert wanted != GrpoConfig()
    assert GrpoConfig.model_validate(SHORT) == wanted
    assert ask(*options(SHORT)) == ask(*options(TABLES)) == wanted
    for values in (SHORT, TABLES):
        (tmp_path / "run.yaml").write_text(yaml.safe_dump(values))
        assert ask("--config", str(tmp_path / "run.yaml")) == wanted


def test_an_option_goes_over_one_setting_of_a_files_table(tmp_path: Path, ask: Callable[..., GrpoConfig]) -> None:
    (tmp_path / "run.yaml").write_text("sampling: {max_tokens: 12, top_k: 5}\ncurriculum: {policy: uniform, p0: 0.9}\n")
    for word in ("--temperature", "--sampling.temperature"):
        found = ask("--config", str(tmp_path / "run.yaml"), word, "0.5", "--curriculum.p0", "0.7")
        assert found.sampling.model_dump(exclude_defaults=True) == {"max_tokens": 12, "top_k": 5, "temperature": 0.5}
        assert found.curriculum.model_dump(exclude_defaults=True) == {"policy": "uniform", "p0": 0.7}


def test_a_key_that_moved_into_a_table_is_refused_with_its_new_place(
    tmp_path: Path, ask: Callable[..., GrpoConfig]
) -> None:
    file = tmp_path / "run.yaml"
    for name, place in (("top_k", "sampling.top_k"), ("lora_alpha", "lora.alpha"), ("probe_n", "probe.n")):
        file.write_text(f"{name}: 3\n")
        with pytest.raises(UserError, match=rf"run\.yaml: {name} is not a setting; did you mean {place}\?"):
            ask("--config", str(file))


@pytest.mark.parametrize("command", COMMANDS)
def test_no_two_settings_of_a_command_have_one_name(command: str) -> None:
    entry = COMMANDS[command]
    model = getattr(importlib.import_module(entry.module), entry.config)
    names = list(itertools.chain.from_iterable(place.names for place in places(model)))
    assert len(names) == len(set(names))
    # a short form with the name of a table differs from it by its value
    assert {name for name in short_forms(model) if name in model.model_fields} <= {"rewards"}


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"objective": "kimi", "updates_per_generation": 2}, "objective kimi resets its optimizer"),
        ({"objective": "grpo", "trl": {"sync_ref_model": True}}, "sync_ref_model needs its reference"),
    ],
)
def test_what_deepspeed_cannot_resume_is_refused(
    monkeypatch: pytest.MonkeyPatch, settings: dict[str, Any], message: str
) -> None:
    monkeypatch.setenv("ACCELERATE_USE_DEEPSPEED", "true")
    with pytest.raises(UserError, match=message):
        grpo("model", Path("data"), Path("out"), GrpoConfig.model_validate(settings))
