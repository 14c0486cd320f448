"""The accelerate configurations that Gradus ships: accelerate reads each, and a wrong name is one line."""

import pytest

from curate.errors import UserError
from gradus import app
from train.runs.launch import FOLDER, config_names


@pytest.mark.heavy
@pytest.mark.parametrize("name", config_names())
def test_accelerate_reads_every_field_of_a_configuration(name: str) -> None:
    from accelerate.commands.config.config_args import load_config_from_file

    # it raises on an unknown key
    read = load_config_from_file(str(FOLDER / f"{name}.yaml"))
    assert read.num_processes >= 2
    # MULTI_CPU would start one process: `tests/end_to_end/test_train_two_processes.py` counts them
    wanted = {"fsdp": "FSDP", "zero": "DEEPSPEED", "ddp": "MULTI_GPU", "cpu": "MULTI_GPU"}
    assert read.distributed_type == next(kind for start, kind in wanted.items() if name.startswith(start))


@pytest.mark.heavy
@pytest.mark.parametrize("name", config_names())
def test_accelerate_would_launch_gradus_by_a_configuration(name: str) -> None:
    from accelerate.commands.launch import _validate_launch_command, launch_command_parser

    words = ["--config_file", str(FOLDER / f"{name}.yaml"), "--no_python", "gradus", "train", "grpo"]
    given = launch_command_parser().parse_args(words)
    settled, _, _ = _validate_launch_command(given)
    assert settled.no_python
    assert settled.num_processes >= 2
    assert settled.use_fsdp == name.startswith("fsdp")
    assert settled.use_deepspeed == name.startswith("zero")


def test_a_configuration_is_printed_unchanged(capsys: pytest.CaptureFixture[str]) -> None:
    app(["train", "accelerate-config", "fsdp"], standalone_mode=False)
    assert capsys.readouterr().out == (FOLDER / "fsdp.yaml").read_text()
    app(["train", "accelerate-config"], standalone_mode=False)
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == config_names()
    with pytest.raises(UserError, match="did you mean zero3"):
        app(["train", "accelerate-config", "zero4"], standalone_mode=False)
