"""Solutions that never solve `f(2) == 4` and try to be taken for ones that do."""

ASSERT = "assert f(2) == 4"
CALL = ("f", [2], 4)

LIARS = {
    "object_equal_to_all": """
class Liar:
    def __eq__(self, other): return True
    def __ne__(self, other): return False
    def __bool__(self): return True
    def __hash__(self): return 4
def f(x): return Liar()
""",
    "int_subclass_equal_to_all": """
class Liar(int):
    def __eq__(self, other): return True
    def __ne__(self, other): return False
    def __index__(self): return 4
    def __int__(self): return 4
    def __repr__(self): return "4"
def f(x): return Liar(5)
""",
    "list_subclass": """
class Liar(list):
    def __eq__(self, other): return True
    def __iter__(self): return iter([4])
def f(x): return Liar([1])
""",
    "reads_the_callers_frames": """
import sys, gc
def f(x):
    frame = sys._getframe()
    while frame is not None:
        for value in list(frame.f_locals.values()) + list(frame.f_globals.values()):
            if value == 4: return 4
        frame = frame.f_back
    for thing in gc.get_objects():
        if isinstance(thing, dict) and thing.get("output") is not None: return thing["output"]
        if isinstance(thing, dict) and "tests" in thing: return eval(thing["tests"][0].split("==")[1])
    return None
""",
    "reads_the_grader_source": """
import os, re
def f(x):
    for pid in os.listdir("/proc"):
        if pid.isdigit():
            for name in ("cmdline", "environ", "maps"):
                try: text = open(f"/proc/{pid}/{name}").read()
                except OSError: continue
                found = re.search(r"f\\\\(2\\\\) == (\\\\d+)", text)
                if found: return int(found[1])
""",
    "patches_the_grader": """
import builtins, sys, json
def always(*args, **kwargs): return True
for module in list(sys.modules.values()):
    for name in ("pack", "unpack", "send", "same_value", "same_output", "_failure"):
        if hasattr(module, name) and name.startswith("same"): setattr(module, name, always)
builtins.isinstance = always
builtins.AssertionError = Exception
def f(x): return 5
""",
    "exits_with_success": "import os\ndef f(x): os._exit(0)",
    "exits_at_import": "import os\nos._exit(0)\ndef f(x): return 5",
    "raises_system_exit": "import sys\ndef f(x): sys.exit(0)",
    "raises_an_assertion": "def f(x): raise AssertionError",
    "catches_everything": "import sys\nsys.excepthook = lambda *a: None\ndef f(x): return 5",
    "writes_success_on_every_file": """
import os, json, struct
def f(x):
    for message in ({"passed": True}, {"ready": True}, {"a": [True, []]}, {"broken": "yes"}):
        body = json.dumps(message).encode()
        for fd in range(64):
            try: os.write(fd, struct.pack(">I", len(body)) + body)
            except OSError: pass
    os._exit(0)
""",
    "traces_its_neighbours": """
import ctypes, os
libc = ctypes.CDLL(None)
def f(x):
    for pid in os.listdir("/proc"):
        if pid.isdigit() and int(pid) != os.getpid():
            if libc.ptrace(16, int(pid), 0, 0) == 0: os.kill(int(pid), 9)
            for mode in ("rb", "r+b"):
                try: open(f"/proc/{pid}/mem", mode).read(1)
                except OSError: pass
    return 5
""",
    "kills_all_it_can": "import os\ndef f(x):\n    os.kill(-1, 9)\n    return 5",
    "never_loads": "def f(x) return 4",
    "lacks_the_function": "def g(x): return x * x",
    "floods_with_a_huge_value": "def f(x): return 'a' * 200_000_000",
    "nests_too_deep": "def f(x):\n    a = []\n    for _ in range(100_000): a = [a]\n    return a",
    "cycles": "def f(x):\n    a = []\n    a.append(a)\n    return a",
    "returns_a_function_of_the_test": "def f(x): return f",
}  # fmt: skip
