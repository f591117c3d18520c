"""One request: what memory it reads into, and how it is asked for."""

import ctypes
import mmap
import os
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress

ALIGNMENT = 4096  # of offsets, lengths and buffers; what any disk's direct I/O is content with
_MIB = 2**20
_BUFFER = 16 * _MIB  # about an expert: less would stay in the processor's cache
_ALL_BUFFERS = 128 * _MIB  # of every thread together
_HUGE_PAGE = 2 * _MIB


def buffer_size(threads: int) -> int:
    """Bytes of the buffer that each of so many threads gets, a whole number of MiB."""
    return min(_BUFFER, max(1, _ALL_BUFFERS // _MIB // threads) * _MIB)


@contextmanager
def reading_buffer(size: int) -> Iterator[memoryview]:
    """The `size` bytes one thread reads into: on Linux of huge pages, as the runtimes' own caches.

    A disk takes a request in as many pieces as its memory has; of small pages it can be so many
    that the pieces, not the bytes, are what limits it.
    """
    if sys.platform != "linux":  # pragma: no cover - macOS and Windows
        with mmap.mmap(-1, size) as memory, memoryview(memory) as whole:
            yield whole
        return
    # Private, as shared memory has huge pages only where the administrator says so.
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
    with mmap.mmap(-1, size + _HUGE_PAGE, flags=flags) as memory:
        with suppress(OSError):  # a kernel without huge pages reads into small ones
            memory.madvise(mmap.MADV_HUGEPAGE)
        first = ctypes.c_char.from_buffer(memory)
        start = -ctypes.addressof(first) % _HUGE_PAGE
        del first  # or the memory could not be given back
        with memoryview(memory) as all_of_it, all_of_it[start : start + size] as whole:
            for page in range(0, size, ALIGNMENT):
                whole[page] = 0  # there before the first request, which is timed
            yield whole


def read_whole(
    descriptor: int, offset: int, size: int, buffer: memoryview, *, repeat: bool = True
) -> None:
    """Read `size` bytes into the same buffer over and over; go on where a read is short.

    In one request, or, without `repeat`, in one for each buffer full.

    Raises:
        OSError: as the system says it, and where the file ends early.
    """
    done = 0
    while done < size:
        left = size - done
        asked = left if repeat else min(left, len(buffer))
        pieces = [buffer] * (asked // len(buffer))
        if asked % len(buffer):
            pieces.append(buffer[: asked % len(buffer)])
        got = _read(descriptor, pieces, offset + done)
        if got <= 0:
            raise OSError("the file became shorter while it was read")
        # A short direct read may end anywhere: go on from the last whole block.
        done += got if got == asked else max(got // ALIGNMENT * ALIGNMENT, min(got, ALIGNMENT))


def _read(descriptor: int, pieces: Sequence[memoryview], offset: int) -> int:
    if hasattr(os, "preadv"):
        return os.preadv(descriptor, pieces, offset)
    with _at:  # pragma: no cover - Windows: one position for all threads
        os.lseek(descriptor, offset, os.SEEK_SET)
        return len(os.read(descriptor, sum(map(len, pieces))))


_at = threading.Lock()
