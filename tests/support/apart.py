"""A test's body in a process of its own that can be ended, whatever the library under it waits for."""

import faulthandler
import multiprocessing
import os
import signal
import sys
import traceback
from collections.abc import Callable
from contextlib import suppress
from typing import Any


def apart(body: Callable[..., None], *arguments: Any, timeout_s: float) -> None:
    """Run `body(*arguments)` there; all that it started ends with it.

    Ray can hang in C++, where no signal of a test's time limit reaches it (ray-project/ray issue 44836). `body` is a
    function of a module. Its failure, or where it stood when its time was over, is in the output of this test.
    """
    process = multiprocessing.get_context("spawn").Process(target=_session, args=(body, arguments, timeout_s))
    process.start()
    process.join(timeout_s + 10)
    with suppress(ProcessLookupError):
        # the session's number is its first process's
        os.killpg(process.pid or 0, signal.SIGKILL)
    process.join()
    assert process.exitcode == 0, f"{body.__name__} failed there; its output says where"


def _session(body: Callable[..., None], arguments: tuple[Any, ...], timeout_s: float) -> None:
    os.setsid()
    faulthandler.dump_traceback_later(timeout_s, exit=True)
    status = 0
    try:
        body(*arguments)
    except BaseException:  # noqa: BLE001  # told by the exit status: nothing may go on to an orderly end, it may hang
        traceback.print_exc()
        status = 1
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)
