"""Programs may use numpy where it is installed, and an array earns nothing by its claims."""

import json

import pytest

from curate.verify.code.grade import verify_code
from curate.verify.code.sandbox import available_packages
from curate.verify.policy import Policy
from curate.verify.verdict import Verdict

pytestmark = pytest.mark.skipif("numpy" not in available_packages(), reason="no numpy for the sandbox's Python")

# the check of HumanEval+ in its shape
PLUS = """
import numpy as np
def is_floats(x):
    return isinstance(x, float) or (isinstance(x, list) and all(isinstance(i, float) for i in x))
def assertion(out, exp, atol):
    exact_match = out == exp
    if atol == 0 and is_floats(exp): atol = 1e-6
    if not exact_match and atol != 0: assert np.allclose(out, exp, rtol=1e-07, atol=atol)
    else: assert exact_match
def check(candidate):
    for given, wanted in zip([[2], [3]], [4.0, 9.0]): assertion(candidate(*given), wanted, 0)
check(f)
"""


def verify(source: str, test: str, *names: str) -> Verdict:
    tests = {"style": "assert", "tests": [test], "entry_points": names or ["f"]}
    return verify_code(f"```python\n{source}\n```", json.dumps(tests), Policy(code_timeout_s=4))


@pytest.mark.parametrize(
    ("source", "test"),
    [
        ("import numpy as np\ndef f(x): return np.array(x) * 2", "assert f([1, 2]) == [2, 4]"),
        ("import numpy as np\ndef f(x): return np.array(x) * 2", "import numpy as np\nassert f([1, 2]).shape == (2,)"),
        ("import numpy as np\ndef f(x): return x @ x.T", "import numpy as np\na = np.eye(2)\nassert (f(a) == a).all()"),
        ("def f(a): a[0] = 5", "import numpy as np\na = np.zeros(2)\nf(a)\nassert a.tolist() == [5, 0]"),
        ("import numpy as np\ndef f(x): return np.mean(x)", "import numpy as np\nassert np.isclose(f([1, 2]), 1.5)"),
        ("def f(x): return x * x", PLUS),
        ("import numpy as np\ndef f(x): return np.array(['a', x])", "import numpy as np\nassert f('b')[1] == 'b'"),
    ],
)
def test_arrays_arrive_as_arrays(sandboxed: None, source: str, test: str) -> None:
    assert verify(source, test).reason == "tests_passed"


def test_results_of_calls_are_lists(sandboxed: None) -> None:
    tests = {"style": "call", "entry_point": "f", "tests": [{"args": [2], "output": [0, 1]}]}
    source = "import numpy as np\ndef f(n): return np.arange(n)"
    assert verify_code(f"```python\n{source}\n```", json.dumps(tests)).reason == "tests_passed"


LIAR = """
import numpy as np
class Liar(np.ndarray):
    def __eq__(self, other): return True
    def __sub__(self, other): return np.zeros(1)
    def __reduce__(self): return (eval, ("1/0",))
    def __array__(self, *args, **kwargs): return np.zeros(1)
    def tolist(self): return [5]
"""
FAKE = "class A: pass\nA.__module__, A.__name__ = 'numpy', 'ndarray'\ndef f(x): return A()"
TESTS = [
    PLUS,
    "import numpy as np\nassert np.abs(f(2) - np.float64(4)) < 1e-6 or (np.array(f(2)) == 4).all() and np.size(f(2))",
    "import numpy as np\nassert np.allclose(f(2), 4) or np.isclose(f(2), 4).all()\nnp.testing.assert_allclose(f(2), 4)",
]
CHEATS = [
    f"{LIAR}\ndef f(x): return np.ones(1).view(Liar)",
    f"{LIAR}\nLiar.__module__ = 'numpy'\ndef f(x): return np.ones(1).view(Liar)",
    f"{FAKE}\nA.tolist, A.dtype = (lambda a: A()), 'object'",
    f"{FAKE}\nA.tolist, A.dtype = (lambda a: [1]), 'U9999999999'",
    f"{FAKE}\nA.__array_ufunc__, A.__array_priority__, A.__len__ = (lambda *a, **k: True), 99, (lambda a: 0)",
    "import numpy as np\nnp.allclose = np.isclose = lambda *a, **k: True\ndef f(x): return 5",
    "import numpy as np\ndef f(x): return np.array([])",
    "def f(x): return []",
    "import numpy as np\ndef f(x): return np.array([np.nan])",
    "import numpy as np\ndef f(x): return np.array(None)",
]


@pytest.mark.parametrize("test", TESTS)
def test_an_array_that_lies_earns_nothing(sandboxed: None, test: str) -> None:
    accepted = [source for source in CHEATS if verify(source, test).verdict == "correct"]
    assert accepted == []
