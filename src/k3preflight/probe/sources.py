"""What is read to measure a volume: whole shards that are there, else a fresh nameless file."""

import os
import random
import stat
import struct
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from k3preflight.models.storage import Mode
from k3preflight.probe.direct import keep_cache_out
from k3preflight.probe.places import Look
from k3preflight.probe.presence import written_whole
from k3preflight.probe.reading import ALIGNMENT
from k3preflight.probe.trial import scratch_file
from k3preflight.probe.windows import Opened, Target
from k3preflight.text import counted
from k3preflight.units import gb

_SHARE = 20  # a fresh file takes at most one in so many free bytes
_LEAST_FRESH = 64 * 2**20  # under it nothing a token reads is like what would be measured
_MOST_SHARDS = 64
_LEAST_FILE = 2**20  # a smaller one is no shard
_ENDINGS = (".safetensors", ".gguf")
_BLOCK = 4096  # bytes with a number of their own, so that no two compress into one
_CHUNK = 2**22
_SYNC = 2**28


class NotMeasurableError(Exception):
    """Why nothing can be measured in a directory, in one sentence."""


class Sizes(NamedTuple):
    """Bytes of a fresh file at most, and of shards at least: a drive's own memory holds less."""

    largest_fresh: int = 4 * 2**30
    least_shards: int = 2**30


SIZES = Sizes()


class Source(NamedTuple):
    """Open files to read, what they are, and what to know about them."""

    target: Target
    what: str
    caveats: tuple[str, ...] = ()


Wrote = Callable[[int, int], None]
"""Hears how many bytes of how many are written."""


def obstacle(look: Look, sizes: Sizes = SIZES) -> str | None:
    """Why nothing can be measured there, as far as looking tells."""
    if look.problem or look.unknown:
        return look.problem or look.unknown
    if not look.exists:
        return f"{look.path} is not there"
    if look.barrier and not shards(Path(look.path), None, sizes.least_shards):
        return (
            f"{look.barrier}, and whole shards of {gb(sizes.least_shards)} or more "
            "are not there to be read"
        )
    return None


@contextmanager
def source(
    look: Look, filesystem: str | None, tell: Wrote, sizes: Sizes = SIZES
) -> Iterator[Source]:
    """Files to read, open for as long as they are needed, and a fresh one gone after it.

    Raises:
        NotMeasurableError: there is nothing to read and nothing can be written.
    """
    with ExitStack() as stack:
        found = shards(Path(look.path), filesystem, sizes.least_shards)
        if found:
            opened = []
            for path, size in found:
                opened.append(Opened(_opened(path, stack), size))
            what = f"{counted(len(found), 'file')} already there"
            size = sum(size for _, size in found)
        else:
            size = _fresh_size(look, sizes.largest_fresh)
            descriptor = stack.enter_context(_fresh(look, size, tell))
            opened, what = [Opened(descriptor, size)], "a fresh file"
        try:
            mode = keep_cache_out([file.descriptor for file in opened])
        except OSError as error:
            raise NotMeasurableError(f"{what} cannot be read: {error.strerror or error}") from error
        # btrfs reads through the page cache where a request names the same memory twice.
        target = Target(tuple(opened), mode, repeat=filesystem != "btrfs")
        yield Source(target, f"{what}, {gb(size)}", _caveats(mode))


def _opened(path: Path, stack: ExitStack) -> int:
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
    except OSError as error:
        raise NotMeasurableError(f"{path} cannot be opened: {error.strerror}") from error
    stack.callback(os.close, descriptor)
    return descriptor


def _caveats(mode: Mode) -> tuple[str, ...]:
    if mode == "direct":
        return ()
    if mode == "uncached":
        return (
            "direct I/O is refused here: read through the page cache, emptied before each read",
        )
    return ("direct I/O is refused here: read through the page cache, which may have helped",)


def shards(directory: Path, filesystem: str | None, least: int) -> list[tuple[Path, int]]:
    """The largest weight files there, each written whole; none where they are too few to tell."""
    found: list[tuple[Path, int]] = []
    with suppress(OSError), os.scandir(directory) as entries:
        for entry in entries:
            if not entry.name.endswith(_ENDINGS) and entry.name != "trunk.bin":
                continue
            path = Path(entry.path)
            with suppress(OSError):  # a link to nothing, or one that vanished
                told = entry.stat()
                if is_whole(path, told, filesystem):
                    found.append((path, told.st_size))
    found.sort(key=lambda item: -item[1])
    kept = found[:_MOST_SHARDS]
    return kept if sum(size for _, size in kept) >= least else []


def is_whole(path: Path, told: os.stat_result, filesystem: str | None) -> bool:
    """Whether it is a file this user can read, with no hole and no block merely set aside."""
    if not stat.S_ISREG(told.st_mode) or not os.access(path, os.R_OK):
        return False
    if told.st_size < _LEAST_FILE or getattr(told, "st_blocks", 0) * 512 < told.st_size:
        return False
    # Asked of any file system: one that cannot tell says that there is no hole.
    return written_whole(path, told, filesystem or "ext4") is not False


def _fresh_size(look: Look, largest: int) -> int:
    if look.barrier:
        raise NotMeasurableError(look.barrier)
    free = (look.space.free if look.space else None) or 0
    size = min(largest, free // _SHARE) // ALIGNMENT * ALIGNMENT
    if size < min(_LEAST_FRESH, largest):
        raise NotMeasurableError(
            f"{gb(free)} free: a fresh file may take 5% of it, and needs {gb(_LEAST_FRESH)}"
        )
    return size


@contextmanager
def _fresh(look: Look, size: int, tell: Wrote) -> Iterator[int]:
    """A file of random data without a name: nothing is left behind, whatever ends this process."""
    with ExitStack() as stack:
        try:
            descriptor = stack.enter_context(scratch_file(look.path))
            _fill(descriptor, size, tell)
        except OSError as error:
            raise NotMeasurableError(f"a file cannot be written there: {error.strerror}") from error
        yield descriptor


def _fill(descriptor: int, size: int, tell: Wrote) -> None:
    chunk = bytearray(random.Random().randbytes(_CHUNK))  # noqa: S311 - no secret
    number = written = 0
    while written < size:
        for place in range(0, _CHUNK, _BLOCK):
            struct.pack_into("<Q", chunk, place, number)
            number += 1
        part = memoryview(chunk)[: size - written]
        while part:
            part = part[os.write(descriptor, part) :]
        written = min(size, written + _CHUNK)
        if written % _SYNC == 0 or written == size:
            os.fsync(descriptor)
            if hasattr(os, "posix_fadvise"):  # pragma: no branch - macOS and Windows have none
                os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
        tell(written, size)
