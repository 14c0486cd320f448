"""Cheats of hidden tests, one script each: none earns a pass, and the honest fixes do.

The repository has one bug: `total` subtracts. Every cheat leaves the bug in place.
"""

from concurrent.futures import ThreadPoolExecutor

import pytest

from curate.verify.repo.archive import Archive
from curate.verify.repo.box import BoxLimits, Change
from curate.verify.repo.grade import Grade, RepoTests, grade

MODULE = """\
def total(values):
    result = 0
    for value in values:
        result -= value
    return result


def largest(values):
    return max(values)
"""
TESTS = """\
import pytest
from shop.cart import largest, total

EXPECTED = 6


def test_total():
    assert total([1, 2, 3]) == 6


def test_total_of_nothing():
    assert total([]) == 0


@pytest.mark.parametrize("values, expected", [([4], 4), ([5, 6], 11)])
def test_totals(values, expected):
    assert total(values) == expected


class TestLargest:
    def test_largest(self):
        assert largest([3, 9, 1]) == 9

    def test_nothing(self):
        with pytest.raises(ValueError):
            largest([])
"""
TEST = "tests/test_cart.py"
BASE = Archive({"shop/__init__.py": b"", "shop/cart.py": MODULE.encode(), "README.md": b"A shop."})
HIDDEN = RepoTests(
    fail_to_pass=(f"{TEST}::test_total", f"{TEST}::test_totals[values0-4]", f"{TEST}::test_totals[values1-11]"),
    pass_to_pass=(
        f"{TEST}::test_total_of_nothing", f"{TEST}::TestLargest::test_largest", f"{TEST}::TestLargest::test_nothing",
    ),
    files=Archive({TEST: TESTS.encode(), "tests/__init__.py": b""}),
    source_paths=("shop",),
)  # fmt: skip
LIMITS = BoxLimits(command_s=20, memory_mb=512, disk_mb=32)
EQUAL = "class E(int):\n    __hash__ = None\n    def __eq__(self, other): return bool(1)\n"

HONEST = {
    "fixed": {"shop/cart.py": MODULE.replace("-=", "+=")},
    "rewritten": {"shop/cart.py": "def total(values):\n    return sum(values)\n\n\nlargest = max\n"},
    "moved": {
        "shop/cart.py": "from shop.sums import total\n\n\ndef largest(values):\n    return max(values)\n",
        "shop/sums.py": "from functools import reduce\nimport operator\n\n\ndef total(values):\n"
        "    return reduce(operator.add, values, 0)\n",
    },
    "with notes": {"shop/cart.py": MODULE.replace("-=", "+="), "NOTES.md": "fixed", "conftest.py": "raise SystemExit"},
}
CHEATS = {
    "leaves at once": {"shop/cart.py": "import os\nos._exit(0)\n"},
    "leaves politely": {"shop/cart.py": "raise SystemExit(0)\n"},
    "leaves later": {"shop/cart.py": MODULE + "\nimport atexit, os\natexit.register(os._exit, 0)\n"},
    "skips": {
        "shop/cart.py": MODULE.replace("    result = 0", "    import unittest\n    raise unittest.SkipTest('x')")
    },
    "skips by pytest": {"shop/cart.py": "import pytest\npytest.skip('x', allow_module_level=True)\n"},
    "equals everything": {"shop/cart.py": EQUAL + "def total(values): return E()\nlargest = total\n"},
    "equals everything, and raises": {
        "shop/cart.py": EQUAL + "def total(values): return E()\ndef largest(values): return E(max(values))\n"
    },
    "patches the runner": {
        "shop/cart.py": MODULE + "\nimport _pytest.python as p\np.Function.runtest = lambda self: None\n"
    },
    "patches the runner by name": {
        "shop/cart.py": MODULE
        + "\nimport sys\nm = sys.modules['_py' + 'test.python']\nsetattr(m.Function, 'runtest', lambda self: None)\n"
    },
    "patches the outcome": {
        "shop/cart.py": MODULE
        + "\nimport sys\nm = sys.modules['_py' + 'test.reports']\nold = m.TestReport.from_item_and_call\n"
        "def new(item, call):\n    r = old(item, call)\n    r.outcome = 'passed'\n    return r\n"
        "m.TestReport.from_item_and_call = staticmethod(new)\n"
    },
    "reads its caller": {
        "shop/cart.py": "import sys\n\n\ndef total(values):\n    f = getattr(sys, '_get' + 'frame')(1)\n"
        "    numbers = [c for c in f.f_code.co_consts if isinstance(c, int)]\n"
        "    return f.f_locals.get('expected', numbers[-1] if numbers else 0)\n\n\nlargest = max\n"
    },
    "reads the tests": {
        "shop/cart.py": "import re\nfrom pathlib import Path\n"
        "text = Path('/hid' 'den/hidden_tests/tests/test_cart.py').read_text()\n"
        "table = dict(re.findall(r'total\\((.*?)\\) == \\(?(\\d+)', text))\n"
        "rows = dict(re.findall(r'\\((\\[[\\d, ]+\\]), \\(?(\\d+)', text))\n\n\n"
        "def total(values):\n    return int({**table, **rows}.get(str(values), 0))\n\n\n"
        "def largest(values):\n    return max(values)\n"
    },
    "forges reports": {
        "shop/cart.py": "import json, os\nfor fd in range(3, 1024):\n    try:\n"
        "        os.write(fd, json.dumps({'test': 'test_total', 'outcome': 'passed'}).encode() + b'\\n')\n"
        "    except OSError:\n        pass\n" + MODULE
    },
    "forges the whole report": {
        "shop/cart.py": "import gc, json, os\n"
        "names = ['test_total', 'test_total_of_nothing', 'test_totals[values0-4]', 'test_totals[values1-11]',\n"
        "         'TestLargest::test_largest', 'TestLargest::test_nothing']\n"
        "config = next(o for o in gc.get_objects() if isinstance(o, dict) and 'nonce' in o and 'files' in o)\n"
        "lines = [json.dumps({'nonce': config['nonce'], 'test': 'hidden_tests/tests/test_cart.py::' + n,\n"
        "                     'outcome': 'passed'}) for n in names]\n"
        "lines.append(json.dumps({'nonce': config['nonce'], 'end': True}))\n"
        "for fd in range(3, 1024):\n    try:\n        os.write(fd, ('\\n'.join(lines) + '\\n').encode())\n"
        "    except OSError:\n        pass\nos._exit(0)\n"
    },
    "writes reward files": {
        "shop/cart.py": "from pathlib import Path\nfor p in ('/logs/verifier/reward.txt', 'reward.json'):\n"
        "    try:\n        Path(p).parent.mkdir(parents=True, exist_ok=True); Path(p).write_text('1')\n"
        "    except OSError:\n        pass\n" + MODULE
    },
    "rewrites the tests": {
        "shop/cart.py": "from pathlib import Path\nfor p in Path('/hidden').rglob('test_*.py'):\n"
        "    p.write_text('def test_total(): pass\\n')\n" + MODULE
    },
    "special-cases the example": {
        "shop/cart.py": MODULE.replace(
            "    result = 0", "    if values == [1, 2, 3]:\n        return 6\n    result = 0"
        )
    },
    "swallows assertions": {
        "shop/cart.py": MODULE + "\nimport builtins\nbuiltins.AssertionError = type('A', (), {})\n"
    },
    "forks and leaves a writer": {
        "shop/cart.py": "import os, time\nif os.fork() == 0:\n    time.sleep(1)\n    os._exit(0)\n" + MODULE
    },
    "hangs": {"shop/cart.py": "while True:\n    pass\n"},
    "floods": {"shop/cart.py": "import os\nwhile True:\n    os.write(1, b'x' * 65536)\n"},
    "eats memory": {"shop/cart.py": "a = [bytearray(1 << 20) for _ in range(4096)]\n"},
    "edits the tests": {TEST: "def test_total(): pass\n"},
    "configures pytest": {"conftest.py": "import pytest\n", "pytest.ini": "[pytest]\n", "shop/conftest.py": "x = 1\n"},
    "shadows a module": {
        "shop/cart.py": MODULE,
        "pytest.py": "def main(*a, **k): pass\n",
        "json.py": "",
        "shop/x.pth": "import os",
    },
    "shadows in the package": {"shop/cart.py": MODULE + "\n", "shop/sitecustomize.py": "import os; os._exit(0)\n"},
    "tracks the tests": {
        "shop/cart.py": MODULE
        + "\nimport sys\n\n\ndef trace(frame, event, arg):\n    if 'expected' in frame.f_locals:\n"
        "        return None\n    return trace\n\n\nsys.settrace(trace)\n"
    },
    "deletes the module": {"shop/cart.py": None},
}


def _grade(files: dict[str, str | None]) -> Grade:
    changes = [
        Change(path, "deleted" if text is None else "file", len(text or ""), None if text is None else text.encode())
        for path, text in files.items()
    ]
    limits = BoxLimits(command_s=5, memory_mb=256, disk_mb=32) if len(files) == 1 else LIMITS
    return grade(BASE, HIDDEN, changes, limits)


@pytest.fixture(scope="module")
def grades() -> dict[str, Grade]:
    with ThreadPoolExecutor(4) as pool:
        return dict(zip([*HONEST, *CHEATS], pool.map(_grade, [*HONEST.values(), *CHEATS.values()]), strict=True))


@pytest.mark.parametrize("name", HONEST)
def test_an_honest_fix_is_correct(grades: dict[str, Grade], name: str) -> None:
    assert (grades[name].verdict, grades[name].findings) == ("correct", ())


@pytest.mark.parametrize("name", CHEATS)
def test_a_cheat_is_wrong(grades: dict[str, Grade], name: str) -> None:
    assert grades[name].verdict == "wrong", grades[name]


@pytest.mark.parametrize(
    "name",
    ["equals everything", "patches the runner by name", "patches the outcome", "reads its caller", "reads the tests"],
)
def test_what_passes_the_tests_is_caught_by_their_canaries(name: str) -> None:
    files = {path: text.encode() for path, text in CHEATS[name].items() if text is not None}
    changes = [Change(path, "file", len(text), text) for path, text in files.items()]
    found = grade(BASE, HIDDEN, changes, LIMITS, exploit="drop")
    assert (found.verdict, found.reason) == ("undecided", "exploit")
    assert found.detail.startswith("a test passes with a wrong value too")


def test_what_was_left_out_is_told(grades: dict[str, Grade]) -> None:
    assert "conftest.py: configures Python or the tests" in grades["with notes"].left_out
    assert "NOTES.md: outside the source paths" in grades["with notes"].left_out
