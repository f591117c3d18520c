"""Where a path really leads: behind `~` and links, and up to the nearest directory that exists."""

import errno
import os
import shutil
import stat
from pathlib import Path

from k3preflight.models.base import Bytes, Count, Document, Text

_NOT_THERE = {errno.ENOENT, errno.ENOTDIR}
_CANNOT_BE = {
    errno.ELOOP: "its links lead in a circle",
    errno.ENAMETOOLONG: "a name in it is too long for the file system",
}
_FS_IOC_GETFLAGS = 0x80086601
_IMMUTABLE, _APPEND_ONLY = 0x10, 0x20


class Space(Document):
    """What statvfs says, in bytes; `free` is without the blocks reserved for root."""

    total: Bytes | None = None
    free: Bytes | None = None
    reserved: Bytes | None = None
    inodes_free: Count | None = None
    block: Bytes | None = None
    read_only: bool | None = None


class Look(Document):
    """What lies at a path. `problem` rules it out; `unknown` says why it could not be looked at."""

    path: Text
    resolved: Text | None = None
    measured: Text | None = None
    exists: bool | None = None
    problem: Text | None = None
    unknown: Text | None = None
    writable: bool | None = None
    barrier: Text | None = None
    device: Text | None = None
    space: Space | None = None


def look(requested: str) -> Look:
    """Resolve `requested`, find the nearest existing directory at or above it and measure that.

    Links are resolved before walking up, so that `..` behind a link is the link target's parent.
    """
    path = absolute(requested)
    try:
        resolved = os.path.realpath(path)
        measured, exists = _nearest(resolved)
        found = os.stat(measured)  # noqa: PTH116 - one call, one result for mode and device
        if not stat.S_ISDIR(found.st_mode):
            problem = f"{measured} is a file, not a directory"
            return Look(path=path, resolved=resolved, exists=exists, problem=problem)
        space = space_of(measured)
    except OSError as error:
        reason = _CANNOT_BE.get(error.errno or 0)
        if reason:
            return Look(path=path, problem=f"{path} cannot be used: {reason}")
        why = f"{error.filename or path} cannot be looked at: {error.strerror}"
        return Look(path=path, unknown=why)
    except ValueError as error:  # a null byte: no file system has such a name
        return Look(path=path, problem=f"{path} cannot be used: {error}")
    barrier = _barrier(measured, space)
    return Look(
        path=path,
        resolved=resolved,
        measured=measured,
        exists=exists,
        writable=barrier is None,
        barrier=barrier,
        device=_device(found.st_dev),
        space=space,
    )


def nearest(requested: str) -> str:
    """The nearest existing directory at or above `requested`, with its undecodable bytes.

    Raises:
        OSError: as the system says it.
    """
    return _nearest(os.path.realpath(absolute(requested)))[0]


def absolute(requested: str) -> str:
    """`requested` behind `~` and the current directory; as it stands where these are unknown.

    Not normalised: `link/..` is the parent of what the link points to.
    """
    try:
        return str(Path.cwd() / Path(requested).expanduser())
    except (OSError, RuntimeError):
        return requested


def _nearest(resolved: str) -> tuple[str, bool]:
    current = Path(resolved)
    while True:
        try:
            current.stat()
        except OSError as error:
            if error.errno not in _NOT_THERE or current == current.parent:
                raise
            current = current.parent
        else:
            return str(current), str(current) == resolved


def space_of(directory: str) -> Space:
    """What statvfs says of `directory`; sizes are null where it reports none at all.

    Raises:
        OSError: as the system says it.
    """
    if not hasattr(os, "statvfs"):  # pragma: no cover - Windows: of the directory, not its drive
        usage = shutil.disk_usage(directory)
        return Space(total=usage.total, free=usage.free)
    told = os.statvfs(directory)
    unit = told.f_frsize or told.f_bsize
    if not told.f_blocks:
        return Space(read_only=bool(told.f_flag & os.ST_RDONLY))
    return Space(
        total=told.f_blocks * unit,
        free=told.f_bavail * unit,
        reserved=max(0, told.f_bfree - told.f_bavail) * unit,
        inodes_free=told.f_favail if told.f_files else None,
        block=told.f_bsize,
        read_only=bool(told.f_flag & os.ST_RDONLY),
    )


def _device(number: int) -> str | None:
    return f"{os.major(number)}:{os.minor(number)}" if hasattr(os, "major") else None


def _barrier(directory: str, space: Space) -> str | None:
    """Why this user cannot create files in `directory`, by effective ids; None where it can."""
    if space.read_only:
        return "it is mounted read-only"
    flags = _flags(directory)
    if flags & _IMMUTABLE:
        return "it is immutable (chattr +i)"
    if flags & _APPEND_ONLY:
        return "it is append-only (chattr +a): a finished file could not be renamed"
    effective = os.access in os.supports_effective_ids
    if not os.access(directory, os.W_OK | os.X_OK, effective_ids=effective):
        return "this user has no permission"
    return None


def _flags(directory: str) -> int:
    """The inode flags of `directory`; 0 where the file system or the system has none."""
    try:
        import fcntl  # noqa: PLC0415 - there is none on Windows
    except ImportError:  # pragma: no cover - Windows
        return 0
    try:
        opened = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_NONBLOCK)
    except OSError:
        return 0  # not readable by this user: access() decides
    try:
        told = bytearray(8)
        fcntl.ioctl(opened, _FS_IOC_GETFLAGS, told)
    except OSError:
        return 0
    else:
        return int.from_bytes(told[:4], "little")
    finally:
        os.close(opened)
