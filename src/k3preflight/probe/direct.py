"""How the page cache is kept out of a measurement: direct I/O, else the next best, labelled."""

import errno
import mmap
import os
import sys

from k3preflight.models.storage import Mode
from k3preflight.probe.reading import ALIGNMENT, read_whole

if sys.platform != "win32":  # pragma: no branch - there is no such module
    import fcntl

_REFUSED = {errno.EINVAL, errno.EOPNOTSUPP, errno.ENOTSUP}


def keep_cache_out(descriptors: list[int]) -> Mode:
    """Direct I/O where one trial read of it works on every file, else the next best.

    Raises:
        OSError: a file cannot be read at all.
    """
    if sys.platform == "linux":
        if all(_take_direct(descriptor) for descriptor in descriptors):
            return "direct"
        for descriptor in descriptors:
            _set_direct(descriptor, on=False)
        return "uncached"
    if sys.platform == "darwin":  # pragma: no cover - macOS: what is in memory already stays there
        for descriptor in descriptors:
            fcntl.fcntl(descriptor, fcntl.F_NOCACHE, 1)
    return "buffered"  # pragma: no cover - macOS and Windows


def _take_direct(descriptor: int) -> bool:
    """Whether it reads directly from here on: some file systems agree and then refuse."""
    try:
        _set_direct(descriptor, on=True)
        with mmap.mmap(-1, ALIGNMENT) as buffer, memoryview(buffer) as whole:
            read_whole(descriptor, 0, ALIGNMENT, whole)
    except OSError as error:
        if error.errno in _REFUSED:
            return False
        raise
    return True


def _set_direct(descriptor: int, *, on: bool) -> None:
    flags = fcntl.fcntl(descriptor, fcntl.F_GETFL)
    flags = flags | os.O_DIRECT if on else flags & ~os.O_DIRECT
    fcntl.fcntl(descriptor, fcntl.F_SETFL, flags)
