"""The cost of hostile answers: bounded time and memory, no effect on other pairs, no processes left behind."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from curate.verify import Item, Policy, verify, verify_many
from curate.verify.symbolic.pool import WORKERS, ask_many

HOSTILE = [
    ("7", "9^{9^{9^{9}}}"),
    ("720", "(((10!)!)!)!"),
    ("5", r"\binom{1000000000}{500000000}"),
    ("x", "(x+y+z+w)^{60}-(x+y+z+w)^{59}"),
    ("7", "(" * 500 + "7" + ")" * 501),
    ("7", "7" + "!" * 900),
    ("7", "-" * 901 + "7"),
    ("7", "1/" * 400 + "7"),
    ("7", r"\sqrt{" * 300 + "7" + "}" * 300),
    ("7", "x^" * 300 + "7"),
    ("7", r"\exp(\exp(\exp(100)))"),
    ("7", "e^{e^{e^{e^{e}}}}"),
    ("7", r"10^{-10^{9}}"),
    ("7", "1000000!"),
    ("7", "9" * 100_000),
    ("0", "e^{-10^{9}}"),
    ("1", r"\cos(10^{300000})"),
    ("5", "{" * 5000),
    ("5", "a+" * 999 + "a"),
    ("5", r"\frac{" * 900),
    ("2^{1/3}", "2^{" + "1" * 390 + "/3}"),
    ("1", r"\log_{1.0000000000000000001} 10^{1000}"),
]
MILLION = 1_000_000
LONG = {
    "letters": "a" * MILLION,
    "digits in a box": "\\boxed{" + "9" * MILLION + "}",
    "open braces": "{" * MILLION,
    "open boxes": "\\boxed{" * (MILLION // 7),
    "other boxes": "".join(f"\\boxed{{{n}}}" for n in range(60_000)),
    "backslashes": "\\" * MILLION,
    "spaces": " " * MILLION,
    "lines": "\n" * MILLION,
    "claims": "the answer is 8\n" * (MILLION // 16),
    "claims in a row": "answer is " * (MILLION // 10),
    "hashes": "#### 8\n" * (MILLION // 7),
    "thoughts": "<think>" * (MILLION // 7),
    "tags": "<answer>" * (MILLION // 8),
    "objects": '{"answer":' * (MILLION // 10),
    "brackets": "[" * MILLION,
    "null bytes": "\x00" * MILLION,
    "entities": "\\boxed{" + "&amp;" * (MILLION // 5) + "}",
    "stops": "<|im_end|> " * (MILLION // 11),
}
CODE = [
    "__import__('os').system('touch {path}')",
    "().__class__.__bases__[0].__subclasses__()",
    "exec(\"open('{path}','w')\")",
    "\\text{{}}+open('{path}','w').write('x')",
    "\\int_0^1 __import__('os').system('touch {path}') dx",
    '\\sum_{{k=1}}^{{2}} eval(\'open("{path}","w")\')',
    "\\lim_{{x\\to 0}} \\operatorname{{__import__('pathlib').Path('{path}').touch()}}",
]


@pytest.mark.parametrize(("truth", "answer"), HOSTILE)
def test_a_hostile_answer_is_refused_in_time(truth: str, answer: str) -> None:
    verdict = verify_many([Item(answer, truth, is_bare=True)])[0]
    assert verdict.verdict == "wrong"
    assert verdict.ms < 2_200


@pytest.mark.parametrize("kind", LONG)
def test_a_million_characters_are_decided_in_time(kind: str) -> None:
    start_s = time.process_time()  # other work on the machine does not count
    verdict = verify(LONG[kind], "7")
    assert time.process_time() - start_s < 2.2
    assert verdict.verdict == "wrong"
    assert verdict.reason != "worker_crash"


@pytest.mark.parametrize("noise", ["\x00", "\u202e", "\u200b" * 900, "\ufeff", "\ud800", "\u0301"])
def test_invisible_characters_break_nothing(noise: str) -> None:
    for completion in (f"{noise}\\boxed{{7}}{noise}", f"\\boxed{{{noise}7{noise}}}", noise):
        assert verify(completion, "8").verdict == "wrong"
        assert verify(completion, "7").reason != "worker_crash"


@pytest.mark.parametrize("truth", ["9^{9^{9^{9}}}", "1" * 3000, "(" * 300 + "1" + ")" * 300])
def test_a_truth_beyond_the_limits_equals_only_its_own_string(truth: str) -> None:
    assert verify(f"\\boxed{{{truth}}}", truth).verdict == "correct"
    assert verify("\\boxed{7}", truth).verdict != "correct"


@pytest.mark.parametrize("template", CODE)
def test_code_in_an_answer_is_never_executed(template: str, tmp_path: Path) -> None:
    answer = template.format(path=tmp_path / "touched")
    for verdict in verify_many([Item(answer, "0", is_bare=True), Item(f"\\boxed{{{answer}}}", "0")]):
        assert verdict.verdict != "correct"
    assert not list(tmp_path.iterdir())


def test_a_hanging_pair_is_killed_without_effect_on_others() -> None:
    hanging = Item(r"\boxed{\sum_{k=1}^{10^{12}} \sin(k^2)}", "5")
    good = [Item(rf"\boxed{{\sum_{{k=1}}^{{{n}}} k}}", str(n * (n + 1) // 2)) for n in range(3, 9)]
    policy = Policy(timeout_s=1.0)
    verdicts = verify_many([*good[:3], hanging, *good[3:]], policy=policy, workers=2)
    assert [v.verdict for v in verdicts] == ["correct"] * 3 + ["undecided"] + ["correct"] * 3
    assert verdicts[3].reason == "timeout"
    assert verdicts[3].ms < 2_200


def test_a_time_out_is_wrong_only_under_its_policy() -> None:
    completion = r"\boxed{\prod_{k=1}^{10^{10}} (k^k+1)}"
    policy = Policy(timeout_s=0.3, answer_overrun="wrong")
    assert verify(completion, "5", policy=policy).verdict == "wrong"


def test_a_pair_beyond_its_memory_is_reported_and_the_next_is_decided() -> None:
    # memory is sampled: a pair that ends between two samples may exceed the limit unseen
    endless = ("5", r"\sum_{k=1}^{10^{12}} \sin(k^2)")
    assert ask_many([endless], Policy(max_memory_mb=32))[0][0] == "memory"
    assert ask_many([("3", r"\sum_{k=1}^{2} k")], Policy())[0][0] == "equal"


@pytest.mark.parametrize(
    ("truth", "answer", "verdict"),
    [
        ("\\frac{\\pi^2}{6}", r"\sum_{n=1}^{\infty}\frac{1}{n^2}", "correct"),
        ("3", r"\lim_{x\to 0}\frac{\sin 3x}{x}", "correct"),
        ("4", r"\lim_{x\to 0}\frac{\sin 3x}{x}", "wrong"),
        ("2x", r"\frac{d}{dx}x^2", "correct"),
        ("3x", r"\frac{d}{dx}x^2", "wrong"),
        ("55", r"\sum_{k=1}^{10} k", "correct"),
        ("3", r"\sum_{k=1}^{2} k \text{ or } 9", "not correct"),
        ("3", r"9 + \sum_{k=1}^{2} k", "wrong"),
        ("3", r"\sum_{k=1}^{2} k, 9", "not correct"),
        ("0", r"\sum_{k=1}^{2} 2^{-100}", "wrong"),
        ("e^{-1000}", r"\int_{1000}^{\infty} e^{-x} dx", "correct"),
    ],
)
def test_sums_limits_and_integrals_are_evaluated(truth: str, answer: str, verdict: str) -> None:
    found = verify(f"\\boxed{{{answer}}}", truth, policy=Policy(timeout_s=60)).verdict
    assert found == verdict or (verdict == "not correct" and found != "correct")


def test_workers_are_reaped() -> None:
    verify(r"\boxed{\int_0^1 x dx}", "\\frac12")
    WORKERS.close()
    children = Path(f"/proc/self/task/{threading.get_native_id()}/children").read_text().split()
    states = [Path(f"/proc/{child}/stat").read_text().rpartition(")")[2].split()[0] for child in children]
    assert "Z" not in states


def test_any_thread_may_verify() -> None:
    verdicts: list[str] = []

    def work() -> None:
        items = [
            Item(r"\boxed{\int_0^1 2x dx}", "1"),
            Item("\\boxed{\\frac{1}{3}}", "1/3"),
            Item("\\boxed{\\sqrt8}", "2\\sqrt2"),
        ]
        verdicts.extend(v.verdict for v in verify_many(items))

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert verdicts == ["correct"] * 18


def test_a_script_without_a_main_guard_is_not_run_again_by_the_workers(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "from curate.verify import verify\nprint('once')\nprint(verify(r'\\boxed{\\int_0^1 x dx}', '1/2').verdict)\n"
    )
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.split() == ["once", "correct"]
    assert not done.stderr


def test_importing_the_verifier_loads_no_symbolic_library() -> None:
    heavy = "sorted(set(sys.modules) & {'sympy', 'math_verify', 'latex2sympy2_extended', 'torch'})"
    code = f"import sys, curate.verify as v; v.verify('\\\\boxed{{\\\\sqrt8}}', '2\\\\sqrt2'); print({heavy})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == "[]"
