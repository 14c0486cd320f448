"""Objects of a process: created once, closed once at exit in reverse order, not used by a forked child."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from support.places import ROOT

from curate.process_wide import ProcessWide

THINGS = """
import os, sys, threading
from curate.process_wide import ProcessWide

class Thing:
    def __init__(self, name): self.name = name; print("make", name, flush=True)
    def close(self): print("close", self.name, flush=True)
    def __del__(self): os.getpid() != parent and os.write(1, b"finalized in the child\\n")

parent = os.getpid()
FIRST = ProcessWide(lambda: Thing("first"), Thing.close)
SECOND = ProcessWide(lambda: Thing("second"), Thing.close)
NEVER = ProcessWide(lambda: Thing("never"), Thing.close)
"""


def printed(program: str) -> list[str]:
    """The lines that a separate process prints."""
    ran = subprocess.run([sys.executable, "-c", THINGS + program], capture_output=True, text=True, cwd=ROOT, timeout=60)
    return (ran.stdout + ran.stderr).splitlines()


def test_objects_are_created_on_first_use_and_closed_at_exit_in_reverse() -> None:
    lines = printed("SECOND.get(); FIRST.get(); SECOND.get()")
    assert lines == ["make second", "make first", "close first", "close second"]


def test_a_closed_object_is_created_again_and_each_is_closed_once() -> None:
    lines = printed("FIRST.get(); FIRST.close(); FIRST.close(); FIRST.get()")
    assert lines == ["make first", "close first"] * 2


def test_an_object_may_need_another_which_outlives_it() -> None:
    lines = printed('OUTER = ProcessWide(lambda: [FIRST.get()], lambda _: print("close outer")); OUTER.get()')
    assert lines == ["make first", "close outer", "close first"]


def test_a_failure_to_close_does_not_keep_the_others_open() -> None:
    lines = printed("FIRST.get(); ProcessWide(lambda: 1, lambda one: one / 0).get(); SECOND.get()")
    assert lines[:4] == ["make first", "make second", "close second", "close first"]
    assert lines[-1].startswith("ZeroDivisionError")


def test_a_forked_child_has_its_own_objects_and_does_not_use_its_parents() -> None:
    fork = """
FIRST.get(); SECOND.get()
child = os.fork()
if child == 0:
    FIRST.get()
    sys.exit()
os.waitpid(child, 0)
print("in the parent", FIRST.get().name)
"""
    made = ["make first", "make second"]
    assert [line for line in printed(fork) if line != "finalized in the child"] == [
        *made,
        *["make first", "close first"],
        *["in the parent first", "close second", "close first"],
    ]


def test_inherited_objects_are_not_finalized_while_the_child_runs() -> None:
    fork = """
import gc
FIRST.get()
child = os.fork()
if child == 0:
    gc.collect()
    os._exit(0)
os.waitpid(child, 0)
"""
    assert printed(fork) == ["make first", "close first"]


def test_a_child_forked_while_a_thread_creates_an_object_is_not_stuck() -> None:
    fork = """
is_begun, may_end = threading.Event(), threading.Event()
def slow():
    is_begun.set(); may_end.wait(); return Thing("slow")
SLOW = ProcessWide(slow, Thing.close)
thread = threading.Thread(target=SLOW.get); thread.start(); is_begun.wait()
child = os.fork()
if child == 0:
    FIRST.get()
    sys.stdout.flush(); os._exit(0)
os.waitpid(child, 0)
may_end.set(); thread.join()
"""
    assert printed(fork) == ["make first", "make slow", "close slow"]


def test_many_threads_get_the_same_object() -> None:
    number, together = 16, threading.Barrier(16)
    held = ProcessWide(object)

    def ask(_: int) -> object:
        together.wait()
        return held.get()

    with ThreadPoolExecutor(number) as threads:
        assert len({id(thing) for thing in threads.map(ask, range(number))}) == 1


def test_an_object_that_cannot_be_created_is_tried_again() -> None:
    held = ProcessWide(lambda: Path(os.environ["GRADUS_NO_SUCH"]))
    for _ in range(2):
        with pytest.raises(KeyError):
            held.get()
