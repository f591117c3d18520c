"""What the system counted as read: by this process, and from the disks under a volume."""

import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from k3preflight.probe.backing import blocks
from k3preflight.probe.mounts import Mount, covering
from k3preflight.probe.root import Root
from k3preflight.text import visible

_SECTOR = 512  # /proc/diskstats counts these, whatever the disk's own are
_READ_SECTORS = 5  # its field, after major, minor, name, reads and merged reads
_DEEPEST = 8
_VIRTUAL = ("virtio", "xen", "storvsc", "vmw_pvscsi")
_VIRTUAL_MODELS = ("virtual", "qemu", "vbox", "vmware", "elastic block", "persistentdisk")


class Disks(NamedTuple):
    """The disks a volume lies on, `major:minor` each.

    `memory`: it lies in memory instead. `cached_loop`: through a loop device that reads its file
    through the page cache. `served`: another process reads them for us. `virtual`: a hypervisor
    provides one.
    """

    devices: tuple[str, ...] = ()
    memory: bool = False
    cached_loop: bool = False
    served: bool = False
    virtual: bool = False


class Count(NamedTuple):
    """Bytes read so far: by this process, and from each disk; None where nobody counts."""

    own: int | None
    disks: dict[str, int]


def disks_under(mount: Mount, table: Sequence[Mount], root: Root, depth: int = 0) -> Disks:
    """The disks `mount` lies on in the end: behind partitions, volumes and loop files."""
    if mount.kind == "ram" or depth == _DEEPEST:
        return Disks(memory=mount.kind == "ram")
    found = Disks(served=mount.filesystem.startswith("fuse"))
    for block in blocks(mount, root):
        if (block / "slaves").is_dir() and any((block / "slaves").iterdir()):
            continue  # made of others, which follow
        disk = block.parent if (block / "partition").exists() else block
        file = _text(disk / "loop" / "backing_file")
        if file:
            below = covering(table, visible(os.path.dirname(file)))  # noqa: PTH120 - the kernel's own text
            under = disks_under(below, table, root, depth + 1) if below else Disks()
            cached = _text(disk / "loop" / "dio") != "1"
            found = _joined(found, under._replace(cached_loop=under.cached_loop or cached))
        else:
            ram = disk.name.startswith(("ram", "zram"))
            device = () if ram else (_text(disk / "dev") or "",)
            found = _joined(found, Disks(device, memory=ram, virtual=_is_virtual(disk)))
    return found


def _joined(one: Disks, other: Disks) -> Disks:
    return Disks(
        tuple(dict.fromkeys(filter(None, (*one.devices, *other.devices)))),
        memory=one.memory or other.memory,
        cached_loop=one.cached_loop or other.cached_loop,
        served=one.served or other.served,
        virtual=one.virtual or other.virtual,
    )


def _is_virtual(disk: Path) -> bool:
    """Whether the disk says that a hypervisor provides it."""
    driver = os.path.realpath(disk / "device" / "driver").lower()
    path = str(disk.resolve()).lower()
    model = (_text(disk / "device" / "model") or "").lower()
    vendor = (_text(disk / "device" / "vendor") or "").lower()
    return (
        any(name in driver or f"/{name}" in path for name in _VIRTUAL)
        or any(name in f"{vendor} {model}" for name in _VIRTUAL_MODELS)
        or disk.name.startswith(("vd", "xvd"))
    )


def count(devices: Sequence[str], root: Root) -> Count:
    """What was read so far."""
    own, disks = None, dict[str, int]()
    with suppress(OSError, ValueError):  # no Linux, or a kernel built without it
        lines = root.read("/proc/self/io").splitlines()
        own = next(int(line.split()[1]) for line in lines if line.startswith("read_bytes:"))
    with suppress(OSError):
        for line in root.read("/proc/diskstats").splitlines():
            fields = line.split()
            if len(fields) > _READ_SECTORS and f"{fields[0]}:{fields[1]}" in devices:
                disks[f"{fields[0]}:{fields[1]}"] = int(fields[_READ_SECTORS]) * _SECTOR
    return Count(own, disks)


class Came(NamedTuple):
    """What came between two counts: `own` by this process, `disks` from all disks together."""

    own: int | None
    disks: int | None


def between(before: Count, after: Count) -> Came:
    """What was read from one count to the next."""
    own = after.own - before.own if before.own is not None and after.own is not None else None
    both = before.disks.keys() & after.disks.keys()
    return Came(own, sum(after.disks[key] - before.disks[key] for key in both) if both else None)


def _text(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8", errors="surrogateescape").strip() or None
    except OSError:
        return None
