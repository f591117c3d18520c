"""Facts to judge: a host document with given numbers, and scenarios by name."""

from k3preflight.assess import assess
from k3preflight.assess.choice import verdict_of
from k3preflight.models.disk import Place, Volume
from k3preflight.models.host import Host, Unknown
from k3preflight.models.machine import Cpu, Memory, System, Tool
from k3preflight.models.names import Role
from k3preflight.models.report import Policy, Report
from k3preflight.models.scenario import Choice
from k3preflight.profiles import catalog, choose

GB = 10**9
TOOLS = ("cc", "openmp", "make-or-task", "git", "cargo", "cmake", "cxx", "hf", "python")
WAYS = ("kimi-k3-in-c", "rabbit", "ud-iq1-s")


def choices(*names: str) -> tuple[Choice, ...]:
    """The choices these names ask for."""
    return choose(names, catalog())


def host(
    free: int | None = 2000 * GB,
    usable: int | None = 128 * GB,
    available: int | None = None,
    *,
    trunk_free: int | None = None,
    profiles: tuple[str, ...] = WAYS,
) -> Host:
    """A Linux host with one volume at /data, and a second at /fast where `trunk_free` is given."""
    apart = trunk_free is not None
    volumes = [Volume(id="/data", mount_point="/data", device="/dev/nvme0n1", free=free)]
    if apart:
        volumes.append(Volume(id="/fast", mount_point="/fast", free=trunk_free))
    places = [
        Place(
            profile=profile,
            role=role,
            requested=path,
            decided_by="--dir",
            follows=Role.CHECKPOINT if role is Role.TRUNK and not apart else None,
            path=path,
            resolved=path,
            measured="/data",
            exists=False,
            writable=True,
            volume=volume,
        )
        for profile in profiles
        for role, path, volume in (
            (Role.CHECKPOINT, "/data/k3", "/data"),
            (Role.TRUNK, "/fast/t" if apart else "/data/k3/trunk", "/fast" if apart else "/data"),
        )
        if role is Role.CHECKPOINT or profile == "kimi-k3-in-c"
    ]
    unknown = []
    if usable is None:
        unknown.append(Unknown(fact="memory.usable", reason="/proc/meminfo cannot be read"))
    return Host(
        tool_version="0.1.0",
        name="box",
        profiles=profiles,
        system=System(system="linux", machine="x86_64", bits=64, like=("debian",)),
        cpu=Cpu(model="A CPU", flags=("avx2", "fma"), cores=16, cores_from="its affinity"),
        tools=tuple(
            Tool(id=name, path=f"/bin/{name}", version="99.0", works=True) for name in TOOLS
        ),
        gpus=(),
        memory=Memory(
            total=usable,
            usable=usable,
            available=usable if available is None else available,
            usable_from="physical memory",
        ),
        places=tuple(places),
        volumes=tuple(volumes),
        unknown=tuple(unknown),
    )


def report(machine: Host, *names: str, policy: Policy | None = None) -> Report:
    """The report on `machine`, for the named scenarios or for the bare check."""
    return assess(choices(*names), machine, policy or Policy(), named=bool(names))


def broken() -> Report:
    """The report on a document, one of several, that is no host."""
    return Report(
        tool_version="0.1.0",
        host=None,
        document="hosts.ndjson, line 3",
        problem="hosts.ndjson, line 3: not a host document",
        policy=Policy(),
        assessments=(),
        verdict=verdict_of((), {}, named=True),
    )
