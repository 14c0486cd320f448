"""A headless Chromium for tests, driven over the DevTools protocol: go somewhere, press keys, ask the page."""

import base64
import json
import re
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest
from websockets.sync.client import ClientConnection, connect

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
NAMED_KEYS = {
    "Enter": (13, "\r"),
    "Escape": (27, ""),
    "ArrowRight": (39, ""),
    "ArrowLeft": (37, ""),
    "PageDown": (34, ""),
}


class Page:
    """One tab."""

    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket
        self._number = 0

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        self._number += 1
        self._socket.send(json.dumps({"id": self._number, "method": method, "params": parameters}))
        while (answer := json.loads(self._socket.recv(timeout=60))).get("id") != self._number:
            pass
        assert "error" not in answer, answer
        return answer["result"]

    def ask(self, script: str) -> Any:
        """The value of a JavaScript expression in the page."""
        result = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in result, result
        return result["result"].get("value")

    def wait_for(self, script: str, timeout_s: float = 60) -> None:
        """Until an expression is true."""
        end_s = time.monotonic() + timeout_s
        while not self.ask(script):
            assert time.monotonic() < end_s, (
                f"never true: {script}; the page says {self.ask('document.body.innerText')}"
            )
            time.sleep(0.05)

    def go(self, url: str) -> None:
        self.call("Page.navigate", url=url)

    def press(self, keys: str) -> None:
        """Type text, or press one named key."""
        for key in [keys] if keys in NAMED_KEYS else keys:
            code, text = NAMED_KEYS.get(key, (0, key))
            event = {"key": key, "windowsVirtualKeyCode": code}
            self.call("Input.dispatchKeyEvent", type="keyDown", text=text, **event)
            self.call("Input.dispatchKeyEvent", type="keyUp", **event)

    def picture(self, path: Path) -> None:
        path.write_bytes(base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"]))


@contextmanager
def chromium(folder: Path) -> Iterator[Page]:
    """A fresh browser with one tab; the test is skipped where none is installed."""
    program = next((found for name in NAMES if (found := shutil.which(name))), None)
    if program is None:
        pytest.skip("no Chromium here; install the package chromium")
    command = [program, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"]
    command += ["--window-size=1500,900", f"--user-data-dir={folder}", "--remote-debugging-port=0", "about:blank"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
    try:
        assert process.stderr is not None
        port = next(found[1] for line in process.stderr if (found := re.search(r"ws://127\.0\.0\.1:(\d+)/", line)))
        with urlopen(f"http://127.0.0.1:{port}/json/list") as answer:
            tab = next(target for target in json.load(answer) if target["type"] == "page")
        with connect(tab["webSocketDebuggerUrl"], max_size=None) as socket:
            yield Page(socket)
    finally:
        process.kill()
        process.wait()
        if process.stderr is not None:
            process.stderr.close()
