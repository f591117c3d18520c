"""The mount table: which mount a path lies on, and what kind of storage that is."""

import os
import re
import sys
from collections.abc import Sequence
from typing import NamedTuple

import psutil

from k3preflight.models.disk import VolumeKind
from k3preflight.probe.root import Root
from k3preflight.text import visible

_OCTAL = re.compile(r"\\([0-7]{3})")
_RAM = {"tmpfs", "ramfs", "hugetlbfs", "devtmpfs", "rootfs"}
_OVERLAY = {"overlay", "overlayfs", "aufs", "unionfs", "fuse.fuse-overlayfs", "fuse.unionfs"}
_IMAGE = {"squashfs", "fuse.squashfuse", "iso9660", "udf", "erofs", "cramfs", "romfs", "cdfs"}
_LOCAL = {
    *("ext2", "ext3", "ext4", "xfs", "btrfs", "zfs", "f2fs", "jfs", "nilfs2", "bcachefs"),
    *("reiserfs", "vfat", "msdos", "exfat", "ntfs", "ntfs3", "hfs", "hfsplus", "apfs", "ufs"),
    *("minix", "ocfs2", "gfs2", "fat32", "fat", "refs"),
}
_NETWORK = {
    *("nfs", "nfs4", "cifs", "smb2", "smb3", "smbfs", "afpfs", "webdav", "afs", "coda", "ncpfs"),
    *("ceph", "glusterfs", "lustre", "gpfs", "beegfs", "orangefs", "pvfs2", "panfs", "wekafs"),
    *("9p", "virtiofs", "drvfs", "vboxsf", "prl_fs", "vmhgfs", "fakeowner", "osxfs"),
    *("fuse.sshfs", "fuse.s3fs", "fuse.rclone", "fuse.juicefs", "fuse.glusterfs", "fuse.ceph"),
    *("fuse.gcsfuse", "fuse.goofys", "fuse.blobfuse", "fuse.blobfuse2", "fuse.vmhgfs-fuse"),
    *("fuse.grpcfuse", "fuse.mount-s3", "fuse.davfs", "fuse.curlftpfs", "fuse.drvfs"),
}
_RAM_DEVICE = re.compile(r"^/dev/(zram|ram)[0-9]+$")


class Mount(NamedTuple):
    """One line of the mount table; `root` is what part of the file system is mounted."""

    point: str
    filesystem: str
    source: str
    device: str | None = None
    root: str = "/"
    options: frozenset[str] = frozenset()

    @property
    def kind(self) -> VolumeKind:
        """What kind of storage it is, by its file system."""
        name = self.filesystem.lower()
        if name in _RAM or _RAM_DEVICE.match(self.source):
            return "ram"
        if name in _OVERLAY:
            return "overlay"
        if name in _IMAGE:
            return "image"
        if name in _NETWORK or "remote" in self.options or self.source.startswith("\\\\"):
            return "network"
        if name.startswith(("fuse", "macfuse", "osxfuse")):
            return "fuse"
        return "local" if name in _LOCAL else "unknown"

    @property
    def read_only(self) -> bool:
        """Whether this mount is read-only."""
        return "ro" in self.options

    def option(self, name: str) -> str | None:
        """The value of `name=value` among the options."""
        start = f"{name}="
        return next((item[len(start) :] for item in self.options if item.startswith(start)), None)


def mounts(root: Root) -> tuple[Mount, ...]:
    """The mount table, in mounting order; empty where the system shows none."""
    if sys.platform == "linux":
        return parse(root.read("/proc/self/mountinfo"))
    return tuple(  # pragma: no cover - macOS and Windows
        Mount(
            visible(part.mountpoint),
            part.fstype,
            part.device,
            options=frozenset(part.opts.split(",")),
        )
        for part in psutil.disk_partitions(all=True)
    )


def parse(mountinfo: str) -> tuple[Mount, ...]:
    r"""Mounts of /proc/self/mountinfo; `\040` and the like are unescaped."""
    found: list[Mount] = []
    for line in mountinfo.splitlines():
        before, dash, after = line.partition(" - ")
        left, right = before.split(" "), after.split(" ")
        if not dash or len(left) < 6 or len(right) < 2:  # noqa: PLR2004 - the fields used below
            continue
        options = {*left[5].split(","), *(right[2].split(",") if len(right) > 2 else ())}  # noqa: PLR2004
        # The mount's own ro or rw decides; the file system's may differ and is seen by statvfs.
        options -= {"ro"} if "rw" in left[5].split(",") else set()
        found.append(
            Mount(
                point=_plain(left[4]),
                filesystem=right[0],
                source=_plain(right[1]),
                device=left[2],
                root=_plain(left[3]),
                options=frozenset(map(_plain, options)),
            )
        )
    return tuple(found)


def _plain(field: str) -> str:
    return visible(_OCTAL.sub(lambda match: chr(int(match[1], 8)), field))


def covering(table: Sequence[Mount], path: str, device: str | None = None) -> Mount | None:
    """The mount `path` lies on: the longest prefix, the last of equals.

    A mount hidden under a later one has another device than the path itself, and is passed over
    where `device` says so. Subvolumes and overlays show devices no mount has: then nothing is.
    """
    inside = [mount for mount in table if _is_within(path, mount.point)]
    inside.sort(key=lambda mount: len(mount.point))  # stable: the last mounted stays last
    exact = [mount for mount in inside if mount.device == device]
    best = exact or inside
    return best[-1] if best else None


def _is_within(path: str, folder: str) -> bool:
    """Whether `path` is `folder` or below it, by whole names."""
    separator = os.sep
    base = folder.rstrip(separator)
    if os.path.normcase(path) == os.path.normcase(base or separator):
        return True
    return os.path.normcase(path).startswith(os.path.normcase(base) + separator)
