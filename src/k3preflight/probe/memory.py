"""RAM: what there is, what a process can have, what is available now."""

from collections.abc import Mapping
from typing import NamedTuple

import psutil

from k3preflight.models.host import Unknown
from k3preflight.models.machine import Limit, Memory
from k3preflight.probe.limits import FACT, huge_pages, linux_limits
from k3preflight.probe.root import Root

PHYSICAL = "physical memory"


class MemoryFacts(NamedTuple):
    """The facts, and what could not be read."""

    memory: Memory
    unknown: tuple[Unknown, ...] = ()


def probe_memory(root: Root, system: str, sysctl: Mapping[str, str]) -> MemoryFacts:
    """Total, usable and available RAM; null and a reason where the system does not say.

    `sysctl` is what a Mac answers; nothing of it is read elsewhere.
    """
    if system == "linux":
        return _linux(root)
    facts = _reported()
    if system == "macos" and facts.memory.total is not None:
        return facts._replace(memory=_with_gpu_limit(facts.memory, facts.memory.total, sysctl))
    return facts


def _linux(root: Root) -> MemoryFacts:
    try:
        meminfo = _meminfo(root)
    except OSError as error:
        return _nothing(f"/proc/meminfo cannot be read: {error.strerror}")
    total = meminfo.get("MemTotal")
    if total is None:
        return _nothing("/proc/meminfo has no MemTotal")
    limits = linux_limits(root, meminfo)
    found = tuple(
        limit for limit in limits.found if limit.counts != "resident" or limit.bytes < total
    )
    resident = [limit for limit in found if limit.counts == "resident"]
    binding = min(resident, key=lambda limit: limit.bytes, default=None)
    unknown = [*limits.noted]
    usable: int | None = binding.bytes if binding else total
    usable_from: str | None = binding.name if binding else PHYSICAL
    if limits.unknown:
        usable, usable_from = None, None
        unknown.append(Unknown(fact=FACT, reason=limits.unknown))
        reason = f"a limit may lie under the machine's total: {limits.unknown}"
        unknown.append(Unknown(fact="memory.usable", reason=reason))
    available = _available(meminfo.get("MemAvailable"), resident)
    if available is None:
        reason = "/proc/meminfo has no MemAvailable (Linux before 3.14)"
        unknown.append(Unknown(fact="memory.available", reason=reason))
    memory = Memory(
        total=total,
        usable=usable,
        available=available,
        swap_total=meminfo.get("SwapTotal"),
        usable_from=usable_from,
        limits=found,
        huge_pages=huge_pages(meminfo),
        zfs_arc=_arc(root),
        wsl=_is_wsl(root),
    )
    return MemoryFacts(memory, tuple(unknown))


def _available(system: int | None, limits: list[Limit]) -> int | None:
    """What every limit and the system as a whole still leave."""
    if system is None:
        return None
    return min([system, *(limit.left for limit in limits if limit.left is not None)])


def _meminfo(root: Root) -> dict[str, int]:
    """Fields of /proc/meminfo in bytes; the few that count pages stay counts."""
    found: dict[str, int] = {}
    for line in root.read("/proc/meminfo").splitlines():
        name, _, rest = line.partition(":")
        parts = rest.split()
        if parts and parts[0].isdecimal():
            found[name] = int(parts[0]) * (1024 if parts[1:] == ["kB"] else 1)
    return found


def _arc(root: Root) -> int | None:
    """Bytes of the ZFS cache above the least it keeps; /proc/meminfo counts them as used."""
    try:
        rows = [line.split() for line in root.read("/proc/spl/kstat/zfs/arcstats").splitlines()]
    except OSError:
        return None
    values = {row[0]: int(row[2]) for row in rows if len(row) == 3 and row[2].isdecimal()}  # noqa: PLR2004 - name, type, data
    if "size" not in values:
        return None
    return max(0, values["size"] - values.get("c_min", 0))


def _is_wsl(root: Root) -> bool | None:
    try:
        return "microsoft" in root.read("/proc/sys/kernel/osrelease").lower()
    except OSError:
        return None


def _reported() -> MemoryFacts:
    """What the system reports to psutil."""
    try:
        ram = psutil.virtual_memory()
        swap = psutil.swap_memory().total
    except (OSError, RuntimeError, psutil.Error) as error:
        return _nothing(f"the system does not report it: {error}")
    return MemoryFacts(
        Memory(
            total=ram.total,
            usable=ram.total,
            available=ram.available,
            swap_total=swap,
            usable_from=PHYSICAL,
        )
    )


def _nothing(reason: str) -> MemoryFacts:
    facts = ("memory.total", "memory.usable", "memory.available", "memory.swap_total")
    return MemoryFacts(Memory(), tuple(Unknown(fact=fact, reason=reason) for fact in facts))


def _with_gpu_limit(memory: Memory, total: int, sysctl: Mapping[str, str]) -> Memory:
    """How much of the shared memory the GPU of an Apple chip may hold: as set, or an estimate."""
    if sysctl.get("hw.optional.arm64") != "1":
        return memory
    wired = sysctl.get("iogpu.wired_limit_mb", "")
    if wired.isdecimal() and int(wired) > 0:
        size, source = int(wired) * 2**20, "iogpu.wired_limit_mb"
    else:
        # What Metal recommends by default: two thirds up to 36 GiB, three quarters above.
        size = total * 2 // 3 if total <= 36 * 2**30 else total * 3 // 4
        source = "estimate: iogpu.wired_limit_mb is not set"
    return memory.model_copy(update={"gpu_limit": size, "gpu_limit_from": source})
