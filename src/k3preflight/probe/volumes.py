"""Volumes: what one place's storage is, and which places share one."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from k3preflight.models.base import Document, Text
from k3preflight.models.disk import Volume
from k3preflight.probe.backing import backing
from k3preflight.probe.mounts import Mount, covering
from k3preflight.probe.places import Look, Space
from k3preflight.probe.purgeable import purgeable
from k3preflight.probe.quota import quota
from k3preflight.probe.root import Root

_FAT = 2**32 - 1
_NFS2 = 2**31 - 1
_INDIRECT_MOST = 2 * 2**40  # ext2 and ext3 count a file's blocks in 512 bytes, in 32 bits
_NO_SPACE = Space()
_POINTER = 4  # bytes of a block number there


class Seen(Document):
    """A volume as one place sees it. Equal `storage` means one volume, by whatever path."""

    volume: Volume
    storage: Text


def volume_at(look: Look, table: Sequence[Mount], root: Root) -> Seen:
    """The volume that the measured directory lies on. Touches it, and what lies under it."""
    measured = look.measured or ""
    mount = covering(table, measured, look.device)
    space = look.space or _NO_SPACE
    volume = Volume(
        id=measured,
        mount_points=(measured,),
        total=space.total,
        free=space.free,
        reserved=space.reserved,
        inodes_free=space.inodes_free,
        read_only=space.read_only,
    )
    if mount is None:
        return Seen(volume=volume, storage=look.device or measured)
    base = _upper(mount, table) or mount
    limit = quota(measured, mount)
    quota_free = limit.free if limit else None
    frees = [free for free in (space.free, quota_free) if free is not None]
    facts = {
        "id": mount.point,
        "mount_point": mount.point,
        "mount_points": (mount.point,),
        "device": mount.source,
        "filesystem": mount.filesystem,
        "kind": "ram" if base.kind == "ram" else mount.kind,
        "mount_root": mount.root,
        "free": min(frees) if space.free is not None else None,
        "largest_file": _largest_file(mount, space),
        "quota_free": quota_free,
        "quota": limit.text if limit else None,
        "under": tuple(backing(base, table, root)),
        "purgeable": purgeable(measured, space.free) if mount.filesystem == "apfs" else None,
    }
    return Seen(volume=volume.model_copy(update=facts), storage=_storage(base))


def _upper(mount: Mount, table: Sequence[Mount]) -> Mount | None:
    """What an overlay writes to, where that can be seen from here; a container cannot."""
    upper = mount.option("upperdir")
    if mount.kind != "overlay" or upper is None or not Path(upper).is_dir():
        return None
    below = covering(table, upper)
    return None if below is None or below.kind == "overlay" else below


def _storage(mount: Mount) -> str:
    """What makes two mounts one storage: a ZFS pool, an APFS container, else the device number.

    Subvolumes of one btrfs share the number in the mount table, though not in stat.
    """
    if mount.filesystem == "zfs":
        return f"zfs {mount.source.partition('/')[0]}"
    if mount.filesystem == "apfs":
        disk = mount.source.removeprefix("/dev/disk")
        return f"apfs disk{disk.partition('s')[0]}"
    return mount.device or mount.source or mount.point


def _largest_file(mount: Mount, space: Space) -> int | None:
    """The largest file the file system can hold, in bytes, where that is under what it has."""
    name = mount.filesystem.lower()
    if name in {"vfat", "msdos", "fat", "fat32"}:
        return _FAT
    if name == "nfs" and mount.option("vers") == "2":
        return _NFS2
    if name in {"ext2", "ext3"} and space.block:
        pointers = space.block // _POINTER
        blocks = 12 + pointers + pointers**2 + pointers**3
        return min(blocks * space.block, _INDIRECT_MOST)
    return None


def merged(seen: Iterable[Seen | None]) -> tuple[tuple[Volume, ...], Mapping[str, str]]:
    """One volume a storage, and the volume id of every storage.

    Where storage without a device of its own (network, FUSE, a container's layer) has the very size
    and free space of another, the two are taken for one, and the volume says so.
    """
    volumes: dict[str, Volume] = {}
    ids: dict[str, str] = {}
    for item in seen:
        if item is None:
            continue
        known = ids.get(item.storage) or _alike(item.volume, volumes.values())
        if known is None:
            known = item.volume.id
            volumes[known] = item.volume
        elif item.storage not in ids:
            unsure = f"{item.volume.id} has the same size and free space: counted as one volume"
            volumes[known] = volumes[known].model_copy(update={"unsure": unsure})
        ids[item.storage] = known
        volumes[known] = _joined(volumes[known], item.volume)
    return tuple(volumes.values()), ids


def _joined(volume: Volume, other: Volume) -> Volume:
    """One storage seen at two mount points: the smaller free space, as one may have a quota."""
    frees = [free for free in (volume.free, other.free) if free is not None]
    clearable = [size for size in (volume.purgeable, other.purgeable) if size is not None]
    tighter = volume if other.quota_free is None else other
    return volume.model_copy(
        update={
            "mount_points": tuple(dict.fromkeys((*volume.mount_points, *other.mount_points))),
            "free": min(frees, default=None),
            "quota_free": tighter.quota_free,
            "quota": tighter.quota or volume.quota,
            "purgeable": min(clearable, default=None),
        }
    )


def _alike(volume: Volume, others: Iterable[Volume]) -> str | None:
    if volume.total is None:
        return None
    for other in others:
        same = (other.total, other.free) == (volume.total, volume.free)
        if same and not volume.kind == other.kind == "local":
            return other.id
    return None
