"""Other local volumes of this machine, looked at only where a place is too small.

Never all mounts: only local file systems on block devices, written to, each in a child.
"""

from k3preflight.models.host import Host
from k3preflight.probe.child import ask
from k3preflight.probe.mounts import Mount, mounts
from k3preflight.probe.root import REAL, Root
from k3preflight.probe.sight import Question
from k3preflight.probe.volumes import merged

_SYSTEM = ("/boot", "/efi", "/snap", "/var/lib/docker", "/System", "/private/var/vm")
_MOST = 32  # volumes; a machine with more has one that is found by name


def with_alternatives(host: Host, root: Root = REAL) -> Host:
    """The host with its other local volumes among its facts."""
    known = {point for volume in host.volumes for point in volume.mount_points}
    try:
        table = mounts(root)
    except OSError:  # no table, no others: the places themselves were measured without it
        return host
    devices = {mount.point: mount.device for mount in table}
    own = {devices.get(point) for point in known}
    points = [
        mount.point
        for mount in table
        if _is_candidate(mount) and mount.point not in known and mount.device not in own
    ]
    sights = ask([Question(path=point, root=root.folder) for point in points[:_MOST]])
    found = [sight.seen for sight in sights if sight and sight.look.writable]
    volumes, _ = merged(found)
    useful = tuple(volume for volume in volumes if volume.free and volume.kind == "local")
    return host.model_copy(update={"disk": host.disk.model_copy(update={"alternatives": useful})})


def _is_candidate(mount: Mount) -> bool:
    return mount.kind == "local" and not mount.read_only and not mount.point.startswith(_SYSTEM)
