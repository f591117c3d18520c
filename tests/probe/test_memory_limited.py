"""Memory under real limits: cgroup v1 leaf and parents, a full page cache, ulimits, namespaces."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from cgroups import ENTER, groups, inside, probed
from replay import GIB, meminfo

pytestmark = pytest.mark.root

MIB = 2**20
LIMIT = 256 * MIB
PROBE = f"{sys.executable} -m k3preflight probe"
KILLED = 137  # what a shell makes of SIGKILL; -9 where the command itself is the child

TAKE = """
#include <stdlib.h>
#include <string.h>
int main(int count, char **words) {
  size_t size = strtoull(words[1], 0, 10);
  char *taken = malloc(size);
  if (!taken) return 3;
  memset(taken, 1, size);
  return taken[size / 2] == 1 ? 0 : 4;
}
"""


@pytest.fixture(scope="module")
def take(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A program that takes as many bytes as it is told, and touches each."""
    folder = tmp_path_factory.mktemp("take")
    (folder / "take.c").write_text(TAKE)
    subprocess.run(["gcc", "-O0", "-o", folder / "take", folder / "take.c"], check=True)
    return str(folder / "take")


def limit(group: Path, size: int) -> None:
    (group / "memory.limit_in_bytes").write_text(str(size))


def test_an_allocation_at_the_figure_succeeds_and_one_over_it_is_killed(take: str) -> None:
    with groups("memory", "leaf") as (leaf,):
        limit(leaf, LIMIT)
        memory = probed(leaf)["memory"]
        assert memory["usable"] == LIMIT
        assert memory["usable_from"] == f"{leaf}/memory.limit_in_bytes"
        assert LIMIT // 2 < memory["available"] < LIMIT
        assert inside(leaf, [take, str(memory["available"])]).returncode == 0
        assert inside(leaf, [take, str(LIMIT + LIMIT // 10)]).returncode in {-9, KILLED}


def test_a_limit_three_levels_up_holds(take: str) -> None:
    with groups("memory", "slurm/job/step/task") as (top, *_, task):
        limit(top, LIMIT)
        memory = probed(task)["memory"]
        assert memory["usable"] == LIMIT
        assert memory["usable_from"] == f"{top}/memory.limit_in_bytes"
        assert inside(task, [take, str(memory["available"])]).returncode == 0
        assert inside(task, [take, str(LIMIT + LIMIT // 10)]).returncode in {-9, KILLED}


def test_a_page_cache_that_fills_the_limit_is_no_use_of_it(take: str, tmp_path: Path) -> None:
    """Read twice, so that half of it sits on the active list, which gives way as well."""
    with groups("memory", "cache") as (group,):
        limit(group, LIMIT)
        file = tmp_path / "weights"
        copy = f"head -c {LIMIT * 2} /dev/zero > {file}; sync {file}; "
        read = f"for i in 1 2 3; do head -c {LIMIT * 3 // 4} {file} > /dev/null; done"
        assert inside(group, ["sh", "-c", copy + read]).returncode == 0
        used = int((group / "memory.usage_in_bytes").read_text())
        assert used > LIMIT // 2
        available = probed(group)["memory"]["available"]
        assert available > LIMIT * 3 // 4
        assert inside(group, [take, str(available)]).returncode == 0


def test_what_another_process_holds_is_not_available() -> None:
    with groups("memory", "held") as (group,):
        limit(group, LIMIT)
        hold = (
            "import sys, time; held = bytearray(100 << 20); print(1, flush=True); sys.stdin.read()"
        )
        holder = subprocess.Popen(
            ["sh", "-c", ENTER, "sh", str(group), sys.executable, "-c", hold],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        try:
            assert holder.stdout
            assert holder.stdout.readline() == b"1\n"
            available = probed(group)["memory"]["available"]
            assert LIMIT // 4 < available < LIMIT - 100 * MIB
        finally:
            holder.communicate()


def test_a_new_cgroup_namespace_over_the_old_mount_hides_nothing() -> None:
    with groups("memory", "outer/inner") as (outer, inner):
        limit(outer, LIMIT)
        memory = probed(inner, "unshare", "-C")["memory"]
        assert (memory["usable"], memory["usable_from"]) == (
            LIMIT,
            f"{outer}/memory.limit_in_bytes",
        )


def test_a_container_that_sees_its_own_folder_alone() -> None:
    """As docker on v1: the parent's limit is not to be seen, the kernel carries it down."""
    with groups("memory", "pod/box") as (pod, box):
        limit(pod, LIMIT)
        mount = f"mount --bind {box} /sys/fs/cgroup/memory && exec {PROBE}"
        memory: Any = probed_by(box, "unshare", "-m", "sh", "-c", mount)["memory"]
        assert memory["usable"] == LIMIT
        assert memory["usable_from"].endswith(
            "hierarchical_memory_limit, set outside this container"
        )


def minimum(report: Any) -> Any:
    (finding,) = (
        found
        for found in report["assessments"][0]["findings"]
        if found["check"] == "memory.minimum"
    )
    return finding


def probed_by(group: Path, *command: str) -> dict[str, dict[str, object]]:
    done = inside(group, command)
    assert done.returncode == 0, done.stderr
    found: dict[str, dict[str, object]] = json.loads(done.stdout)
    return found


def doctored(
    tmp_path: Path, files: dict[str, str], *arguments: str
) -> subprocess.CompletedProcess[str]:
    """The real command, with files of its own over those of /proc."""
    mounts = []
    for number, (path, text) in enumerate(files.items()):
        (tmp_path / str(number)).write_text(text)
        mounts.append(f"mount --bind {tmp_path / str(number)} {path}")
    script = " && ".join([*mounts, f'exec {sys.executable} -m k3preflight "$@"'])
    return subprocess.run(
        ["unshare", "-m", "sh", "-c", script, "sh", *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def test_a_64_gb_host_with_30_gb_available_warns_for_rabbit(tmp_path: Path) -> None:
    files = {"/proc/meminfo": meminfo(MemTotal=64 * 10**9, MemAvailable=30 * 10**9)}
    done = doctored(tmp_path, files, "check", "rabbit", "--format", "json")
    finding = minimum(json.loads(done.stdout))
    assert finding["status"] == "warn"
    assert "would not start right now" in finding["message"]
    assert "Free 6.21 GB" in finding["remedy"]


def test_strict_overcommit_in_a_mount_namespace(tmp_path: Path) -> None:
    files = {
        "/proc/meminfo": meminfo(CommitLimit=GIB, Committed_AS=GIB // 2),
        "/proc/sys/vm/overcommit_memory": "2\n",
    }
    done = doctored(tmp_path, files, "check", "ud-iq1-s", "--format", "json")
    report = json.loads(done.stdout)
    assert report["host"]["memory"]["limits"][0]["left"] == GIB // 2
    finding = minimum(report)
    assert finding["status"] == "warn"  # KV and state are 0.92 GB: allowed, but not left
    assert "vm.overcommit_memory = 2 (CommitLimit) leaves 0.54 GB (0.50 GiB)" in finding["message"]
    assert "sysctl vm.overcommit_memory=0" in finding["remedy"]


@pytest.mark.parametrize(("kilobytes", "status"), [(8 * 2**20, "fail"), (2**30, "pass")])
def test_an_address_space_limit_breaks_the_mapping_of_a_file(
    kilobytes: int, status: str, tmp_path: Path
) -> None:
    """594 GB of mapped weights, against 8 GiB and 1 TiB."""
    (tmp_path / "meminfo").write_text(meminfo(MemTotal=64 * GIB))
    script = (
        f"mount --bind {tmp_path / 'meminfo'} /proc/meminfo && ulimit -v {kilobytes} && "
        f"exec {sys.executable} -m k3preflight check ud-iq1-s --format json"
    )
    done = subprocess.run(
        ["unshare", "-m", "sh", "-c", script], capture_output=True, check=False, timeout=120
    )
    report = json.loads(done.stdout)
    assert [found["bytes"] for found in report["host"]["memory"]["limits"]] == [kilobytes * 1024]
    assert minimum(report)["status"] == status


def test_an_address_space_limit_refuses_where_a_group_kills(take: str) -> None:
    over = f"ulimit -v {64 * 1024}; exec {take} {100 * MIB}"
    assert subprocess.run(["sh", "-c", over], check=False).returncode == 3


def test_a_user_without_the_capability_meets_the_limit_on_locking() -> None:
    script = f"ulimit -l 64; exec {PROBE}"
    dropped = ["capsh", "--drop=cap_ipc_lock", "--", "-c", script]
    with groups("memory", "locked") as (group,):
        limits = probed_by(group, *dropped)["memory"]["limits"]
        kept = probed_by(group, "sh", "-c", script)["memory"]["limits"]
    assert limits == [
        {"name": "ulimit -l", "counts": "locked", "bytes": 65536, "left": None, "soft": False}
    ]
    assert kept == []
