"""A Hub on loopback: a real HTTP server that speaks the few endpoints of the Hugging Face Hub which Gradus uses.

`support.hub_state` holds its repositories. `faults` makes chosen requests fail; `log` records every request, so that a
test can count what was sent. Nothing here knows Gradus.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from support.hub_state import Commit, Hub, Repo


@contextmanager
def running_hub() -> Iterator[Hub]:
    """A Hub on a free port of this machine, until the block ends."""
    hub = Hub()
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("BoundHandler", (Handler,), {"hub": hub}))
    server.daemon_threads = True
    hub.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield hub
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class Handler(BaseHTTPRequestHandler):
    """Routes a request to the method whose pattern matches it."""

    hub: Hub
    protocol_version = "HTTP/1.1"

    ROUTES = (
        ("POST", r"/api/repos/create", "create_repo"),
        ("POST", r"/api/validate-yaml", "validate_yaml"),
        ("GET", r"/api/agent-harnesses", "agent_harnesses"),
        ("GET", r"/api/(?:datasets|models)/([^/]+/[^/]+)(?:/revision/([^/]+))?", "repo_info"),
        ("GET", r"/api/(?:datasets|models)/([^/]+/[^/]+)/refs", "refs"),
        ("GET", r"/api/(?:datasets|models)/([^/]+/[^/]+)/tree/([^/]+)(?:/(.*))?", "tree"),
        ("POST", r"/api/(?:datasets|models)/([^/]+/[^/]+)/paths-info/([^/]+)", "paths_info"),
        ("POST", r"/api/(?:datasets|models)/([^/]+/[^/]+)/preupload/([^/]+)", "preupload"),
        ("POST", r"(?:/datasets)?/([^/]+/[^/]+)\.git/info/lfs/objects/batch", "lfs_batch"),
        ("PUT", r"/lfs/([0-9a-f]{64})", "lfs_put"),
        ("POST", r"/api/(?:datasets|models)/([^/]+/[^/]+)/commit/([^/]+)", "commit"),
        ("POST", r"/api/(?:datasets|models)/([^/]+/[^/]+)/tag/([^/]+)", "tag"),
        ("HEAD", r"(?:/datasets)?/([^/]+/[^/]+)/resolve/([^/]+)/(.+)", "resolve"),
        ("GET", r"(?:/datasets)?/([^/]+/[^/]+)/resolve/([^/]+)/(.+)", "resolve"),
    )
    WRITES = ("create_repo", "preupload", "lfs_batch", "commit", "tag")

    def route(self) -> None:
        split = urlsplit(self.path)
        length = int(self.headers.get("Content-Length") or 0)
        self.query = parse_qs(split.query)
        self.body = self.rfile.read(length) if length else self._chunked()
        with self.hub.lock:
            self.hub.log.append(f"{self.command} {unquote(split.path)}")
            if self._fails(f"{self.command} {unquote(split.path)}"):
                return
            for method, pattern, name in self.ROUTES:
                found = re.fullmatch(pattern, split.path)
                if found and method == self.command:
                    if not self._may(name, found.groups()):
                        return
                    getattr(self, name)(*(unquote(group) if group else "" for group in found.groups()))
                    return
            self.answer(404, {"error": f"no route {self.command} {self.path}"})

    do_GET = do_POST = do_PUT = do_HEAD = route  # noqa: N815  # the names that http.server calls

    def create_repo(self) -> None:
        asked = json.loads(self.body)
        name = f"{asked['organization']}/{asked['name']}"
        if name in self.hub.repos:
            self.answer(
                409, {"error": "You already created this dataset repo", "url": f"{self.hub.url}/datasets/{name}"}
            )
            return
        self.hub.repos[name] = Repo(private=asked.get("visibility") == "private" or bool(asked.get("private")))
        self.hub.commit(name, "initial commit", {".gitattributes": b"*.parquet filter=lfs diff=lfs merge=lfs -text\n"})
        self.answer(200, {"url": f"{self.hub.url}/datasets/{name}", "name": name})

    def validate_yaml(self) -> None:
        self.answer(200, {"errors": [], "warnings": []})

    def agent_harnesses(self) -> None:
        self.answer(200, {"standardEnvVars": [], "harnesses": {}})

    def repo_info(self, name: str, revision: str) -> None:
        if (sha := self._sha(name, revision or "main")) is not None:
            repo = self.hub.repos[name]
            siblings = [{"rfilename": path} for path in repo.commits[sha].files]
            self.answer(200, {"id": name, "sha": sha, "private": repo.private, "siblings": siblings, "tags": []})

    def refs(self, name: str) -> None:
        repo = self.hub.repos[name]
        as_refs = {
            kind: [{"name": ref, "ref": f"refs/{place}/{ref}", "targetCommit": sha} for ref, sha in refs.items()]
            for kind, place, refs in (
                ("branches", "heads", {k: v for k, v in repo.branches.items() if not k.startswith("refs/pr/")}),
                ("tags", "tags", repo.tags),
            )
        }
        self.answer(200, {**as_refs, "converts": []})

    def tree(self, name: str, revision: str, folder: str) -> None:
        if (sha := self._sha(name, revision)) is not None:
            commit = self.hub.repos[name].commits[sha]
            within = f"{folder}/" if folder else ""
            below = sorted(path for path in commit.files if path.startswith(within))
            is_whole = self.query.get("recursive", ["false"])[0].lower() in ("true", "1")
            folders = {within + path[len(within) :].split("/")[0] for path in below if "/" in path[len(within) :]}
            entries = [self._entry(commit, path) for path in below if is_whole or "/" not in path[len(within) :]]
            entries += [{"type": "directory", "path": path, "oid": "0" * 40, "size": 0} for path in sorted(folders)]
            self.answer(200, entries)

    def paths_info(self, name: str, revision: str) -> None:
        if (sha := self._sha(name, revision)) is not None:
            commit = self.hub.repos[name].commits[sha]
            asked = parse_qs(self.body.decode()).get("paths") or json.loads(self.body or b"{}").get("paths", [])
            self.answer(200, [self._entry(commit, path) for path in asked if path in commit.files])

    def preupload(self, name: str, revision: str) -> None:
        if (sha := self._sha(name, revision)) is not None:
            commit = self.hub.repos[name].commits[sha]
            files = [
                {
                    "path": file["path"],
                    "uploadMode": "lfs" if file["path"].endswith((".parquet", ".png", ".safetensors")) else "regular",
                    "shouldIgnore": False,
                    **({"oid": self._oid(commit, file["path"])} if file["path"] in commit.files else {}),
                }
                for file in json.loads(self.body)["files"]
            ]
            self.answer(200, {"files": files})

    def lfs_batch(self, _name: str) -> None:
        objects = []
        for asked in json.loads(self.body)["objects"]:
            entry = {"oid": asked["oid"], "size": asked["size"]}
            if asked["oid"] not in self.hub.blobs:
                entry["actions"] = {"upload": {"href": f"{self.hub.url}/lfs/{asked['oid']}", "header": {}}}
            objects.append(entry)
        self.answer(200, {"transfer": "basic", "objects": objects})

    def lfs_put(self, oid: str) -> None:
        if hashlib.sha256(self.body).hexdigest() != oid:
            self.answer(400, {"error": "content does not match its oid"})
            return
        self.hub.blobs[oid] = self.body
        self.answer(200, {})

    def commit(self, name: str, revision: str) -> None:
        for act in self.hub.before_commit:
            act()
        self.hub.before_commit.clear()
        repo = self.hub.repos[name]
        lines = [json.loads(line) for line in self.body.splitlines()]
        header = lines[0]["value"]
        parent = self._sha(name, revision)
        if parent is None:
            return
        if header.get("parentCommit", parent) != parent:
            self.answer(412, {"error": "A commit has happened since. Please refresh and try again."})
            return
        files, lfs = dict(repo.commits[parent].files), set(repo.commits[parent].lfs)
        for line in lines[1:]:
            path = line["value"]["path"]
            files.pop(path, None)
            lfs.discard(path)
            if line["key"] == "file":
                content = base64.b64decode(line["value"]["content"])
                files[path] = hashlib.sha256(content).hexdigest()
                self.hub.blobs[files[path]] = content
            elif line["key"] == "lfsFile":
                if line["value"]["oid"] not in self.hub.blobs:
                    self.answer(400, {"error": f"LFS pointer of {path} points to nothing"})
                    return
                files[path] = line["value"]["oid"]
                lfs.add(path)
        made = Commit(header["summary"] + "\n\n" + header.get("description", ""), files, lfs, parent)
        repo.commits[made.sha] = made
        is_pr = bool(self.query.get("create_pr"))
        branch = f"refs/pr/{1 + sum(b.startswith('refs/pr/') for b in repo.branches)}" if is_pr else revision
        repo.branches[branch] = made.sha
        url = f"{self.hub.url}/datasets/{name}"
        pull = f"{url}/discussions/{branch.rsplit('/', 1)[-1]}" if is_pr else None
        self.answer(200, {"commitUrl": f"{url}/commit/{made.sha}", "commitOid": made.sha, "pullRequestUrl": pull})

    def tag(self, name: str, revision: str) -> None:
        if (sha := self._sha(name, revision)) is not None:
            tag = json.loads(self.body)["tag"]
            if tag in self.hub.repos[name].tags:
                self.answer(409, {"error": "Tag reference exists already"})
                return
            self.hub.repos[name].tags[tag] = sha
            self.answer(200, {})

    def resolve(self, name: str, revision: str, path: str) -> None:
        if (sha := self._sha(name, revision)) is None:
            return
        commit = self.hub.repos[name].commits[sha]
        if path not in commit.files:
            self.answer(404, {"error": "Entry not found"}, {"X-Error-Code": "EntryNotFound", "X-Repo-Commit": sha})
            return
        content = self.hub.blobs[commit.files[path]]
        headers = {"X-Repo-Commit": sha, "ETag": f'"{self._oid(commit, path)}"'}
        if path in commit.lfs:
            headers |= {"X-Linked-Etag": f'"{commit.files[path]}"', "X-Linked-Size": str(len(content))}
        start = int(m.group(1)) if (m := re.match(r"bytes=(\d+)-", self.headers.get("Range") or "")) else 0
        self.send(206 if start else 200, content[start:], headers)

    def answer(self, status: int, value: Any, headers: dict[str, str] | None = None) -> None:
        self.send(status, json.dumps(value).encode(), {"Content-Type": "application/json", **(headers or {})})

    def send(self, status: int, content: bytes, headers: dict[str, str]) -> None:
        self.send_response(status)
        for header, value in {**headers, "Content-Length": str(len(content))}.items():
            self.send_header(header, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        """Nothing on stderr: `Hub.log` has it."""

    def _chunked(self) -> bytes:
        if self.headers.get("Transfer-Encoding", "").lower() != "chunked":
            return b""
        body = b""
        while size := int(self.rfile.readline().strip() or b"0", 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return body

    def _fails(self, line: str) -> bool:
        for fault in self.hub.faults:
            if fault.times > 0 and re.search(fault.pattern, line):
                fault.times -= 1
                if fault.status == 0:
                    self.close_connection = True
                    self.connection.close()
                    return True
                self.answer(fault.status, {"error": fault.message}, {"X-Error-Code": fault.code} if fault.code else {})
                return True
        return False

    def _may(self, name: str, groups: tuple[str | None, ...]) -> bool:
        given = (self.headers.get("Authorization") or "").removeprefix("Bearer ")
        if given and given not in self.hub.tokens:
            self.answer(
                401, {"error": "token expired"}, {"X-Error-Message": "Invalid credentials in Authorization header"}
            )
            return False
        repo = self.hub.repos.get(groups[0] or "") if groups and "/" in (groups[0] or "") else None
        is_repo_route = bool(groups) and "/" in (groups[0] or "")
        if (is_repo_route and repo is None) or (repo and repo.private and not given):
            self.answer(401 if not given else 404, {"error": "Repository not found"}, {"X-Error-Code": "RepoNotFound"})
            return False
        if name in self.WRITES and not given:
            self.answer(401, {"error": "Invalid username or password."})
            return False
        return True

    def _sha(self, name: str, revision: str) -> str | None:
        sha = self.hub.repos[name].resolve(revision)
        if sha is None:
            self.answer(404, {"error": f"Invalid rev id: {revision}"}, {"X-Error-Code": "RevisionNotFound"})
        return sha

    def _oid(self, commit: Commit, path: str) -> str:
        content = self.hub.blobs[commit.files[path]]
        if path in commit.lfs:
            return commit.files[path]
        return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()

    def _entry(self, commit: Commit, path: str) -> dict[str, Any]:
        size = len(self.hub.blobs[commit.files[path]])
        entry: dict[str, Any] = {"type": "file", "path": path, "size": size, "oid": self._oid(commit, path)}
        if path in commit.lfs:
            entry["lfs"] = {"oid": commit.files[path], "size": size, "pointerSize": 134}
        return entry
