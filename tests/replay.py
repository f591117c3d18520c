"""Another machine's /proc, /sys and /etc, as files below a folder."""

from pathlib import Path

from k3preflight.probe.root import Root

GIB = 2**30
UNLIMITED_V1 = "9223372036854771712\n"
V1_MOUNT = "35 31 0:32 {root} /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
V2_MOUNT = "30 23 0:26 {root} /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n"
MEMINFO = {"MemTotal": 64 * GIB, "MemAvailable": 60 * GIB, "SwapTotal": 8 * GIB}


def meminfo(**values: int) -> str:
    """/proc/meminfo of a 64 GiB machine with 60 GiB available, with `values` in bytes on top."""
    rows = (MEMINFO | values).items()
    return "".join(f"{name}:{size // 1024:>15} kB\n" for name, size in rows)


def replay(folder: Path, files: dict[str, str]) -> Root:
    """A root that holds `files`, by their paths on that machine."""
    for path, text in (
        {"/proc/meminfo": meminfo(), "/proc/self/stat": "77 (k3 x) R"} | files
    ).items():
        place = folder / path.lstrip("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8", errors="surrogateescape")
    return Root(folder)
