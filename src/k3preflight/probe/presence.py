"""What of an artifact is already at its place, in whichever layout its client writes.

Only the files the profile names are looked at, by name; listed are just the folders in which the
clients keep the partial files of this one repository. Nothing is opened for writing, nothing read.
"""

import errno
import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from k3preflight.models.disk import Found, Presence, WantedFile, WantedPlace
from k3preflight.probe.partials import partials_in
from k3preflight.probe.root import Root

# What these say about allocated blocks and holes can be believed.
_VERIFIABLE = {"ext2", "ext3", "ext4", "xfs", "f2fs", "tmpfs", "jfs"}
_BLOCK = 512
_MOST_SNAPSHOTS = 100


class Layouts(NamedTuple):
    """The folders under one place in which files of the repository may lie."""

    flat_prefix: str
    snapshots: tuple[Path, ...]
    repository: Path


def presence(
    directory: str, want: WantedPlace, root: Root, filesystem: str | None = None
) -> Presence:
    """The wanted files that lie at `directory`, and the partial ones.

    Raises:
        OSError: a folder could not be looked at for another reason than not being there.
    """
    base = Path(directory)
    layouts, device = _layouts(base, want), _device(base)
    files = tuple(
        found
        for file in want.files
        if (found := _best(file, _own(base, layouts, want, file), device, filesystem)) is not None
    )
    whole = {found.inode for found in files}
    partials = (
        partials_in(base, layouts.repository, layouts.flat_prefix, want, root) if layouts else ()
    )
    lfs = base / ".git" / "lfs"
    return Presence(
        files=files,
        partials=tuple(item for item in partials if item.inode not in whole),
        git_lfs=str(lfs) if lfs.is_dir() else None,
    )


def _layouts(base: Path, want: WantedPlace) -> Layouts | None:
    """None for files that no client fetches: they lie in the directory, whole."""
    if want.repository is None:
        return None
    repository = base / f"models--{want.repository.replace('/', '--')}"
    flat = f"{want.repository.replace('/', '_')}_"
    return Layouts(flat, tuple(_snapshots(repository, want.revision)), repository)


def _snapshots(repository: Path, revision: str | None) -> Iterator[Path]:
    """Snapshots of the Hub cache, the profile's revision first, then that of `main`."""
    folder = repository / "snapshots"
    first = [revision, _text(repository / "refs" / "main")]
    for name in dict.fromkeys(name for name in first if name):
        if (folder / name).is_dir():
            yield folder / name
    for item in sorted(_listed(folder), key=lambda entry: entry.name)[:_MOST_SNAPSHOTS]:
        if item.name not in first:
            yield Path(item.path)


def _own(
    base: Path, layouts: Layouts | None, want: WantedPlace, file: WantedFile
) -> Iterator[Path]:
    """Where the place's own client looks for `file`, and so does not fetch it again."""
    if layouts is None or want.client == "hf-local-dir":
        yield base / file.name
        return
    if want.client == "llama-cache":  # older releases keep it flat
        yield base / (layouts.flat_prefix + file.name.replace("/", "_"))
    for snapshot in layouts.snapshots:
        yield snapshot / file.name


def strays(directory: str, want: WantedPlace, filesystem: str | None = None) -> tuple[Found, ...]:
    """The wanted files that lie whole at `directory` as another client keeps them.

    Raises:
        OSError: a folder could not be looked at for another reason than not being there.
    """
    base = Path(directory)
    layouts, device = _layouts(base, want), _device(base)
    if layouts is None:
        return ()
    found = []
    for file in want.files:
        own = set(_own(base, layouts, want, file))
        paths = [path for path in _everywhere(base, layouts, file) if path not in own]
        stray = _best(file, paths, device, filesystem)
        if stray and stray.bytes == file.bytes and stray.written is not False:
            found.append(stray)
    return tuple(found)


def _everywhere(base: Path, layouts: Layouts, file: WantedFile) -> Iterator[Path]:
    """In the directory, in llama.cpp's flat cache, in the Hub cache."""
    yield base / file.name
    yield base / (layouts.flat_prefix + file.name.replace("/", "_"))
    for snapshot in layouts.snapshots:
        yield snapshot / file.name


def _device(base: Path) -> int | None:
    try:
        return base.stat().st_dev
    except OSError:  # nothing is there, or nothing can be looked at: what follows says so
        return None


def _best(
    file: WantedFile, paths: Iterable[Path], device: int | None, filesystem: str | None
) -> Found | None:
    """The first candidate of the right size, else the first there is."""
    first: Found | None = None
    for path in paths:
        found = _found(file, path, device, filesystem)
        if found is None:
            continue
        if file.bytes is None or found.bytes == file.bytes:
            return found
        first = first or found
    return first


def _found(
    file: WantedFile, path: Path, device: int | None, filesystem: str | None
) -> Found | None:
    try:
        told = path.stat()
    except OSError as error:
        if error.errno in {errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.ENAMETOOLONG}:
            return None
        raise
    if not stat.S_ISREG(told.st_mode):
        return None
    allocated = allocated_of(told, filesystem)
    return Found(
        name=file.name,
        path=str(path),
        bytes=told.st_size,
        allocated=allocated,
        verified=filesystem in _VERIFIABLE,
        written=written_whole(path, told, filesystem),
        inode=inode_of(told),
        target=os.path.realpath(path) if path.is_symlink() else None,
        frees=allocated if told.st_dev == device and told.st_nlink == 1 else 0,
    )


def inode_of(told: os.stat_result) -> str:
    """One name for a file, however many links lead to it."""
    return f"{told.st_dev:x}:{told.st_ino}"


def allocated_of(told: os.stat_result, filesystem: str | None) -> int:
    """What the file takes on disk, at most its size; its size where that cannot be told."""
    if filesystem not in _VERIFIABLE:
        return told.st_size
    # A small file may lie in its inode, without a block of its own.
    inline = told.st_size if told.st_blocks == 0 and told.st_size < _BLOCK else 0
    return min(told.st_size, told.st_blocks * _BLOCK + inline)


def written_whole(path: Path, told: os.stat_result, filesystem: str | None) -> bool | None:
    """Whether every byte was written: no hole, and no block that is merely set aside."""
    if not hasattr(os, "SEEK_HOLE") or filesystem not in {*_VERIFIABLE, "btrfs"}:
        return None
    if told.st_size == 0:
        return True
    try:
        opened = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    except OSError:
        return None  # there, but not readable by this user
    try:
        return os.lseek(opened, 0, os.SEEK_HOLE) >= told.st_size
    except OSError:
        return None
    finally:
        os.close(opened)


def _text(path: Path) -> str | None:
    try:
        name = path.read_text(encoding="ascii", errors="replace").strip()
    except OSError:
        return None
    return name if name.isalnum() else None


def _listed(folder: Path) -> Sequence[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except (FileNotFoundError, NotADirectoryError):
        return []
