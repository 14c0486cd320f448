"""What a process has one of: made once, closed once at its end, last first, and not a forked child's to touch."""

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
    """What a process of its own prints, line by line."""
    ran = subprocess.run([sys.executable, "-c", THINGS + program], capture_output=True, text=True, cwd=ROOT, timeout=60)
    return (ran.stdout + ran.stderr).splitlines()


def test_things_are_made_when_needed_and_closed_at_the_end_in_reverse() -> None:
    said = printed("SECOND.get(); FIRST.get(); SECOND.get()")
    assert said == ["make second", "make first", "close first", "close second"]


def test_what_was_closed_is_made_anew_and_closed_once_each() -> None:
    said = printed("FIRST.get(); FIRST.close(); FIRST.close(); FIRST.get()")
    assert said == ["make first", "close first"] * 2


def test_a_thing_may_need_another_which_outlives_it() -> None:
    said = printed('OUTER = ProcessWide(lambda: [FIRST.get()], lambda _: print("close outer")); OUTER.get()')
    assert said == ["make first", "close outer", "close first"]


def test_one_that_fails_to_close_does_not_keep_the_others_open() -> None:
    said = printed("FIRST.get(); ProcessWide(lambda: 1, lambda one: one / 0).get(); SECOND.get()")
    assert said[:4] == ["make first", "make second", "close second", "close first"]
    assert said[-1].startswith("ZeroDivisionError")


def test_a_forked_child_leaves_its_parents_things_alone_and_has_its_own() -> None:
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


def test_nothing_that_was_inherited_is_finalized_while_the_child_works() -> None:
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


def test_a_child_that_was_forked_while_another_thread_makes_a_thing_is_not_stuck() -> None:
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


def test_many_threads_get_the_same_thing() -> None:
    number, together = 16, threading.Barrier(16)
    held = ProcessWide(object)

    def ask(_: int) -> object:
        together.wait()
        return held.get()

    with ThreadPoolExecutor(number) as threads:
        assert len({id(thing) for thing in threads.map(ask, range(number))}) == 1


def test_a_thing_that_cannot_be_made_is_tried_again() -> None:
    held = ProcessWide(lambda: Path(os.environ["GRADUS_NO_SUCH"]))
    for _ in range(2):
        with pytest.raises(KeyError):
            held.get()
