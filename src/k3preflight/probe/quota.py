"""Quotas: what a user may still fill where the file system itself has more, where that is readable.

statvfs knows nothing of them. Readable are a btrfs qgroup, for root, and what `quota` prints.
"""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence

from k3preflight.models.base import Bytes, Document, Text
from k3preflight.probe.mounts import Mount

_LIMIT = 3.0  # seconds; `quota` asks servers over the network
_MARKS = {"usrquota", "grpquota", "uquota", "gquota", "quota", "uqnoenforce", "usrjquota"}
_SERVERS = {"nfs", "nfs4", "lustre", "gpfs", "beegfs", "ceph", "panfs", "wekafs"}
_LINE = re.compile(r"^(\S+)\s+(\d+)\*?\s+(\d+)\s+(\d+)\s")
_KIB = 1024


class Quota(Document):
    """What may still be filled under a quota, None where one may apply but cannot be read."""

    free: Bytes | None
    text: Text


def quota(directory: str, mount: Mount) -> Quota | None:
    """The tightest quota on `directory` for this user; None where no quota can apply."""
    if mount.filesystem == "btrfs":
        return _qgroup(directory)
    named = {option.partition("=")[0] for option in mount.options}
    if named & _MARKS or mount.filesystem in _SERVERS:
        return _user_quota(mount)
    return None


def _qgroup(directory: str) -> Quota | None:
    """Btrfs: the subvolume's qgroup and every one above it, which only root may read."""
    if os.geteuid() != 0 or not shutil.which("btrfs"):
        return None
    told = _run(["btrfs", "qgroup", "show", "-reF", "--raw", directory])
    return qgroup_of(told) if told else None


def qgroup_of(told: str) -> Quota | None:
    """The tightest limit in what `btrfs qgroup show -reF --raw` prints."""
    limits = []
    for line in told.splitlines():
        words = line.split()
        if len(words) < 5 or "/" not in words[0]:  # noqa: PLR2004 - id, two used, two limits
            continue
        for used, most in ((words[1], words[3]), (words[2], words[4])):
            if used.isdecimal() and most.isdecimal():
                left = max(0, int(most) - int(used))
                limits.append(Quota(free=left, text=f"btrfs qgroup {words[0]}"))
    return min(limits, key=lambda limit: limit.free or 0, default=None)


def _user_quota(mount: Mount) -> Quota:
    """What `quota` prints for this user and its groups."""
    if not shutil.which("quota"):
        return Quota(free=None, text="quota not checked: there is no quota command")
    told = _run(["quota", "-u", "-g", "-w", "-p", "--show-mntpoint", "--hide-device"])
    if told is None:
        return Quota(free=None, text="quota not checked: the quota command failed")
    found = min(quotas_of(told, mount.point), key=lambda limit: limit.free or 0, default=None)
    return found or Quota(free=None, text="quota not checked: none is reported for this user")


def quotas_of(told: str, point: str) -> Iterator[Quota]:
    """The limits on `point` in what `quota -w -p --show-mntpoint --hide-device` prints."""
    for line in told.splitlines():
        found = _LINE.match(line.strip())
        if found is None or found[1] != point:
            continue
        used, soft, hard = (int(found[index]) * _KIB for index in (2, 3, 4))
        most = hard or soft
        if most:
            yield Quota(free=max(0, most - used), text=f"quota of this user on {point}")


def _run(command: Sequence[str]) -> str | None:
    """What `command` prints; None where it fails or takes too long."""
    try:
        done = subprocess.run(  # noqa: S603 - a fixed command of the system's
            command,
            capture_output=True,
            text=True,
            errors="surrogateescape",
            timeout=_LIMIT,
            check=False,
            env=os.environ | {"LC_ALL": "C"},
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    # `quota` exits 1 where a limit is exceeded, and prints it all the same.
    return done.stdout or None
