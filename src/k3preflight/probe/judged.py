"""Whether what was delivered is a measurement of the drive, and what to know about it."""

from collections.abc import Sequence

from k3preflight.models.storage import Pattern, Rate
from k3preflight.probe.counters import Came, Disks
from k3preflight.probe.mounts import Mount
from k3preflight.probe.windows import Windows
from k3preflight.units import gb, speed

_IMPLAUSIBLE = 20 * 10**9  # bytes a second of one drive
_LEAST_PERCENT = 90  # of the delivered bytes that must have come from the device
_FOREIGN_PERCENT = 10


def judged(
    pattern: Pattern, windows: Windows, came: Came, disks: Sequence[Disks]
) -> tuple[Rate, tuple[str, ...]]:
    """The figures of one pattern, null with a reason where they are none; and what warns."""
    device = _from_device(came, disks)
    reason = windows.problem or _reason(windows, device, disks)
    if reason or not windows.rates:
        rate = Rate(
            pattern=pattern,
            windows=windows.rates,
            delivered=windows.delivered,
            device=device,
            reason=reason,
        )
        return rate, ()
    ordered = sorted(windows.rates)
    middle = len(ordered) // 2
    median = (ordered[middle] + ordered[~middle]) // 2
    rate = Rate(
        pattern=pattern,
        windows=windows.rates,
        median_bytes_per_second=median,
        min_bytes_per_second=ordered[0],
        best_bytes_per_second=ordered[-1],
        spread_percent=(ordered[-1] - ordered[0]) * 100 // max(1, median),
        delivered=windows.delivered,
        device=device,
    )
    return rate, tuple(_warnings(rate, median, ordered[0], windows.delivered, came))


def _from_device(came: Came, disks: Sequence[Disks]) -> int | None:
    """Bytes that came from the device, where somebody counts: the lesser where both do.

    A loop device that reads its file through the page cache counts what it delivers as read, and
    what another process reads for us is not ours: there only the disks tell.
    """
    if any(item.memory for item in disks):
        return 0
    if any(item.cached_loop or item.served for item in disks):
        return came.disks
    return came.own


def _reason(windows: Windows, device: int | None, disks: Sequence[Disks]) -> str | None:
    if any(item.memory for item in disks):
        return "it lies in memory: no drive was read"
    if device is None and any(item.served for item in disks):
        return "another process serves it, and nobody counts what that read from a drive"
    if device is not None and device * 100 < windows.delivered * _LEAST_PERCENT:
        return (
            f"of {gb(windows.delivered)} delivered only {gb(device)} came from the device: "
            "the rest was cached"
        )
    drives = max(1, sum(len(item.devices) for item in disks))
    best = max(windows.rates, default=0)
    if best > _IMPLAUSIBLE * drives:
        return f"{speed(best)} is more than a drive delivers: some cache answered"
    return None


def _warnings(rate: Rate, median: int, least: int, delivered: int, came: Came) -> list[str]:
    notes = []
    if least * 2 < median:
        notes.append(
            f"{rate.pattern}: the slowest window, {speed(least)}, is under half the median"
        )
    foreign = max(0, came.disks - (came.own or 0)) if came.disks is not None else 0
    if came.own is not None and foreign * 100 > delivered * _FOREIGN_PERCENT:
        notes.append(
            f"{rate.pattern}: others read {gb(foreign)} from the same disk meanwhile: "
            "alone it may deliver more"
        )
    return notes


def caveats_of(disks: Disks, mount: Mount | None) -> list[str]:
    """What to know about a volume, whatever was measured."""
    notes = []
    if disks.virtual:
        notes.append("a virtual disk: the host under it may cache, and limit it")
    if disks.cached_loop:
        notes.append("a loop device that reads its file through the page cache")
    if mount is not None and mount.kind in {"network", "fuse"}:
        notes.append(f"{mount.filesystem}: what serves it may cache")
    return notes
