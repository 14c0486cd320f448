"""Source that contest solutions and their tests presuppose: imports, LeetCode's lists and trees, script checkers."""

from __future__ import annotations

from typing import Final

# imports of contest sites; builtins last, since math and operator hide pow and others
CONTEST_PRELUDE: Final = "\n".join(
    (
        *(
            f"from {module} import *"
            for module in (
                "typing",
                "collections",
                "itertools",
                "functools",
                "heapq",
                "bisect",
                "math",
                "operator",
                "string",
            )
        ),
        "from builtins import *",
        "import bisect, collections, copy, functools, heapq, itertools, math, operator, random, re, string, sys",
        "",
    )
)

# LeetCode's nodes, and the helpers with which its tests build and compare them
NODES: Final = """
class ListNode:
    def __init__(self, val=0, next=None):
        self.val, self.next = val, next

class TreeNode:
    def __init__(self, val=0, left=None, right=None):
        self.val, self.left, self.right = val, left, right

def list_node(values):
    head = None
    for value in reversed(values):
        head = ListNode(value, head)
    return head

def tree_node(values):
    if not values:
        return None
    rest = iter(values)
    root = TreeNode(next(rest))
    parents = deque([root])
    while parents:
        parent = parents.popleft()
        for side in ("left", "right"):
            value = next(rest, None)
            if value is not None:
                setattr(parent, side, TreeNode(value))
                parents.append(getattr(parent, side))
    return root

def is_same_list(one, other):
    while one is not None and other is not None and one.val == other.val:
        one, other = one.next, other.next
    return one is None and other is None

def is_same_tree(one, other):
    pairs = [(one, other)]
    while pairs:
        one, other = pairs.pop()
        if one is None and other is None:
            continue
        if one is None or other is None or one.val != other.val:
            return False
        pairs += [(one.left, other.left), (one.right, other.right)]
    return True
"""


def script_checker(script: str) -> str:
    """A checker from a script that takes paths of input, expected output and output, and prints 1 if it is right."""
    return f"SCRIPT = {script!r}\n{_RUN_SCRIPT}"


_RUN_SCRIPT: Final = """
import contextlib, io, os, sys

def check(given, output, expected):
    files, paths, printed = [], [], io.StringIO()
    for text in (given, expected, output):
        files.append(os.fdopen(os.memfd_create("case"), "w", encoding="utf-8"))
        files[-1].write(text)
        files[-1].flush()
        paths.append(f"/proc/self/fd/{files[-1].fileno()}")
    sys.argv = ["checker", *paths]
    with contextlib.ExitStack() as stack:
        for file in files:
            stack.enter_context(file)
        stack.enter_context(contextlib.redirect_stdout(printed))
        stack.enter_context(contextlib.suppress(SystemExit))
        exec(compile(SCRIPT, "checker", "exec"), {"__name__": "__main__"})
    return float(printed.getvalue().split()[-1]) == 1
"""
