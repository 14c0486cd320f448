"""An environment of the base alone: what needs no model works, and what is missing is named with its extra."""

import json
import os
import subprocess
import sys
from importlib.metadata import distribution
from pathlib import Path

import pytest
from support.places import ROOT
from test_pins import PROJECT, script

from curate.parts import PARTS


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of links to the packages that the base requires, in place of site-packages."""
    folder = tmp_path_factory.mktemp("base")
    needed = script().closure(PROJECT["dependencies"], ".".join(map(str, sys.version_info[:2])))
    for name in (*needed, PROJECT["name"]):
        found = distribution(name)
        tops = {file.parts[0] for file in found.files or ()} - {"..", "__pycache__"}
        # of gradus itself its version alone; its packages are those of this checkout
        for top in tops if name in needed else {top for top in tops if top.endswith((".dist-info", ".egg-info"))}:
            if (source := Path(str(found.locate_file(top)))).exists() and not (folder / top).exists():
                (folder / top).symlink_to(source)
    return folder


def gradus(base: Path, *words: str | Path) -> subprocess.CompletedProcess[str]:
    program = "import sys; sys.argv[0] = 'gradus'; import gradus; gradus.main()"
    environment = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{base}", "HF_HUB_OFFLINE": "1"}
    command = [sys.executable, "-S", "-c", program, *words]
    return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=110, cwd=base)


@pytest.fixture(scope="module")
def curated(base: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A pool through the stages that need no model, and difficulty with scripted answers, with the base alone."""
    folder = tmp_path_factory.mktemp("run")
    rows = [
        {"question": f"Ann has {n} figs and buys {n * n} more. How many?", "answer": n + n * n} for n in range(2, 40)
    ]
    (folder / "pool.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "held_out.jsonl").write_text(json.dumps({"question": "What is 15 times 17?", "answer": 255}) + "\n")
    (folder / "pipeline.yaml").write_text(
        f"sources: [{{path: {folder / 'pool.jsonl'}}}]\n"
        "stages:\n  dedup:\n  multiple-choice:\n  verifiable:\n"
        f"  decontaminate: {{against: [{folder / 'held_out.jsonl'}]}}\n"
    )
    done = gradus(base, "curate", "run", folder / "pipeline.yaml", "--out", folder / "out")
    assert done.returncode == 0, done.stderr
    (folder / "answers.json").write_text(json.dumps({"*": [{"text": "\\boxed{6}"}, {"text": "\\boxed{12}"}]}))
    asked = ["--script", folder / "answers.json", "--keep", "0..8"]
    done = gradus(base, "curate", "difficulty", folder / "out" / "verifiable", "--out", folder / "measured", *asked)
    assert done.returncode == 0, done.stderr
    return folder / "out"


def test_the_base_has_none_of_the_optional_libraries(base: Path) -> None:
    found = {library for libraries in PARTS.values() for library in libraries if (base / library).exists()}
    assert not found


@pytest.mark.parametrize(
    "words",
    [
        ("curate", "funnel", "RUN"),
        ("card", "build", "RUN", "--out", "o"),
        ("curriculum", "simulate", "MEASURED", "--steps", "5"),
        ("train", "explain"),
    ],
)
def test_the_stages_without_a_model_the_curriculum_and_the_cards_need_the_base_alone(
    base: Path, curated: Path, tmp_path: Path, words: tuple[str, ...]
) -> None:
    places = {"RUN": curated, "MEASURED": curated.parent / "measured", "o": tmp_path / "o"}
    done = gradus(base, *(str(places.get(word, word)) for word in words))
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("words", "library", "extra"),
    [
        (("train", "grpo", "--model", "m", "--data", "d", "--out", "o"), "accelerate", "train"),
        (("train", "sft", "--model", "m", "--data", "d", "--out", "o"), "accelerate", "train"),
        (("curate", "review", "CURATED"), "fastapi", "review"),
        (("curate", "difficulty", "CURATED", "--out", "o", "--model", "m"), "torch", "train"),
        (("curate", "difficulty", "CURATED", "--out", "o", "--model", "m", "--engine", "vllm"), "vllm", "vllm"),
        (("train", "evaluate", "--model", "m", "--data", "POOL", "--out", "o"), "torch", "train"),
        (("curate", "verifiable", "CURATED", "--out", "o", "--executor", "ray"), "ray", "ray"),
    ],
)
def test_a_command_whose_part_is_missing_names_the_extra(
    base: Path, curated: Path, tmp_path: Path, words: tuple[str, ...], library: str, extra: str
) -> None:
    places = {"CURATED": curated / "verifiable", "POOL": curated.parent / "pool.jsonl", "o": tmp_path / "o"}
    done = gradus(base, *(str(places.get(word, word)) for word in words))
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1, done.stderr
    assert f"needs {library}, which is not installed; pip install 'gradus-rlvr[{extra}]'" in done.stderr
