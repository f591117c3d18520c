"""Reads the machine. The only package that touches it; it judges nothing."""

import platform
from datetime import UTC, datetime

from k3preflight import __version__
from k3preflight.models.host import Host, Wanted
from k3preflight.probe.cpu import probe_cpu
from k3preflight.probe.disk import probe_disk
from k3preflight.probe.gpu import graphics, not_asked, probe_gpu
from k3preflight.probe.memory import probe_memory
from k3preflight.probe.root import Root
from k3preflight.probe.system import probe_system, read_sysctl, system_name
from k3preflight.probe.tools import probe_tools


def probe(wanted: Wanted) -> Host:
    """The facts `wanted` asks for, as a host document; what cannot be read is null."""
    root, system = Root(), system_name()
    sysctl = read_sysctl(system)
    memory = probe_memory(root, system, sysctl)
    cpu = probe_cpu(root, system, sysctl)
    disk = probe_disk(wanted, root)
    # After the disk: what it forks must not find the threads that these two start.
    gpu = probe_gpu() if wanted.gpu else not_asked("not looked at: no chosen runtime uses a GPU")
    tools = probe_tools(wanted.tools, system)
    return Host(
        tool_version=__version__,
        name=platform.node() or None,
        probed_at=datetime.now(UTC).isoformat(timespec="seconds"),
        profiles=wanted.profiles,
        system=probe_system(root, system, sysctl),
        memory=memory.memory,
        cpu=cpu.cpu,
        tools=tools,
        gpus=gpu.gpus,
        graphics=graphics(root),
        places=disk.places,
        volumes=disk.volumes,
        disk=disk.disk,
        unknown=(*memory.unknown, *cpu.unknown, *gpu.unknown, *disk.unknown),
    )
