"""Memory of other machines, replayed: cgroup v1, v2 and hybrid, NUMA, ulimits, overcommit, ZFS."""

from pathlib import Path

import psutil
import pytest

from k3preflight.models.machine import Memory
from k3preflight.probe.memory import MemoryFacts, probe_memory
from k3preflight.probe.root import Root
from replay import GIB, UNLIMITED_V1, V1_MOUNT, V2_MOUNT, meminfo, replay

V1 = "/sys/fs/cgroup/memory"
V2 = "/sys/fs/cgroup"


def facts(folder: Path, files: dict[str, str]) -> MemoryFacts:
    return probe_memory(replay(folder, files), "linux", {})


def memory(folder: Path, files: dict[str, str]) -> Memory:
    found = facts(folder, files)
    assert found.unknown == ()
    return found.memory


def v2(path: str = "/app", root: str = "/", **files: str) -> dict[str, str]:
    """A unified tree; `files` are those of the folder the process is in."""
    inside = path.removeprefix(root.rstrip("/")).rstrip("/")
    return {
        "/proc/self/cgroup": f"0::{path}\n",
        "/proc/self/mountinfo": V2_MOUNT.format(root=root),
    } | {f"{V2}{inside}/memory.{name}": text for name, text in files.items()}


def test_no_cgroups_at_all_means_the_whole_machine(tmp_path: Path) -> None:
    found = memory(tmp_path, {})
    assert (found.total, found.usable, found.available) == (64 * GIB, 64 * GIB, 60 * GIB)
    assert (found.usable_from, found.limits, found.binding) == ("physical memory", (), None)
    assert found.swap_total == 8 * GIB  # a fact of its own, in no sum


@pytest.mark.parametrize("spelling", ["max\n", UNLIMITED_V1, str(2**63 - 1), str(65 * GIB), "-1\n"])
def test_spellings_of_unlimited(tmp_path: Path, spelling: str) -> None:
    assert memory(tmp_path, v2(max=spelling)).usable == 64 * GIB


@pytest.mark.parametrize("garbage", ["", "lots", "0", "-5", "1e9", "٣", "12 GB"])
def test_garbage_is_noted_and_no_limit(tmp_path: Path, garbage: str) -> None:
    found = facts(tmp_path, v2(max=garbage))
    assert found.memory.usable == 64 * GIB
    (noted,) = found.unknown
    assert noted.fact == "memory.limits"
    assert f"{V2}/app/memory.max" in noted.reason


def test_page_cache_is_no_use_of_a_limit(tmp_path: Path) -> None:
    stat = f"anon {GIB}\ninactive_file {4 * GIB}\nactive_file {2 * GIB}\nodd line here\n"
    found = memory(tmp_path, v2(max=str(8 * GIB), current=str(8 * GIB), stat=stat))
    assert (found.usable, found.available) == (8 * GIB, 6 * GIB)
    assert found.usable_from == f"{V2}/app/memory.max"


def test_the_system_may_have_less_left_than_the_limit(tmp_path: Path) -> None:
    files = v2(max=str(32 * GIB), current="0") | {"/proc/meminfo": meminfo(MemAvailable=GIB)}
    assert memory(tmp_path, files).available == GIB


def test_a_usage_that_cannot_be_read_leaves_the_systems_figure(tmp_path: Path) -> None:
    found = memory(tmp_path, v2(max=str(32 * GIB)))
    assert (found.limits[0].left, found.available) == (None, 60 * GIB)


def test_memory_high_binds_and_is_named(tmp_path: Path) -> None:
    found = memory(tmp_path, v2(max=str(16 * GIB), high=str(12 * GIB), current="0"))
    assert (found.usable, found.usable_from) == (12 * GIB, f"{V2}/app/memory.high")
    assert found.binding
    assert found.binding.soft
    assert {limit.bytes for limit in found.limits} == {12 * GIB, 16 * GIB}


def test_a_limit_three_levels_up_binds(tmp_path: Path) -> None:
    files = v2("/slurm/job_7/step_0/task_0", max="max", current="0") | {
        f"{V2}/slurm/job_7/memory.max": str(4 * GIB),
        f"{V2}/slurm/memory.max": str(40 * GIB),
    }
    found = memory(tmp_path, files)
    assert (found.usable, found.usable_from) == (4 * GIB, f"{V2}/slurm/job_7/memory.max")


def test_docker_v2_in_its_own_namespace(tmp_path: Path) -> None:
    found = memory(tmp_path, v2("/", max=str(2 * GIB), current="0"))
    assert (found.usable, found.usable_from) == (2 * GIB, f"{V2}/memory.max")


def test_a_mount_of_a_part_of_the_tree_is_joined(tmp_path: Path) -> None:
    files = v2("/docker/abc/inner", "/docker/abc", max=str(2 * GIB), current="0")
    assert memory(tmp_path, files).usable_from == f"{V2}/inner/memory.max"


def test_of_several_mounts_the_one_that_shows_most_is_used(tmp_path: Path) -> None:
    files = v2("/a/b", max=str(8 * GIB)) | {f"{V2}/a/memory.max": str(2 * GIB)}
    inner = "31 23 0:26 /a/b /mnt/part rw - cgroup2 none rw\n"
    files["/proc/self/mountinfo"] = inner + files["/proc/self/mountinfo"]
    assert memory(tmp_path, files).usable == 2 * GIB


def v1(path: str, root: str = "/", **files: str) -> dict[str, str]:
    inside = path.removeprefix(root.rstrip("/")).rstrip("/")
    return {
        "/proc/self/cgroup": f"9:name=systemd:/\n4:memory:{path}\n0::/\n",
        "/proc/self/mountinfo": V1_MOUNT.format(root=root) + V2_MOUNT.format(root="/"),
    } | {f"{V1}{inside}/memory.{name}": text for name, text in files.items()}


def test_docker_v1_with_the_hosts_path(tmp_path: Path) -> None:
    """The path is the host's, the mount shows the container's own folder alone."""
    found = memory(tmp_path, v1("/docker/abc", "/docker/abc", limit_in_bytes=str(2 * GIB), stat=""))
    assert (found.usable, found.usable_from) == (2 * GIB, f"{V1}/memory.limit_in_bytes")


def test_v1_carries_a_pods_limit_into_the_container(tmp_path: Path) -> None:
    files = v1(
        "/kubepods/pod1/c1",
        "/kubepods/pod1/c1",
        limit_in_bytes=UNLIMITED_V1,
        usage_in_bytes=str(GIB),
        stat=f"hierarchical_memory_limit {3 * GIB}\ntotal_inactive_file 0\n",
    )
    found = memory(tmp_path, files)
    assert found.usable == 3 * GIB
    assert found.usable_from
    assert found.usable_from.endswith("hierarchical_memory_limit, set outside this container")


def test_v1_page_cache_is_counted_over_the_whole_tree(tmp_path: Path) -> None:
    stat = f"inactive_file 1\ntotal_inactive_file {GIB}\ntotal_active_file {GIB}\n"
    files = v1("/a", limit_in_bytes=str(4 * GIB), usage_in_bytes=str(3 * GIB), stat=stat)
    assert memory(tmp_path, files).available == 3 * GIB


@pytest.mark.parametrize(("flag", "usable"), [("0\n", 64 * GIB), ("1\n", 2 * GIB)])
def test_v1_without_the_hierarchy_a_parent_limits_nobody(
    tmp_path: Path, flag: str, usable: int
) -> None:
    files = v1("/a/b", limit_in_bytes=UNLIMITED_V1) | {
        f"{V1}/a/memory.limit_in_bytes": str(2 * GIB),
        f"{V1}/a/memory.use_hierarchy": flag,
    }
    assert memory(tmp_path, files).usable == usable


def test_a_hybrid_system_has_its_memory_limits_in_v1(tmp_path: Path) -> None:
    files = v1("/a", limit_in_bytes=str(2 * GIB))
    files[f"{V2}/memory.max"] = str(GIB)
    assert memory(tmp_path, files).usable == 2 * GIB


def test_a_v1_system_with_memory_nowhere_mounted_has_no_memory_limit(tmp_path: Path) -> None:
    files = {"/proc/self/cgroup": "9:name=systemd:/x\n", "/proc/self/mountinfo": ""}
    assert memory(tmp_path, files).usable == 64 * GIB


@pytest.mark.parametrize("version", [v1, v2])
def test_a_new_namespace_over_an_old_mount_is_found_by_process(
    tmp_path: Path, version: object
) -> None:
    """`unshare -C`: the path is `/`, the mount's root `/../..`: nothing to join."""
    assert callable(version)
    base = V1 if version is v1 else V2
    name = "limit_in_bytes" if version is v1 else "max"
    files = version("/", "/../..") | {
        f"{base}/cgroup.procs": "1\n2\n",
        f"{base}/a/cgroup.procs": "",
        f"{base}/a/b/cgroup.procs": "7\n77\n",
        f"{base}/a/b/memory.{name}": str(2 * GIB),
        f"{base}/a/memory.{name}": str(3 * GIB),
    }
    found = memory(tmp_path, files)
    assert (found.usable, found.usable_from) == (2 * GIB, f"{base}/a/b/memory.{name}")


@pytest.mark.parametrize(
    "files",
    [
        v2("/../other", "/"),  # moved out of its namespace
        v2("/gone (deleted)", "/") | {"/proc/self/mountinfo": V2_MOUNT.format(root="/elsewhere")},
        {"/proc/self/cgroup": "0::/a\n", "/proc/self/mountinfo": "garbage\n"},
    ],
)
def test_what_cannot_be_resolved_is_unknown_and_not_the_total(
    tmp_path: Path, files: dict[str, str]
) -> None:
    (tmp_path / "sys/fs/cgroup").mkdir(parents=True)
    found = facts(tmp_path, files)
    assert (found.memory.total, found.memory.usable) == (64 * GIB, None)
    assert found.memory.usable_from is None
    assert {entry.fact for entry in found.unknown} == {"memory.limits", "memory.usable"}


def test_a_limit_that_cannot_be_read_is_unknown(tmp_path: Path) -> None:
    files = v2(current="0")
    (tmp_path / "sys/fs/cgroup/app/memory.max").mkdir(parents=True)
    found = facts(tmp_path, files)
    assert found.memory.usable is None
    assert "memory.max cannot be read: Is a directory" in found.unknown[-1].reason


def test_a_kernel_started_without_the_controller_limits_nothing(tmp_path: Path) -> None:
    files = v2("/../other") | {"/proc/cgroups": "#subsys_name h n e\ncpu 1 1 1\nmemory 0 1 0\n"}
    assert memory(tmp_path, files).usable == 64 * GIB


def test_an_unreadable_membership_is_unknown(tmp_path: Path) -> None:
    (tmp_path / "proc/self/cgroup").mkdir(parents=True)
    found = facts(tmp_path, {})
    assert found.memory.usable is None
    assert "proc/self/cgroup cannot be read" in found.unknown[0].reason


def test_huge_pages_lower_what_is_usable(tmp_path: Path) -> None:
    found = memory(tmp_path, {"/proc/meminfo": meminfo(Hugetlb=16 * GIB)})
    assert (found.usable, found.huge_pages) == (48 * GIB, 16 * GIB)
    assert found.usable_from == "the rest is reserved for huge pages"


def test_huge_pages_of_an_older_kernel(tmp_path: Path) -> None:
    text = meminfo(Hugepagesize=2 * 2**20) + "HugePages_Total:    1024\n"
    assert memory(tmp_path, {"/proc/meminfo": text}).usable == 62 * GIB


def test_swap_is_never_memory(tmp_path: Path) -> None:
    found = memory(tmp_path, {"/proc/meminfo": meminfo(SwapTotal=500 * GIB)})
    assert (found.total, found.usable, found.available) == (64 * GIB, 64 * GIB, 60 * GIB)


def test_a_zfs_cache_is_a_fact_and_not_added(tmp_path: Path) -> None:
    kstat = (
        "13 1 0x01 147 39984 1 2\nname type data\n"
        f"size 4 {30 * GIB}\nc_min 4 {2 * GIB}\nc_max 4 {32 * GIB}\n"
    )
    found = memory(tmp_path, {"/proc/spl/kstat/zfs/arcstats": kstat})
    assert (found.zfs_arc, found.available) == (28 * GIB, 60 * GIB)


def test_zfs_statistics_without_a_size_say_nothing(tmp_path: Path) -> None:
    assert memory(tmp_path, {"/proc/spl/kstat/zfs/arcstats": "name type data\n"}).zfs_arc is None


@pytest.mark.parametrize(
    ("release", "wsl"),
    [("5.15.167.4-microsoft-standard-WSL2\n", True), ("6.1.0-13-amd64\n", False)],
)
def test_wsl(tmp_path: Path, release: str, *, wsl: bool) -> None:
    assert memory(tmp_path, {"/proc/sys/kernel/osrelease": release}).wsl is wsl


NODE = (
    "Node {n} MemTotal:       33554432 kB\nNode {n} MemFree:        20971520 kB\n"
    "Node {n} FilePages:       2097152 kB\nNode {n} Shmem:           1048576 kB\n"
)
NODES = {
    "/sys/devices/system/node/has_memory": "0-1\n",
    "/sys/devices/system/node/node0/meminfo": NODE.format(n=0),
    "/sys/devices/system/node/node1/meminfo": NODE.format(n=1),
}


def test_a_cpuset_of_one_node_limits_to_its_memory(tmp_path: Path) -> None:
    found = memory(tmp_path, NODES | {"/proc/self/status": "Mems_allowed_list:\t1\n"})
    assert (found.usable, found.available) == (32 * GIB, 21 * GIB)
    assert found.usable_from == "cpuset: only NUMA node 1 of 2"


@pytest.mark.parametrize("status", ["Mems_allowed_list:\t0-1\n", "Mems_allowed_list:\tx\n", ""])
def test_all_nodes_or_none_named_limit_nothing(tmp_path: Path, status: str) -> None:
    assert memory(tmp_path, NODES | {"/proc/self/status": status}).limits == ()


LIMITS = """Limit                     Soft Limit           Hard Limit           Units
Max data size             {d:<20} unlimited            bytes
Max locked memory         {m:<20} 8388608              bytes
Max address space         {v:<20} unlimited            bytes
"""


def ulimits(capabilities: str = "0000000000000000", **soft: object) -> dict[str, str]:
    values = {"d": "unlimited", "m": "unlimited", "v": "unlimited"} | soft
    return {
        "/proc/self/limits": LIMITS.format(**values),
        "/proc/self/status": f"CapEff:\t{capabilities}\n",
    }


def test_ulimits_are_limits_of_their_own_kind(tmp_path: Path) -> None:
    found = memory(tmp_path, ulimits(d=GIB, m=65536, v=2 * GIB))
    assert [(limit.name, limit.counts, limit.bytes) for limit in found.limits] == [
        ("ulimit -v", "address-space", 2 * GIB),
        ("ulimit -d", "private", GIB),
        ("ulimit -l", "locked", 65536),
    ]
    assert (found.usable, found.available) == (64 * GIB, 60 * GIB)


def test_the_capability_to_lock_lifts_the_limit_on_locking(tmp_path: Path) -> None:
    assert memory(tmp_path, ulimits("0000000000004000", m=65536)).limits == ()


def test_ulimits_that_cannot_be_read_are_none(tmp_path: Path) -> None:
    assert memory(tmp_path, ulimits("xyz", v=GIB)).limits == ()


@pytest.mark.parametrize(("mode", "count"), [("2", 1), ("1", 0), ("0", 0)])
def test_strict_overcommit(tmp_path: Path, mode: str, count: int) -> None:
    files = {
        "/proc/sys/vm/overcommit_memory": f"{mode}\n",
        "/proc/meminfo": meminfo(CommitLimit=32 * GIB, Committed_AS=30 * GIB),
    }
    found = memory(tmp_path, files)
    assert len(found.limits) == count
    for limit in found.limits:
        assert (limit.counts, limit.bytes, limit.left) == ("private", 32 * GIB, 2 * GIB)


def test_a_commit_limit_without_what_is_committed(tmp_path: Path) -> None:
    text = meminfo(CommitLimit=32 * GIB)
    files = {"/proc/sys/vm/overcommit_memory": "2\n", "/proc/meminfo": text}
    (limit,) = memory(tmp_path, files).limits
    assert limit.left is None


def test_an_old_kernel_does_not_say_what_is_available(tmp_path: Path) -> None:
    found = facts(tmp_path, {"/proc/meminfo": "MemTotal: 1024 kB\nMemFree: 512 kB\nOdd\n"})
    assert (found.memory.usable, found.memory.available) == (2**20, None)
    assert found.unknown[0].fact == "memory.available"


@pytest.mark.parametrize("text", ["", "MemFree: 1 kB\n"])
def test_a_meminfo_without_a_total_is_unknown(tmp_path: Path, text: str) -> None:
    found = facts(tmp_path, {"/proc/meminfo": text})
    assert found.memory == Memory()
    assert {entry.fact for entry in found.unknown} >= {"memory.total", "memory.usable"}


def test_no_meminfo_is_unknown(tmp_path: Path) -> None:
    (tmp_path / "proc/meminfo").mkdir(parents=True)
    (tmp_path / "proc/self").mkdir()

    found = probe_memory(Root(tmp_path), "linux", {})
    assert found.memory.total is None
    assert "cannot be read" in found.unknown[0].reason


@pytest.mark.parametrize(
    ("wired", "gpu", "source"),
    [
        ("491520", 480 * GIB, "iogpu.wired_limit_mb"),
        ("0", None, "estimate: iogpu.wired_limit_mb is not set"),
        ("", None, "estimate: iogpu.wired_limit_mb is not set"),
    ],
)
def test_a_mac_lets_its_gpu_hold_a_part(wired: str, gpu: int | None, source: str) -> None:
    found = probe_memory(
        replay_nothing(), "macos", {"hw.optional.arm64": "1", "iogpu.wired_limit_mb": wired}
    ).memory
    total = psutil.virtual_memory().total
    share = total * 2 // 3 if total <= 36 * GIB else total * 3 // 4
    assert found.total == found.usable == total
    assert (found.gpu_limit, found.gpu_limit_from) == (gpu or share, source)


def replay_nothing() -> Root:
    return Root(Path("/nowhere"))


@pytest.mark.parametrize("system", ["macos", "windows", "freebsd"])
def test_other_systems_report_themselves(system: str) -> None:
    found = probe_memory(replay_nothing(), system, {})
    assert found.memory.usable == psutil.virtual_memory().total
    assert (found.memory.gpu_limit, found.unknown) == (None, ())


def test_a_system_that_does_not_answer_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> None:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(psutil, "virtual_memory", refuse)
    found = probe_memory(replay_nothing(), "macos", {"hw.optional.arm64": "1"})
    assert found.memory == Memory()
    assert found.unknown[0].reason == "the system does not report it: [Errno 5] Input/output error"


def test_a_search_gives_up_where_there_is_too_much(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("k3preflight.probe.cgroup._MOST_FOLDERS", 1)
    files = v2("/", "/../..") | {f"{V2}/a/cgroup.procs": "77\n"}
    assert facts(tmp_path, files).memory.usable is None


def test_a_threaded_group_cannot_be_asked_and_is_passed_over(tmp_path: Path) -> None:
    files = v2("/", "/..") | {
        f"{V2}/a/b/cgroup.procs": "77\n",
        f"{V2}/a/b/memory.max": str(GIB),
    }
    (tmp_path / "sys/fs/cgroup/a/b").mkdir(parents=True)
    (tmp_path / "sys/fs/cgroup/a/cgroup.procs").symlink_to("nowhere")
    assert memory(tmp_path, files).usable == GIB
