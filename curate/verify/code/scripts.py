"""The programs that run in a sandbox, as source for `python3 -c`: it has none of this package's files."""

from __future__ import annotations

from functools import cache
from importlib import resources
from typing import Final

from curate.verify.code.packages import MOUNT

INSIDE: Final = "curate.verify.code.inside"
# what each script imports, in order
IMPORTED: Final = {
    "solver": ("wire", "plain", "arrays", "states", "operations"),
    "examiner": (
        "wire", "plain", "arrays", "states", "operations", "doubts", "remote", "kin", "derived", "side", "stand_in",
        "suite",
    ),
    "keeper": ("wire",),
}  # fmt: skip


@cache
def source_of(script: str) -> str:
    """The modules that a script imports, then the script: a module of `INSIDE`, or a dotted name."""
    home, _, script = script.rpartition(".")
    package = resources.files(INSIDE)
    lines = ["import sys, types", f"sys.path.append({MOUNT!r})"]
    for name in IMPORTED[script]:
        module, source = f"{INSIDE}.{name}", (package / f"{name}.py").read_text(encoding="utf-8")
        lines += [
            f"module = sys.modules[{module!r}] = types.ModuleType({module!r})",
            f"exec(compile({source!r}, {name!r}, 'exec'), vars(module))",
        ]
    main = (resources.files(home or INSIDE) / f"{script}.py").read_text(encoding="utf-8")
    return "\n".join([*lines, f"exec(compile({main!r}, {script!r}, 'exec'))\n"])
