"""A judge's URL is checked at once, and a process has one judge per config."""

import subprocess
import sys

import pytest
from support.judge_server import fair, serve
from support.places import ROOT

from curate.config import parse
from curate.errors import UserError
from curate.verify.judge.config import JudgeConfig


@pytest.mark.parametrize("url", ["http://", "http://[::1", "http://host:port/v1", "http://host:99999/v1", "ftp://host"])
def test_a_url_that_cannot_be_one_is_the_users_to_mend(url: str) -> None:
    with pytest.raises(UserError, match="write a URL such as"):
        parse(JudgeConfig, {"url": url, "model": "m"}, "--")


SHARED = """
import logging, os, sys
logging.basicConfig(level=logging.INFO, format="%(message)s")
from curate.verify.judge.cache import JudgeCache
from curate.verify.judge.config import JudgeConfig
from curate.verify.judge.judge import shared_judge
from curate.verify.verdict import Item, Verdict

config = JudgeConfig(url=sys.argv[1], model="m", num_tries=1)
item = Item("x", "all multiples of two", question="Which numbers?")
open_question = Verdict("undecided", "unparseable_answer", "symbolic", "the set of even numbers", 1.0)
judge = shared_judge(config)
assert judge is shared_judge(JudgeConfig(url=sys.argv[1], model="m", num_tries=1))
assert judge.review([item], [open_question])[0].verdict == "correct"
child = os.fork()
assert shared_judge(config).review([item], [open_question])[0].verdict == "correct"
assert child or shared_judge(config) is not judge
if child:
    assert os.waitpid(child, 0)[1] == 0
"""


def test_a_shared_judge_closes_with_its_process_and_a_forked_child_has_its_own() -> None:
    with serve(fair) as (url, bodies):
        ran = subprocess.run([sys.executable, "-c", SHARED, url], capture_output=True, text=True, cwd=ROOT, timeout=60)
    assert ran.returncode == 0, ran.stderr
    counts = [line for line in ran.stderr.splitlines() if line.startswith("judge: ")]
    # the parent asked once and then had it in its cache; the child asked anew
    assert counts == ["judge: {'asked': 3, 'same': 1}", "judge: {'asked': 3, 'cached': 3, 'same': 2}"]
    assert len(bodies) == 6
    assert "Traceback" not in ran.stderr
