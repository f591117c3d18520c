"""Trials that write, only where --write-probe asks: can a file be created, be as large as needed?

The file has no name where the system allows (O_TMPFILE), so that even a kill leaves nothing behind.
"""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from k3preflight.models.disk import Trial
from k3preflight.probe.places import space_of

# These write every byte a file is grown by, or have a limit that is known without trying.
_FILLING = {"vfat", "msdos", "exfat", "fuseblk", "hfs", "hfsplus"}
_SHARE = 64 * 2**20  # bytes set aside to see whether another place gets smaller
_ROUNDS = 3
_WORD = b"k3preflight"


@contextmanager
def scratch_file(directory: str) -> Iterator[int]:
    """An open file in `directory` that is gone when it is closed.

    Raises:
        OSError: it cannot be created.
    """
    opened = _nameless(directory)
    if opened is None:
        opened, name = tempfile.mkstemp(dir=directory, prefix=".k3preflight-")
        os.unlink(name)  # noqa: PTH108 - open and nameless from here on
    try:
        yield opened
    finally:
        os.close(opened)


def _nameless(directory: str) -> int | None:
    """A file that never had a name; None where the system or the file system has no such thing."""
    if hasattr(os, "O_TMPFILE"):
        with suppress(OSError):
            return os.open(directory, os.O_TMPFILE | os.O_RDWR, 0o600)
    return None


def try_writing(directory: str, largest: int, filesystem: str | None) -> Trial:
    """Create a file, set it to `largest` bytes without filling it, write its end, read it back."""
    try:
        with scratch_file(directory) as opened:
            os.pwrite(opened, _WORD, 0)
            if filesystem in _FILLING or largest < len(_WORD):
                return Trial(created=True)
            try:
                os.ftruncate(opened, largest)
                os.pwrite(opened, _WORD, largest - len(_WORD))
                back = os.pread(opened, len(_WORD), largest - len(_WORD))
            except OSError as error:
                return Trial(created=True, sized=False, error=error.strerror)
            right = back == _WORD and os.fstat(opened).st_size == largest
            return Trial(created=True, sized=right, error=None if right else "read back wrong")
    except OSError as error:
        return Trial(created=False, error=error.strerror)


def try_sharing(one: str, other: str) -> bool | None:
    """Whether room set aside at `one` is taken from `other`; None where that cannot be tried."""
    taken = []
    try:
        for _ in range(_ROUNDS):
            before = space_of(other).free
            with scratch_file(one) as opened:
                os.posix_fallocate(opened, 0, _SHARE)
                during = space_of(other).free
            after = space_of(other).free
            if before is None or during is None or after is None:
                return None
            taken.append(min(before - during, after - during) >= _SHARE // 2)
    except OSError:
        return None
    return all(taken)
