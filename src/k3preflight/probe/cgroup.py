"""Where in the cgroup tree this process sits, for one controller: v1, v2 and hybrid systems.

The path in /proc/self/cgroup is relative to the cgroup namespace, the mount to what was mounted:
they are joined by the mount's root in mountinfo. Where the two share no beginning, as in a new
namespace over an old mount, the process is looked for below the mount by its id.
"""

import os
from collections.abc import Iterator
from typing import Literal, NamedTuple

from k3preflight.probe.mounts import Mount, mounts
from k3preflight.probe.root import Root

_MOST_FOLDERS = 4096  # looked through for a process id; a busy server has some hundreds


class Tree(NamedTuple):
    """The folders from the process's own up to the mount. None of them: no such controller.

    `unknown` says why the process's own folder cannot be found.
    """

    version: Literal[1, 2] | None = None
    folders: tuple[str, ...] = ()
    unknown: str | None = None


def find(root: Root, controller: str) -> Tree:
    """The tree of one controller, such as `memory` or `cpu`."""
    try:
        lines = root.read("/proc/self/cgroup").splitlines()
        if _is_off(root, controller):
            return Tree()
        table = mounts(root)
    except FileNotFoundError:
        return Tree()  # a kernel without cgroups has no such file
    except OSError as error:
        return Tree(unknown=f"{error.filename} cannot be read: {error.strerror}")
    paths: dict[int, str] = {}
    for line in lines:
        number, _, rest = line.partition(":")
        names, _, path = rest.partition(":")
        if controller in names.split(","):
            paths[1] = path
        elif number == "0" and not names:
            paths[2] = path
    if 1 in paths:
        found = [m for m in table if m.filesystem == "cgroup" and controller in m.options]
        return _tree(root, 1, paths[1], found, controller)
    if 2 in paths:  # noqa: PLR2004 - cgroup v2
        return _tree(root, 2, paths[2], [m for m in table if m.filesystem == "cgroup2"], controller)
    return Tree()


def _is_off(root: Root, controller: str) -> bool:
    """Whether the kernel was started without the controller."""
    try:
        rows = root.read("/proc/cgroups").splitlines()
    except FileNotFoundError:
        return False
    return any(row.split()[:1] == [controller] and row.split()[-1] == "0" for row in rows)


def _tree(
    root: Root, version: Literal[1, 2], path: str, found: list[Mount], controller: str
) -> Tree:
    if not found:
        return Tree(unknown=f"the cgroup tree of {controller} is not mounted here")
    for mount in sorted(found, key=lambda item: len(item.root)):
        below = _below(path, mount.root)
        if below is not None and root.at(mount.point + below).is_dir():
            return Tree(version, tuple(_upwards(mount.point, below)))
    process = root.read("/proc/self/stat").split(maxsplit=1)[0]
    for mount in found:
        below = _searched(root, mount.point, process)
        if below is not None:
            return Tree(version, tuple(_upwards(mount.point, below)))
    points = " or ".join(mount.point for mount in found)
    return Tree(unknown=f"this process's own cgroup, {path}, is not to be found below {points}")


def _below(path: str, mount_root: str) -> str | None:
    """What leads from the mount to `path`; None where that cannot be told from the two."""
    if ".." in path.split("/") or ".." in mount_root.split("/"):
        return None
    top = mount_root.rstrip("/")
    if path.rstrip("/") == top:
        return ""
    return path.removeprefix(top).rstrip("/") if path.startswith(top + "/") else None


def _searched(root: Root, point: str, process: str) -> str | None:
    start = str(root.at(point))
    for looked_at, (folder, _, files) in enumerate(os.walk(start)):
        if looked_at == _MOST_FOLDERS:
            break
        if "cgroup.procs" not in files:
            continue
        below = folder.removeprefix(start).rstrip("/")
        try:
            if process in root.read(f"{point}{below}/cgroup.procs").split():
                return below
        except OSError:  # gone meanwhile, or a threaded group: not the one that is looked for
            continue
    return None


def _upwards(point: str, below: str) -> Iterator[str]:
    parts = [part for part in below.split("/") if part]
    for length in range(len(parts), -1, -1):
        yield "/".join([point.rstrip("/"), *parts[:length]])
