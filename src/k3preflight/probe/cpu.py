"""The processor: what every core can do, and how many of them this process gets."""

from collections.abc import Mapping
from typing import NamedTuple

import psutil

from k3preflight.models.host import Unknown
from k3preflight.models.machine import Cpu
from k3preflight.probe.cgroup import find
from k3preflight.probe.limits import ids, status
from k3preflight.probe.root import Root


class CpuFacts(NamedTuple):
    """The facts, and what could not be read."""

    cpu: Cpu
    unknown: tuple[Unknown, ...] = ()


def probe_cpu(root: Root, system: str, sysctl: Mapping[str, str]) -> CpuFacts:
    """Flags and cores. Null and a reason where the system does not say."""
    if system == "linux":
        return _linux(root)
    logical = psutil.cpu_count()
    unknown = [] if logical else [Unknown(fact="cpu.cores", reason="the system does not report it")]
    if system == "macos":
        named = ("machdep.cpu.features", "machdep.cpu.leaf7_features")
        flags = tuple(flag for name in named for flag in sysctl.get(name, "").lower().split())
        model = sysctl.get("machdep.cpu.brand_string")
    else:
        flags, model = (), None
    if not flags:
        unknown.append(Unknown(fact="cpu.flags", reason=f"{system} does not list them"))
    cpu = Cpu(
        model=model,
        flags=flags or None,
        logical=logical,
        cores=logical,
        cores_from="the system's count" if logical else None,
        hypervisor="vmm" in flags if flags else None,
    )
    return CpuFacts(cpu, tuple(unknown))


def _linux(root: Root) -> CpuFacts:
    unknown: list[Unknown] = []
    try:
        blocks = _blocks(root.read("/proc/cpuinfo"))
    except OSError as error:
        blocks = []
        reason = f"/proc/cpuinfo cannot be read: {error.strerror}"
        unknown.append(Unknown(fact="cpu.flags", reason=reason))
    listed = [block.get("flags") or block.get("Features") for block in blocks]
    flags: tuple[str, ...] | None = None
    if listed and all(listed):
        common = frozenset.intersection(*(frozenset((text or "").split()) for text in listed))
        flags = tuple(sorted(common))
    elif not unknown:
        reason = "/proc/cpuinfo does not list them for every core"
        unknown.append(Unknown(fact="cpu.flags", reason=reason))
    cores, cores_from = _cores(root)
    if cores is None:
        unknown.append(Unknown(fact="cpu.cores", reason=cores_from))
    cpu = Cpu(
        model=next((block["model name"] for block in blocks if "model name" in block), None),
        flags=flags,
        logical=len(blocks) or None,
        cores=cores,
        cores_from=None if cores is None else cores_from,
        hypervisor=None if flags is None else "hypervisor" in flags,
    )
    return CpuFacts(cpu, tuple(unknown))


def _blocks(text: str) -> list[dict[str, str]]:
    """One block of fields a core."""
    found = []
    for part in text.split("\n\n"):
        rows = (line.partition(":") for line in part.splitlines())
        block = {name.strip(): value.strip() for name, colon, value in rows if colon}
        if "processor" in block:
            found.append(block)
    return found


def _cores(root: Root) -> tuple[int | None, str]:
    """Cores this process may use, and what decides: its affinity or a cgroup's quota.

    A quota of one and a half cores counts as one; of less than one, as one.
    """
    try:
        allowed = len(ids(status(root)["Cpus_allowed_list"]))
    except (OSError, KeyError, ValueError):
        return None, "/proc/self/status does not list the CPUs this process may use"
    quota = min(_quotas(root), default=None)
    if quota is None or quota[0] >= allowed:
        return allowed, "the CPUs this process may use"
    return quota


def _quotas(root: Root) -> list[tuple[int, str]]:
    """Whole cores each cgroup on the way up allows, and the file that says so."""
    tree = find(root, "cpu")
    found = []
    for folder in tree.folders:
        try:
            if tree.version == 1:
                path = f"{folder}/cpu.cfs_quota_us"
                quota, period = root.read(path), root.read(f"{folder}/cpu.cfs_period_us")
            else:
                path = f"{folder}/cpu.max"
                quota, period = root.read(path).split()
            microseconds, length = int(quota), int(period)
        except (OSError, ValueError):  # no such file at the top; `max`
            continue
        if microseconds > 0 and length > 0:
            found.append((max(1, microseconds // length), path))
    return found
