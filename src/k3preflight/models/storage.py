"""Storage bandwidth: what volumes deliver to this host, measured or said, in bytes a second."""

from typing import Literal

from k3preflight.models.base import Bytes, Count, Document, Text
from k3preflight.models.names import Role

Pattern = Literal["random-1", "random-8", "sequential-1", "sequential-8"]
Mode = Literal["direct", "uncached", "buffered"]


class Rate(Document):
    """What one access pattern was given, window by window.

    `delivered` bytes reached the buffers, `device` bytes came from the device as the system counts
    them; null where it does not count. The figures are null, with a `reason`, where what was
    delivered is no measurement of the device. `spread_percent` is (best - min) / median.
    """

    pattern: Pattern
    windows: tuple[Bytes, ...] = ()
    median_bytes_per_second: Bytes | None = None
    min_bytes_per_second: Bytes | None = None
    best_bytes_per_second: Bytes | None = None
    spread_percent: Count | None = None
    delivered: Bytes = 0
    device: Bytes | None = None
    reason: Text | None = None


class DirectoryRates(Document):
    """One directory, measured alone.

    `mode` is how the page cache was kept out: `direct` I/O, `uncached` (pages dropped before each
    read), or `buffered` (it could not be). `volume` is the mount point. `best_bytes_per_second` is
    the best window of any pattern; null with a `reason` where nothing could be measured.
    """

    directory: Text
    volume: Text | None = None
    mode: Mode | None = None
    source: Text | None = None
    rates: tuple[Rate, ...] = ()
    best_bytes_per_second: Bytes | None = None
    reason: Text | None = None
    caveats: tuple[Text, ...] = ()

    def rate(self, pattern: Pattern) -> Rate | None:
        """The figures of one pattern, where it gave any."""
        return next(
            (
                rate
                for rate in self.rates
                if rate.pattern == pattern and rate.median_bytes_per_second is not None
            ),
            None,
        )


class Storage(Document):
    """What volumes were measured to deliver.

    `together` is every directory read at once, all of them added. `complete` is false where it was
    interrupted.
    """

    directories: tuple[DirectoryRates, ...] = ()
    together: tuple[Rate, ...] = ()
    complete: bool = True

    def of(self, volume: str | None) -> DirectoryRates | None:
        """The measurement of the volume mounted there, where it gave a figure."""
        return next(
            (
                found
                for found in self.directories
                if volume is not None
                and found.volume == volume
                and found.best_bytes_per_second is not None
            ),
            None,
        )


class Bandwidth(Document):
    """One --bandwidth: what every volume delivers, or the one that holds `role`."""

    role: Role | None = None
    bytes_per_second: Bytes
