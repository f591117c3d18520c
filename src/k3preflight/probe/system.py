"""The operating system and the processor's own architecture, whatever the interpreter believes."""

import platform
import struct
import subprocess
import sys
from collections.abc import Iterable, Mapping

from k3preflight.models.machine import System
from k3preflight.probe.root import Root

_SYSTEMS = {"Linux": "linux", "Darwin": "macos", "Windows": "windows"}
_MACHINES = {"AMD64": "x86_64", "x86_64": "x86_64", "aarch64": "arm64", "arm64": "arm64"}
_SYSCTL_NAMES = (
    "sysctl.proc_translated",
    "hw.optional.arm64",
    "hw.logicalcpu",
    "machdep.cpu.brand_string",
    "machdep.cpu.features",
    "machdep.cpu.leaf7_features",
    "iogpu.wired_limit_mb",
)
_LIMIT = 5  # seconds


def system_name() -> str:
    """`linux`, `macos`, `windows`, or what else the interpreter calls it."""
    return _SYSTEMS.get(platform.system(), platform.system().lower())


def probe_system(root: Root, system: str, sysctl: Mapping[str, str]) -> System:
    """System and architecture. An emulated interpreter claims the one it is built for."""
    emulated = sysctl.get("sysctl.proc_translated") == "1"
    claimed = _MACHINES.get(platform.machine(), platform.machine().lower())
    return System(
        system=system,
        release=platform.release() or None,
        machine="arm64" if emulated else claimed or None,
        python=".".join(map(str, sys.version_info[:3])),
        bits=8 * struct.calcsize("P"),
        emulated=emulated if system == "macos" else None,
        like=_distribution(root) if system == "linux" else (),
    )


def _distribution(root: Root) -> tuple[str, ...]:
    """ID and ID_LIKE of os-release(5), nearest first."""
    for path in ("/etc/os-release", "/usr/lib/os-release"):
        try:
            lines = root.read(path).splitlines()
        except OSError:
            continue
        values = {
            name: value.strip().strip("\"'")
            for name, _, value in (line.partition("=") for line in lines)
        }
        return (*values.get("ID", "").split(), *values.get("ID_LIKE", "").split())
    return ()


def read_sysctl(system: str, names: Iterable[str] = _SYSCTL_NAMES) -> dict[str, str]:
    """What a Mac's sysctl answers to `names`; an unknown name is left out. Empty elsewhere."""
    if system != "macos":
        return {}
    try:
        done = subprocess.run(  # noqa: S603 - fixed words
            ["sysctl", "-i", *names],  # noqa: S607 - /usr/sbin on a Mac, wherever PATH has it
            capture_output=True,
            text=True,
            errors="surrogateescape",
            stdin=subprocess.DEVNULL,
            timeout=_LIMIT,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return {}
    rows = (line.partition(": ") for line in done.stdout.splitlines())
    return {name: value.strip() for name, colon, value in rows if colon}
