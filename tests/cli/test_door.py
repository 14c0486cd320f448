"""The door's own options, its exit codes and `gradus doctor`."""

import json
import os
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest
from support.places import ROOT
from test_optional_parts import base, gradus

from curate.doctor import examine

__all__ = ["base"]  # the fixture of an environment without the optional libraries


def module(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "PYTHONPATH": str(ROOT), **environment}
    return subprocess.run([sys.executable, "-m", "gradus", *words], capture_output=True, text=True, env=env, timeout=60)


def test_the_module_runs_as_the_command_does() -> None:
    done = module("--version")
    assert (done.returncode, done.stdout) == (0, f"gradus {version('gradus-rlvr')}\n")
    assert module("-h").stdout.startswith("Usage: gradus [OPTIONS]")


@pytest.mark.parametrize("words", [("curate",), ("curate", "dedup"), ("train", "grpo"), ("doctor",)])
def test_h_is_help_everywhere(words: tuple[str, ...]) -> None:
    assert module(*words, "-h").stdout == module(*words, "--help").stdout != ""


@pytest.mark.parametrize(
    ("words", "expected"),
    [("gradus cur", {"curate", "curriculum"}), ("gradus curate de", {"decontaminate", "dedup"}),
     ("gradus curate dedup --thr", {"--threshold"})],
)  # fmt: skip
def test_the_shell_completes_rooms_commands_and_options(words: str, expected: set[str]) -> None:
    asked = {"_GRADUS_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(words.count(" "))}
    assert set(module(**asked).stdout.split()) == expected


def test_doctor_reports_each_part_and_is_well_here() -> None:
    done = module("doctor", "--json")
    findings = {found["name"]: found for found in json.loads(done.stdout)}
    assert done.returncode == int(any(found["state"] == "wrong" for found in findings.values()))
    assert {"python", "[train]", "[vllm]", "sandbox", "hub", "machine", "disk"} <= findings.keys()
    assert findings["[train]"]["state"] == "ok"
    assert f"torch {version('torch')}" in findings["[train]"]["found"]
    assert all(found["advice"] for found in findings.values() if found["state"] != "ok")


def test_doctor_works_in_the_base_and_names_what_is_absent(base: Path) -> None:  # the fixture
    done = gradus(base, "doctor")
    assert done.returncode == 0, done.stderr
    assert "absent  [train]" in done.stdout
    assert "pip install 'gradus-rlvr[train]' adds `gradus train`" in done.stdout


def test_doctor_never_prints_a_token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    findings = {found.name: found for found in examine()}
    assert findings["hub"].state == "ok"
    assert "secret" not in str(findings)
