"""Runs hidden pytest tests on the repository and reports the outcome of each.

Arguments: a descriptor with the configuration, and one for the report. `-I -S` keeps the environment, the user's site
and the working folder off the import path; the repository comes last on it, so that no file of it can hide a module of
Python, pytest or the packages. The report is a line of JSON per test with a nonce that the configuration holds.
"""

import json
import os
import random
import sys


def main() -> None:
    """Run the tests, with the report's descriptor moved to a number that no code under test knows."""
    with open(int(sys.argv[1]), encoding="utf-8") as given:
        config = json.load(given)
    report = _moved(int(sys.argv[2]))
    sys.argv[:] = ["pytest"]
    sys.path += ["/packages", *config["source_roots"], config["tests_root"]]
    os.environ.update(PYTEST_DISABLE_PLUGIN_AUTOLOAD="1", PYTHONDONTWRITEBYTECODE="1")
    sys.dont_write_bytecode = True
    import pytest

    options = [
        "-q", "-p", "no:cacheprovider", "-c", "/dev/null", "--rootdir", "/hidden", "--confcutdir", "/hidden",
        "--import-mode=importlib", "--tb=short", "--color=no", "-W", "ignore", "--basetemp", "/tmp/pytest",  # noqa: S108
    ]  # fmt: skip
    pytest.main([*options, *config["files"]], plugins=[_outcomes(report, config["nonce"])])
    os.write(report, (json.dumps({"nonce": config["nonce"], "end": True}) + "\n").encode())


def _moved(fd: int) -> int:
    import fcntl

    moved = fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, random.SystemRandom().randrange(200, 900))
    os.close(fd)
    return moved


def _outcomes(report: int, nonce: str) -> object:
    """A pytest plugin that reports each test once, after its teardown: its outcome, and in which phase."""
    worst: dict[str, tuple[str, str, str]] = {}

    class Outcomes:
        def pytest_runtest_logreport(self, report: object, _fd: int = report) -> None:
            name, when, outcome = report.nodeid, report.when, report.outcome  # type: ignore[attr-defined]
            if hasattr(report, "wasxfail"):
                outcome = "xfail"
            if name not in worst or worst[name][0] == "passed":
                worst[name] = (outcome, when, _message(report))
            if when == "teardown":
                told, phase, message = worst.pop(name)
                line = {"nonce": nonce, "test": name, "outcome": told, "phase": phase, "message": message}
                os.write(_fd, (json.dumps(line) + "\n").encode())

    return Outcomes()


def _message(report: object) -> str:
    """The last line of what a failed test raised, and where in the test: `12: AssertionError: assert 1 == 2`."""
    crash = getattr(getattr(report, "longrepr", None), "reprcrash", None)
    entries = getattr(getattr(getattr(report, "longrepr", None), "reprtraceback", None), "reprentries", [])
    line = getattr(getattr(entries[0], "reprfileloc", None), "lineno", 0) if entries else 0
    return f"{line}: {crash.message[:600]}" if crash else ""


if __name__ == "__main__":
    main()
