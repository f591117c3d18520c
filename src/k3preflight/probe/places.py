"""Where a path really leads: behind `~` and links, and up to the nearest directory that exists."""

import errno
import os
import stat
from pathlib import Path
from typing import NamedTuple

_NOT_THERE = {errno.ENOENT, errno.ENOTDIR}
_CANNOT_BE = {
    errno.ELOOP: "its links lead in a circle",
    errno.ENAMETOOLONG: "a name in it is too long for the file system",
}


class Look(NamedTuple):
    """What lies at a path. `problem` rules it out; `unknown` says why it could not be looked at."""

    path: str
    resolved: str | None = None
    measured: str | None = None
    exists: bool | None = None
    problem: str | None = None
    unknown: str | None = None
    writable: bool | None = None


def look(requested: str) -> Look:
    """Resolve `requested` and find the nearest existing directory at or above it.

    Links are resolved before walking up, so that `..` behind a link is the link target's parent.
    """
    path = absolute(requested)
    try:
        resolved = os.path.realpath(path)
        measured, exists = _nearest(resolved)
    except OSError as error:
        reason = _CANNOT_BE.get(error.errno or 0)
        if reason:
            return Look(path, problem=f"{path} cannot be used: {reason}")
        return Look(path, unknown=f"{error.filename or path} cannot be looked at: {error.strerror}")
    if not stat.S_ISDIR(Path(measured).stat().st_mode):
        return Look(path, resolved, exists=exists, problem=f"{measured} is a file, not a directory")
    return Look(path, resolved, measured, exists, writable=_writable(measured))


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


def _writable(directory: str) -> bool:
    """Whether this user may create files in `directory`, by effective ids where the system can."""
    effective = os.access in os.supports_effective_ids
    return os.access(directory, os.W_OK | os.X_OK, effective_ids=effective)
