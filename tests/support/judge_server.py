"""A judge behind real HTTP: a server of this process whose replies a script decides."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Script = Callable[[dict[str, str], int], Any]


def says(value: object) -> dict[str, Any]:
    """A whole reply whose text is `value`, or its JSON."""
    text = value if isinstance(value, str) else json.dumps(value)
    return {"choices": [{"message": {"content": text}, "finish_reason": "stop"}]}


def fair(fields: dict[str, str], _: int) -> dict[str, Any]:
    """A judge that compares: here everything is the same but what holds a root of the decoy."""
    return says({"equivalent": not any("sqrt" in fields[name] for name in ("answer_1", "answer_2"))})


@contextmanager
def serve(script: Script) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """A server that answers each question by `script(fields, number)`; yields its URL and the bodies it was sent."""
    bodies: list[dict[str, Any]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            bodies.append(body)
            answer = script(json.loads(body["messages"][1]["content"]), len(bodies))
            status, content = answer if isinstance(answer, tuple) else (200, answer)
            data = content if isinstance(content, bytes) else json.dumps(content).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1", bodies
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
