"""Reads the machine. The only package that touches it; it judges nothing."""

import platform
import sys
from datetime import UTC, datetime

from k3preflight import __version__
from k3preflight.models.host import Host, System, Wanted
from k3preflight.probe.disk import probe_disk, untouched
from k3preflight.probe.memory import probe_memory

_SYSTEMS = {"Linux": "linux", "Darwin": "macos", "Windows": "windows"}
_MACHINES = {"AMD64": "x86_64", "x86_64": "x86_64", "aarch64": "arm64", "arm64": "arm64"}


def probe(wanted: Wanted) -> Host:
    """The facts `wanted` asks for, as a host document; what cannot be read is null."""
    memory, memory_unknown = probe_memory()
    disk = probe_disk(wanted.places) if wanted.touch_disk else untouched(wanted.places)
    return Host(
        tool_version=__version__,
        name=platform.node() or None,
        probed_at=datetime.now(UTC).isoformat(timespec="seconds"),
        profiles=wanted.profiles,
        system=System(
            system=_SYSTEMS.get(platform.system(), platform.system().lower()),
            release=platform.release(),
            machine=_MACHINES.get(platform.machine(), platform.machine()),
            python=".".join(map(str, sys.version_info[:3])),
        ),
        memory=memory,
        places=disk.places,
        volumes=disk.volumes,
        unknown=(*memory_unknown, *disk.unknown),
    )
