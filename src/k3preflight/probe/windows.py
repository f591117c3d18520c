"""The engine: threads that read, and windows that say how fast the bytes came."""

import os
import random
import threading
import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

from k3preflight.models.storage import Mode, Pattern
from k3preflight.probe.reading import ALIGNMENT, buffer_size, read_whole, reading_buffer

EXPERT = 17_547_264  # bytes of one expert, a multiple of the alignment
_TRUNK = 256 * 2**20  # one request of the one thread that reads the trunk
_TURN = 0.1  # seconds between two looks at the progress


class Reading(NamedTuple):
    """How one access pattern reads: threads, bytes a request, at random or in order."""

    pattern: Pattern
    threads: int
    request: int
    at_random: bool


PATTERNS = (
    Reading("random-1", 1, EXPERT, at_random=True),
    Reading("random-8", 8, EXPERT, at_random=True),
    Reading("sequential-1", 1, _TRUNK, at_random=False),
    Reading("sequential-8", 8, _TRUNK // 8, at_random=False),
)


class Opened(NamedTuple):
    """An open file: its descriptor, and how many of its bytes may be read."""

    descriptor: int
    size: int


class Target(NamedTuple):
    """Open files that are read as one, and how the page cache is kept out of it.

    `repeat`: one request may read into the same memory over and over.
    """

    files: tuple[Opened, ...]
    mode: Mode
    repeat: bool = True


class Windows(NamedTuple):
    """Bytes a second in each whole window, all bytes that were delivered, and what went wrong."""

    rates: tuple[int, ...]
    delivered: int
    problem: str | None = None
    interrupted: bool = False


Tell = Callable[[int, int | None], None]
"""Hears how many windows are done, and the bytes a second of the last one."""


def measure(
    targets: Sequence[Target], reading: Reading, *, window: float, count: int, tell: Tell
) -> Windows:
    """Read all targets at once, `reading.threads` each, until `count` windows are full.

    The clock starts as the first request completes, and a window ends with the first request that
    completes after `window` seconds: no window holds half of a pause. Ctrl-C ends it early.
    """
    clock = _Clock(round(window * 1e9), count)
    buffer = buffer_size(len(targets) * reading.threads)
    threads = []
    for target in targets:
        route = _Route(target.files, reading)
        threads += [
            threading.Thread(target=_read_on, args=(target, route, clock, buffer), daemon=True)
            for _ in range(reading.threads)
        ]
    interrupted = False
    try:
        for thread in threads:
            thread.start()
        while not clock.over.wait(_TURN):
            tell(len(clock.rates), clock.rates[-1] if clock.rates else None)
        tell(len(clock.rates), clock.rates[-1] if clock.rates else None)
    except KeyboardInterrupt:
        interrupted = True
    finally:
        clock.over.set()
        for thread in threads:
            if thread.ident is not None:
                thread.join()  # one request at most; the files are closed after it
    return Windows(tuple(clock.rates), clock.delivered, clock.problem, interrupted)


class _Clock:
    """Collects completed requests of every thread into windows."""

    def __init__(self, window: int, count: int) -> None:
        self.over = threading.Event()
        self.rates: list[int] = []
        self.delivered = 0
        self.problem: str | None = None
        self._window, self._count = window, count
        self._start: int | None = None
        self._bytes = 0
        self._lock = threading.Lock()

    def completed(self, size: int) -> None:
        with self._lock:
            now = time.perf_counter_ns()
            self.delivered += size
            if self._start is None:
                self._start = now
                return
            self._bytes += size
            taken = now - self._start
            if taken >= self._window and not self.over.is_set():
                self.rates.append(self._bytes * 10**9 // max(1, taken))
                self._start, self._bytes = now, 0
                if len(self.rates) >= self._count:
                    self.over.set()

    def failed(self, problem: str) -> None:
        with self._lock:
            self.problem = self.problem or problem
            self.over.set()


class _Step(NamedTuple):
    descriptor: int
    offset: int
    size: int


class _Route:
    """Where the next request goes: on from the last one, or anywhere."""

    def __init__(self, files: Sequence[Opened], reading: Reading) -> None:
        self._files = files
        self._at_random = reading.at_random
        self._request = reading.request
        self._random = random.Random()  # noqa: S311 - no secret
        self._file = self._offset = 0
        self._lock = threading.Lock()

    def next(self) -> _Step:
        with self._lock:
            return self._anywhere() if self._at_random else self._further()

    def _anywhere(self) -> _Step:
        (file,) = self._random.choices(self._files, [file.size for file in self._files])
        size = min(self._request, _down(file.size))
        last = (file.size - size) // ALIGNMENT
        return _Step(file.descriptor, self._random.randint(0, last) * ALIGNMENT, size)

    def _further(self) -> _Step:
        file = self._files[self._file]
        size = min(self._request, _down(file.size - self._offset))
        step = _Step(file.descriptor, self._offset, size)
        self._offset += size
        if file.size - self._offset < ALIGNMENT:
            self._file, self._offset = (self._file + 1) % len(self._files), 0
        return step


def _down(size: int) -> int:
    return size // ALIGNMENT * ALIGNMENT


def _read_on(target: Target, route: _Route, clock: _Clock, buffer: int) -> None:
    """One thread: request after request, until the clock says it is over."""
    with reading_buffer(buffer) as whole:
        while not clock.over.is_set():
            step = route.next()
            try:
                if target.mode == "uncached":
                    os.posix_fadvise(
                        step.descriptor, step.offset, step.size, os.POSIX_FADV_DONTNEED
                    )
                read_whole(step.descriptor, step.offset, step.size, whole, repeat=target.repeat)
            except OSError as error:
                clock.failed(f"reading failed: {error.strerror or error}")
                return
            clock.completed(step.size)
