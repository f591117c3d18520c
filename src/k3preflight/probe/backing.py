"""What a volume really lies on: loop files, thin pools, a virtual disk on a Windows drive."""

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from k3preflight.models.disk import Under
from k3preflight.probe.mounts import Mount, covering
from k3preflight.probe.places import space_of
from k3preflight.probe.root import Root
from k3preflight.text import visible

_DEEPEST = 8  # loops in loops; more is a mistake or a joke
_WINDOWS_DRIVE = "/mnt/c"
_BLOCK = 512  # st_blocks counts these, whatever the file system's block is


def backing(mount: Mount, table: Sequence[Mount], root: Root, depth: int = 0) -> Iterator[Under]:
    """What lies under `mount`, from the top down; nothing for a disk."""
    if depth == _DEEPEST:
        return
    for block in blocks(mount, root):
        file = _read(block / "loop" / "backing_file") or _read(
            block.parent / "loop" / "backing_file"
        )
        if file:
            yield from _loop(file, table, root, depth)
        elif (_read(block / "dm" / "uuid") or "").endswith("-tpool"):
            yield Under(kind="thin pool", path=_read(block / "dm" / "name"))
    if depth == 0 and mount.source.startswith("/dev/sd") and _is_wsl(root):
        yield _windows_drive(table, root)


def blocks(mount: Mount, root: Root) -> Iterator[Path]:
    """The block device of `mount` in /sys, and every one it is made of."""
    name = mount.source.rpartition("/")[2]
    first = root.at(f"/sys/dev/block/{mount.device}")
    if not first.exists() and mount.source.startswith("/dev/"):
        first = root.at(f"/sys/class/block/{name}")
    if not first.exists():
        return
    waiting, seen = [first.resolve()], set[Path]()
    while waiting:
        block = waiting.pop()
        if block not in seen:
            seen.add(block)
            yield block
            waiting += [item.resolve() for item in sorted((block / "slaves").glob("*"))]


def _loop(file: str, table: Sequence[Mount], root: Root, depth: int) -> Iterator[Under]:
    folder = os.path.dirname(file)  # noqa: PTH120 - the kernel's own text
    below = covering(table, visible(folder))
    free = grows = None
    try:
        found = root.at(file).stat()
        grows = max(0, found.st_size - found.st_blocks * _BLOCK)
        free = space_of(str(root.at(folder))).free
    except OSError:
        pass  # deleted, or in another namespace: what is free there stays unknown
    yield Under(
        kind="loop file",
        path=file,
        mount_point=below.point if below else None,
        free=free,
        grows=grows,
        ram=below is not None and below.kind == "ram",
    )
    if below:
        yield from backing(below, table, root, depth + 1)


def _windows_drive(table: Sequence[Mount], root: Root) -> Under:
    drive = next((mount for mount in table if mount.point == _WINDOWS_DRIVE), None)
    free = None
    if drive:
        with suppress(OSError):  # a drive that is not there: what is free stays unknown
            free = space_of(str(root.at(_WINDOWS_DRIVE))).free
    return Under(kind="Windows drive", mount_point=drive and drive.point, free=free)


def _is_wsl(root: Root) -> bool:
    try:
        return "microsoft" in root.read("/proc/sys/kernel/osrelease").lower()
    except OSError:
        return False


def _read(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8", errors="surrogateescape").strip() or None
    except OSError:
        return None
