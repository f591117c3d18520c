"""A local look-alike of the Hub over real HTTP: its model endpoint's answers and its refusals.

Shapes as huggingface_hub's HfApi.model_info and hf_raise_for_status read them.
"""

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

COMMIT = "b" * 40


@dataclass
class Repository:
    """What a repository holds: name, bytes and, of a large file, its digest."""

    files: list[tuple[str, int, str | None]]
    commit: str = COMMIT
    gguf: dict[str, Any] | None = None

    def answer(self, name: str) -> dict[str, Any]:
        """The body of GET /api/models/NAME?blobs=true."""
        siblings = []
        for path, size, sha256 in self.files:
            entry: dict[str, Any] = {"rfilename": path, "size": size, "blobId": "1" * 40}
            if sha256:
                entry["lfs"] = {"sha256": sha256, "size": size, "pointerSize": 135}
            siblings.append(entry)
        head = {
            "_id": "66d0e2f0a1b2c3d4e5f60718",
            "id": name,
            "modelId": name,
            "author": name.partition("/")[0],
            "sha": self.commit,
            "lastModified": "2026-08-15T12:00:00.000Z",
            "createdAt": "2026-07-28T09:00:00.000Z",
            "private": False,
            "gated": False,
            "disabled": False,
            "downloads": 12345,
            "likes": 678,
            "tags": ["gguf", "license:other", "region:us"],
            "library_name": "transformers",
            "usedStorage": sum(size for _, size, _ in self.files),
            "spaces": [],
            "siblings": siblings,
        }
        return head | ({"gguf": self.gguf} if self.gguf else {})


@dataclass
class Refusal:
    """An answer that is none: its status, and the headers the client reads the reason from."""

    status: int
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b"{}"
    wait: float = 0.0  # seconds before the answer begins
    drip: float = 0.0  # seconds between its single bytes


NOT_FOUND = Refusal(
    401, {"X-Error-Code": "RepoNotFound", "X-Error-Message": "Repository not found"}
)
NO_REVISION = Refusal(
    404, {"X-Error-Code": "RevisionNotFound", "X-Error-Message": "Invalid rev id: nope"}
)


@dataclass
class Hub:
    """What it answers, by repository name or by name@revision, and what it was asked."""

    answers: dict[str, Repository | Refusal]
    endpoint: str = ""
    asked: list[tuple[str, str | None]] = field(default_factory=list)


@contextmanager
def hub() -> Iterator[Hub]:
    """A running look-alike; `answers` may be changed while it runs."""
    state = Hub({})

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            """Say nothing on stderr."""

        def do_GET(self) -> None:
            url = urlsplit(self.path)
            state.asked.append((self.path, self.headers.get("Authorization")))
            name, _, revision = url.path.removeprefix("/api/models/").partition("/revision/")
            key = f"{name}@{unquote(revision)}" if revision else name
            unknown = NO_REVISION if revision and name in state.answers else NOT_FOUND
            found = state.answers.get(key, unknown)
            if isinstance(found, Repository):
                assert parse_qs(url.query) == {"blobs": ["true"]}
                body = json.dumps(found.answer(name)).encode()
                found = Refusal(200, {"Content-Type": "application/json"}, body)
            time.sleep(found.wait)
            self.send_response(found.status)
            for header, value in found.headers.items():
                self.send_header(header, value)
            self.send_header("Content-Length", str(len(found.body)))
            self.end_headers()
            pieces = [found.body]
            if found.drip:
                pieces = [bytes([byte]) for byte in found.body]
            for piece in pieces:
                try:
                    self.wfile.write(piece)
                    self.wfile.flush()
                except OSError:  # the client has given up
                    return
                time.sleep(found.drip)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    state.endpoint = f"http://127.0.0.1:{server.server_address[1]}"
    worker = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    worker.start()
    try:
        yield state
    finally:
        server.shutdown()
        worker.join()
        server.server_close()
