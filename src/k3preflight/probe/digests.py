"""Digests of files that are there, against those the Hub client left beside them."""

import hashlib
import os
import re
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from k3preflight.text import visible

_CHUNK = 16 * 2**20
_SHA256 = re.compile(r"^[0-9a-f]{64}$")
_GIT = re.compile(r"^[0-9a-f]{40}$")


def behind(shown: str) -> Path:
    """The path that was made safe to show; as it is shown where no entry looks so."""
    path = Path(shown)
    if "\\" not in shown or path.exists():
        return path
    found = behind(str(path.parent))
    with suppress(OSError, StopIteration):
        return next(entry for entry in found.iterdir() if visible(entry.name) == path.name)
    return found / path.name


def left_beside(directory: Path, name: str, path: Path) -> str | None:
    """The digest the Hub client recorded: SHA-256 of large files, git's own of small ones.

    With --local-dir it stands in the metadata of the file; in the cache it is the blob's name.
    """
    metadata = directory / ".cache" / "huggingface" / "download" / f"{name}.metadata"
    try:
        lines = metadata.read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:
        lines = []
    blob = Path(os.path.realpath(path))
    found = lines[1].strip() if len(lines) > 1 else ""
    if not found and blob.parent.name == "blobs":
        found = blob.name
    return found if _SHA256.match(found) or _GIT.match(found) else None


def matches(path: Path, digest: str, advance: Callable[[int], None]) -> bool:
    """Whether the file has the digest; `advance` hears of every chunk read.

    Raises:
        OSError: it cannot be read.
    """
    with path.open("rb", buffering=0) as stream:
        if _GIT.match(digest):
            hasher = hashlib.sha1(usedforsecurity=False)
            hasher.update(f"blob {os.fstat(stream.fileno()).st_size}\0".encode())
        else:
            hasher = hashlib.sha256()
        chunk = bytearray(_CHUNK)
        view = memoryview(chunk)
        while read := stream.readinto(chunk):
            hasher.update(view[:read])
            advance(read)
    return hasher.hexdigest() == digest
