"""Partial files: what a running download is writing, and what a killed one left behind.

Live is what is locked or changed in the last ten minutes. huggingface_hub never goes on from a
partial file; llama.cpp does.
"""

import base64
import errno
import hashlib
import os
import re
import stat
import time
from collections.abc import Iterator
from pathlib import Path

from k3preflight.models.disk import Partial, WantedPlace
from k3preflight.probe.root import Root

_LIVE_FOR = 600  # seconds since the last change
_BLOCK = 512
_HUB = ".incomplete"
_LLAMA = ".downloadInProgress"
# Other downloaders, beside the file's final name.
_BESIDE = (_LLAMA, _HUB, ".part", ".partial", ".crdownload", ".tmp")
_LOCK = re.compile(r"^\d+: .*?:(\d+) \d+ \S+$", re.MULTILINE)


def partials_in(
    base: Path, repository: Path, flat_prefix: str, want: WantedPlace, root: Root
) -> Iterator[Partial]:
    """The partial files of `want` under `base`, in the folders where its clients keep them."""
    held = _locked_inodes(root)
    now = time.time()
    seen: set[str] = set()
    for path, lock in _paths(base, repository, flat_prefix, want):
        partial = _partial(path, lock, held, now)
        if partial and partial.inode not in seen:
            seen.add(partial.inode)
            yield partial


def _paths(
    base: Path, repository: Path, flat_prefix: str, want: WantedPlace
) -> Iterator[tuple[Path, Path | None]]:
    """Where partial files may be, each with the lock its client holds while it writes."""
    names = [file.name for file in want.files]
    local = base / ".cache" / "huggingface" / "download"
    locks = {_hub_prefix(name): local / f"{name}.lock" for name in names}
    for folder in dict.fromkeys([local, *((local / name).parent for name in names)]):
        for path in _ending(folder, _HUB):
            yield path, locks.get(path.name.partition(".")[0])
    locks_folder = repository.parent / ".locks" / repository.name
    for path in _ending(repository / "blobs", _HUB, _LLAMA):
        yield path, locks_folder / f"{path.name.partition('.')[0]}.lock"
    for name in names:
        for final in (base / name, base / (flat_prefix + name.replace("/", "_"))):
            for suffix in _BESIDE:
                yield final.with_name(final.name + suffix), None


def _hub_prefix(name: str) -> str:
    """How the Hub client names the partial of `name`: a short hash of its metadata file's name."""
    told = hashlib.sha1(f"{name.rpartition('/')[2]}.metadata".encode()).digest()  # noqa: S324 - theirs
    return base64.urlsafe_b64encode(told).decode()


def _ending(folder: Path, *suffixes: str) -> Iterator[Path]:
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.name.endswith(suffixes):
                    yield folder / entry.name
    except (FileNotFoundError, NotADirectoryError):
        return


def _partial(path: Path, lock: Path | None, held: frozenset[int], now: float) -> Partial | None:
    try:
        told = path.lstat()
        locked = told.st_ino in held or (lock is not None and _inode(lock) in held)
    except OSError as error:
        if error.errno in {errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG}:
            return None
        raise
    if not stat.S_ISREG(told.st_mode):
        return None
    blocks = getattr(told, "st_blocks", None)
    return Partial(
        path=str(path),
        allocated=told.st_size if blocks is None else min(told.st_size, blocks * _BLOCK),
        live=locked or now - told.st_mtime < _LIVE_FOR,
        resumes=path.name.endswith(_LLAMA),
        inode=f"{told.st_dev:x}:{told.st_ino}",
    )


def _inode(path: Path) -> int | None:
    try:
        return path.stat().st_ino
    except OSError:
        return None


def _locked_inodes(root: Root) -> frozenset[int]:
    """Inodes somebody holds a lock on: asked of the kernel, as trying a lock would disturb it."""
    try:
        told = root.read("/proc/locks")
    except OSError:
        return frozenset()
    return frozenset(int(match[1]) for match in _LOCK.finditer(told))
