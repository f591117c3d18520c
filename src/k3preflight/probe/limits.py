"""What keeps a Linux process under the total: cgroups, NUMA nodes, ulimits, overcommit."""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from k3preflight.models.host import Unknown
from k3preflight.models.machine import Counts, Limit
from k3preflight.probe.cgroup import Tree, find
from k3preflight.probe.root import Root
from k3preflight.units import LARGEST

FACT = "memory.limits"
_CAP_IPC_LOCK = 1 << 14
_ULIMITS: tuple[tuple[str, str, Counts], ...] = (
    ("Max address space", "ulimit -v", "address-space"),
    ("Max data size", "ulimit -d", "private"),
    ("Max locked memory", "ulimit -l", "locked"),
)


class Limits(NamedTuple):
    """The limits found; what was odd and left aside; why what a process can have is unknown."""

    found: tuple[Limit, ...] = ()
    noted: tuple[Unknown, ...] = ()
    unknown: str | None = None


def linux_limits(root: Root, meminfo: Mapping[str, int]) -> Limits:
    """Every limit on memory there is; `meminfo` in bytes."""
    groups = cgroup_limits(root)
    return Limits(
        (
            *groups.found,
            *_huge_pages(meminfo),
            *_nodes(root),
            *_overcommit(root, meminfo),
            *_ulimits(root),
        ),
        groups.noted,
        groups.unknown,
    )


class _GarbageError(ValueError):
    """A limit file that holds no number."""


def _number(root: Root, path: str) -> int | None:
    """The bytes a limit file holds; None for `max`, or where there is no such file."""
    try:
        text = root.read(path).strip()
    except FileNotFoundError:
        return None
    if text in {"max", "-1"}:
        return None
    if not (text.isascii() and text.isdecimal()) or int(text) == 0:
        raise _GarbageError(f"{path} holds {text!r}, which is no limit; it is not counted")
    return min(int(text), LARGEST)


def cgroup_limits(root: Root) -> Limits:
    """The limits of the process's cgroup and of every one above it."""
    tree = find(root, "memory")
    if tree.unknown:
        return Limits(unknown=tree.unknown)
    found: list[Limit] = []
    noted: list[Unknown] = []
    for path, soft in _limit_files(root, tree):
        try:
            size = _number(root, path)
            if size is not None:
                folder = path.rpartition("/")[0]
                left = None if path.endswith("/memory.stat") else _left(root, tree, folder, size)
                found.append(Limit(name=path, counts="resident", bytes=size, left=left, soft=soft))
        except _GarbageError as error:
            noted.append(Unknown(fact=FACT, reason=str(error)))
        except OSError as error:
            return Limits(unknown=f"{path} cannot be read: {error.strerror}")
    if tree.version == 1:
        found += _from_outside(root, tree.folders[0], found)
    return Limits(tuple(found), tuple(noted))


def _limit_files(root: Root, tree: Tree) -> Iterator[tuple[str, bool]]:
    """Each limit file on the way up, and whether it throttles rather than kills."""
    for folder in tree.folders:
        if tree.version == 1:
            # A v1 group without the hierarchy does not count what its children use.
            if folder != tree.folders[0] and _is_flat(root, folder):
                return
            yield f"{folder}/memory.limit_in_bytes", False
        else:
            yield f"{folder}/memory.max", False
            yield f"{folder}/memory.high", True


def _is_flat(root: Root, folder: str) -> bool:
    try:
        return root.read(f"{folder}/memory.use_hierarchy").strip() == "0"
    except OSError:
        return False  # newer kernels know nothing but the hierarchy


def _from_outside(root: Root, folder: str, found: Iterable[Limit]) -> Iterator[Limit]:
    """A v1 limit set above what this mount shows; the kernel carries it down to the group."""
    inherited = _stat(root, folder).get("hierarchical_memory_limit")
    if inherited is not None and inherited < min((limit.bytes for limit in found), default=LARGEST):
        yield Limit(
            name=f"{folder}/memory.stat: hierarchical_memory_limit, set outside this container",
            counts="resident",
            bytes=inherited,
        )


def _left(root: Root, tree: Tree, folder: str, size: int) -> int | None:
    """What can still be taken under `size`: usage without the page cache, which gives way."""
    name, prefix = (
        ("memory.usage_in_bytes", "total_") if tree.version == 1 else ("memory.current", "")
    )
    try:
        usage = int(root.read(f"{folder}/{name}"))
    except (OSError, ValueError):
        return None
    stat = _stat(root, folder)
    cache = sum(stat.get(f"{prefix}{key}", 0) for key in ("inactive_file", "active_file"))
    return max(0, size - max(0, usage - cache))


def _stat(root: Root, folder: str) -> dict[str, int]:
    try:
        rows = [line.split() for line in root.read(f"{folder}/memory.stat").splitlines()]
    except OSError:
        return {}
    return {row[0]: int(row[1]) for row in rows if len(row) == 2 and row[1].isdecimal()}  # noqa: PLR2004 - a name and a number


def _huge_pages(meminfo: Mapping[str, int]) -> Iterator[Limit]:
    reserved = huge_pages(meminfo)
    if reserved and "MemTotal" in meminfo:
        yield Limit(
            name="the rest is reserved for huge pages",
            counts="resident",
            bytes=max(0, meminfo["MemTotal"] - reserved),
        )


def huge_pages(meminfo: Mapping[str, int]) -> int | None:
    """Bytes set aside for huge pages, which no ordinary allocation gets."""
    if "Hugetlb" in meminfo:  # all page sizes, since Linux 4.16
        return meminfo["Hugetlb"]
    if "HugePages_Total" in meminfo and "Hugepagesize" in meminfo:
        return meminfo["HugePages_Total"] * meminfo["Hugepagesize"]
    return None


def _nodes(root: Root) -> Iterator[Limit]:
    """The memory of the NUMA nodes this process may use, where these are not all."""
    try:
        online = ids(root.read("/sys/devices/system/node/has_memory"))
        allowed = ids(status(root).get("Mems_allowed_list", "")) & online
        if not allowed or allowed == online:
            return
        sizes = [_node(root, node) for node in sorted(allowed)]
    except (OSError, ValueError, KeyError):
        return  # no NUMA information: nothing is known to be kept from this process
    names = ", ".join(map(str, sorted(allowed)))
    yield Limit(
        name=f"cpuset: only NUMA node {names} of {len(online)}",
        counts="resident",
        bytes=sum(total for total, _ in sizes),
        left=sum(free for _, free in sizes),
    )


def _node(root: Root, node: int) -> tuple[int, int]:
    """Total, and free with page cache, of one NUMA node."""
    rows = {}
    for line in root.read(f"/sys/devices/system/node/node{node}/meminfo").splitlines():
        name, _, amount = line.partition(":")
        rows[name.split()[-1]] = int(amount.split()[0]) * 1024
    return rows["MemTotal"], rows["MemFree"] + rows["FilePages"] - rows["Shmem"]


def ids(text: str) -> frozenset[int]:
    """The numbers in a kernel list such as `0-3,8`.

    Raises:
        ValueError: no such list.
    """
    found: set[int] = set()
    for part in text.strip().split(","):
        first, dash, last = part.partition("-")
        found.update(range(int(first), int(last if dash else first) + 1))
    return frozenset(found)


def status(root: Root) -> dict[str, str]:
    """The fields of /proc/self/status.

    Raises:
        OSError: it cannot be read.
    """
    rows = (line.partition(":") for line in root.read("/proc/self/status").splitlines())
    return {name: value.strip() for name, _, value in rows}


def _overcommit(root: Root, meminfo: Mapping[str, int]) -> Iterator[Limit]:
    """With vm.overcommit_memory = 2 the kernel refuses private memory beyond CommitLimit."""
    try:
        mode = root.read("/proc/sys/vm/overcommit_memory").strip()
    except OSError:
        return
    if mode == "2" and "CommitLimit" in meminfo:
        size = meminfo["CommitLimit"]
        taken = meminfo.get("Committed_AS")
        yield Limit(
            name="vm.overcommit_memory = 2 (CommitLimit)",
            counts="private",
            bytes=size,
            left=None if taken is None else max(0, size - taken),
        )


def _ulimits(root: Root) -> Iterator[Limit]:
    try:
        rows = root.read("/proc/self/limits").splitlines()
        may_lock = int(status(root).get("CapEff", "0"), 16) & _CAP_IPC_LOCK
    except (OSError, ValueError):
        return
    for title, name, counts in _ULIMITS:
        row = next((row for row in rows if row.startswith(title)), None)
        soft = row[len(title) :].split()[0] if row else "unlimited"
        if soft.isdecimal() and not (counts == "locked" and may_lock):
            yield Limit(name=name, counts=counts, bytes=min(int(soft), LARGEST))
