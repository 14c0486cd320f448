"""The entry point: fast, light, with a message for a shadowed package; every command's help has an example."""

import importlib
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.core import TyperGroup

import gradus

ROOT = Path(gradus.__file__).resolve().parents[1]
HEAVY = ("torch", "transformers", "trl", "vllm", "ray", "datasets", "sympy", "math_verify", "matplotlib", "datasketch")


def run(*words: str, cwd: Path = ROOT, path: Path = ROOT) -> subprocess.CompletedProcess[str]:
    program = "import sys; sys.argv[0] = 'gradus'; import gradus; gradus.main()"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(dict.fromkeys([str(path), str(ROOT)]))}
    return subprocess.run(
        [sys.executable, "-c", program, *words], capture_output=True, text=True, cwd=cwd, env=environment, timeout=60
    )


def modules_after(*words: str) -> set[str]:
    program = (
        "import json, sys, atexit; sys.argv[0] = 'gradus'\n"
        "atexit.register(lambda: print('\\n' + json.dumps(sorted(sys.modules))))\n"
        "import gradus; gradus.main()"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", program, *words], capture_output=True, text=True, check=True, env=environment, timeout=60
    )
    return set(json.loads(done.stdout.splitlines()[-1]))


@pytest.mark.parametrize("words", [("--help",), *((room, "--help") for room in gradus.ROOMS)])
def test_help_imports_nothing_heavy(words: tuple[str, ...]) -> None:
    assert modules_after(*words).isdisjoint(HEAVY)


def test_help_of_the_entry_point_imports_no_room() -> None:
    assert modules_after("--help").isdisjoint(f"{room.package}.commands" for room in gradus.ROOMS.values())


@pytest.mark.parametrize("package", [room.package for room in gradus.ROOMS.values()])
def test_a_file_that_hides_a_room_is_named(package: str, tmp_path: Path) -> None:
    (tmp_path / f"{package}.py").write_text("print('I am a user\\'s own script')\n")
    (tmp_path / "elsewhere").mkdir()
    done = run("--help", path=tmp_path, cwd=tmp_path / "elsewhere")
    assert done.returncode == 1
    assert done.stderr.strip() == (
        f"gradus: {tmp_path / package}.py: hides gradus' own package '{package}'; rename it or take it off PYTHONPATH"
    )


def test_a_users_train_script_in_the_working_folder_does_not_shadow_the_room(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("raise SystemExit('wrong train')\n")
    script = Path(sys.executable).with_name("gradus")
    if not script.exists():
        pytest.skip("gradus is not installed beside this Python")
    done = subprocess.run([script, "--help"], capture_output=True, text=True, cwd=tmp_path, timeout=60)
    assert done.returncode == 0


def commands() -> Iterator[tuple[str, Any]]:  # Any: click's Command, which typer does not export
    for name, room in gradus.ROOMS.items():
        yield from walk(
            f"gradus {name}", typer.main.get_command(importlib.import_module(f"{room.package}.commands").app)
        )


def walk(path: str, command: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(command, TyperGroup):
        for name, inner in command.commands.items():
            yield from walk(f"{path} {name}", inner)
    else:
        yield path, command


COMMANDS = dict(commands())


def test_every_room_has_commands() -> None:
    assert {path.split()[1] for path in COMMANDS} == set(gradus.ROOMS)


@pytest.mark.parametrize("path", COMMANDS)
def test_every_command_has_help_that_ends_with_an_example_of_itself(path: str) -> None:
    text = COMMANDS[path].help or ""
    example = text.strip().split("Example:")
    assert len(example) > 1, f"{path}: no Example line"
    assert example[-1].split()[: len(path.split())] == path.split()
    assert len(example[0].strip()) > 20


@pytest.mark.parametrize("path", COMMANDS)
def test_every_option_of_an_example_exists_and_every_option_has_help(path: str) -> None:
    known = {name for option in COMMANDS[path].params for name in [*option.opts, *option.secondary_opts]}
    used = set(re.findall(r"(?<=\s)--[a-z][a-z0-9-]*", (COMMANDS[path].help or "").split("Example:")[-1]))
    assert used <= known
    silent = [option.name for option in COMMANDS[path].params if not getattr(option, "help", None)]
    assert silent == []


def test_waiting_threads_spin_briefly_unless_the_user_overrides_it() -> None:
    program = (
        "import os, sys; sys.argv = ['gradus', '--help']; import gradus\n"
        "try: gradus.main()\nfinally: print(os.environ['GOMP_SPINCOUNT'], file=sys.stderr)"
    )
    for given, wanted in (({}, "10000"), ({"GOMP_SPINCOUNT": "7"}, "7")):
        environment = {name: value for name, value in os.environ.items() if name != "GOMP_SPINCOUNT"} | given
        done = subprocess.run(
            [sys.executable, "-c", program], env=environment, cwd=ROOT, capture_output=True, text=True, timeout=60
        )
        assert done.stderr.split() == [wanted]


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (("curat",), "gradus: curat: no such room; did you mean curate"),
        (("curate", "dedupp"), "gradus: no such command 'dedupp'. Did you mean 'dedup'? see gradus curate --help"),
        (("curate", "dedup"), "gradus: missing argument 'pool'; see gradus curate dedup --help"),
        (("curate", "dedup", "--nope", "x"), "gradus: no such option: --nope "),
        (("curate", "dedup", "x", "--out"), "gradus: option '--out' requires an argument; see the command's --help"),
        (
            ("curate", "dedup", "x", "y", "--out", "z"),
            "gradus: got unexpected extra argument(s) (y); see gradus curate",
        ),
        (("train", "grpo", "--max-steps", "abc"), "gradus: invalid value for '--max-steps': "),
        (("--nope",), "gradus: no such option: --nope"),
    ],
)
def test_a_command_line_that_cannot_be_parsed_is_one_line_that_names_the_help(
    words: tuple[str, ...], line: str
) -> None:
    done = run(*words)
    assert (done.returncode, done.stderr.count("\n"), done.stdout) == (2, 1, "")
    assert done.stderr.startswith(line)
    assert words[0] == "curat" or done.stderr.rstrip().endswith("--help")


def test_a_room_without_a_command_shows_its_help() -> None:
    for words in ((), ("curate",)):
        done = run(*words)
        assert done.returncode == 2
        assert "Commands:" in done.stderr


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (("curate", "dedup", "nowhere", "--out", "out"), "gradus: nowhere: no such folder; give the folder"),
        (
            ("curate", "dedup", "a.jsonl", "--out", "out"),
            "gradus: a.jsonl: is a file; import it with `gradus curate ing",
        ),
        (("curate", "run", "nowhere.yaml", "--out", "out"), "gradus: nowhere.yaml: no such file; give the path"),
        (("curate", "ingest", "nowhere.jsonl", "--out", "out"), "gradus: nowhere.jsonl: no such file or folder"),
        (("curate", "funnel", "nowhere"), "gradus: nowhere: holds no artifacts"),
        (("curate", "dedup", ".", "--out", "out", "--threshold", "7"), "gradus: --threshold is "),
    ],
)
def test_a_users_mistake_is_one_line_and_exit_1(words: tuple[str, ...], line: str, tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"question": "1 + 1?", "answer": "2"}')
    done = run(*words, cwd=tmp_path)
    assert done.returncode == 1
    assert done.stderr.startswith(line)
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "out").exists()
