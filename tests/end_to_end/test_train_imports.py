"""What a trainer imports: vLLM where it generates, and not the seconds that it costs where it does not."""

import subprocess
import sys

import pytest
from support.places import ROOT

pytestmark = pytest.mark.heavy
PROGRAM = """
import sys
from train.grpo.rollout.generation import import_generation
from train.runs.output.quiet import quiet
quiet()
import_generation(uses_vllm=False)
from train.grpo.trainer import CurriculumGRPOTrainer
from trl.generation import vllm_generation
print("vllm" in sys.modules, hasattr(vllm_generation, "LLM"), vllm_generation.is_vllm_available())
import_generation(uses_vllm=True)
print("vllm" in sys.modules, hasattr(vllm_generation, "LLM"), vllm_generation.is_vllm_available())
from trl.trainer import grpo_trainer
print(grpo_trainer.VLLMGeneration.__init__.__globals__["LLM"] is vllm_generation.LLM)
"""


def test_vllm_is_imported_only_for_the_trainer_that_uses_it() -> None:
    pytest.importorskip("vllm", reason="vLLM is not installed")
    done = subprocess.run([sys.executable, "-c", PROGRAM], cwd=ROOT, capture_output=True, text=True, timeout=110)
    assert done.stdout.splitlines() == ["False False False", "True True True", "True"], done.stderr[-2000:]
