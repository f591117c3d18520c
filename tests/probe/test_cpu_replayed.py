"""CPUs of other machines, replayed; and this one under taskset, a quota and a doctored cpuinfo."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import psutil
import pytest

from cgroups import groups, probed
from k3preflight.probe.cpu import CpuFacts, probe_cpu
from k3preflight.probe.root import Root
from replay import V2_MOUNT, replay

NOWHERE = Root(Path("/nowhere"))


def core(number: int, flags: str, *, name: str = "flags") -> str:
    return f"processor\t: {number}\nmodel name\t: A CPU\n{name}\t\t: {flags}\nbugs\t:\n\n"


def facts(folder: Path, cpuinfo: str, status: str = "0-1", **files: str) -> CpuFacts:
    always = {"/proc/cpuinfo": cpuinfo, "/proc/self/status": f"Cpus_allowed_list:\t{status}\n"}
    return probe_cpu(replay(folder, always | files), "linux", {})


def test_flags_are_those_of_every_core(tmp_path: Path) -> None:
    found = facts(tmp_path, core(0, "fma avx2 sse") + core(1, "sse fma4 avx2") + "\n")
    assert found.cpu.flags == ("avx2", "sse")
    assert (found.cpu.logical, found.cpu.model, found.cpu.hypervisor) == (2, "A CPU", False)
    assert found.unknown == ()


def test_arm_lists_features(tmp_path: Path) -> None:
    assert facts(tmp_path, core(0, "fp asimd", name="Features")).cpu.flags == ("asimd", "fp")


def test_a_core_without_a_list_leaves_the_flags_unknown(tmp_path: Path) -> None:
    found = facts(tmp_path, core(0, "avx2") + "processor : 1\n\n")
    assert found.cpu.flags is None
    assert [entry.fact for entry in found.unknown] == ["cpu.flags"]


def test_no_cpuinfo_is_unknown(tmp_path: Path) -> None:
    (tmp_path / "proc/cpuinfo").mkdir(parents=True)
    found = probe_cpu(replay(tmp_path, {}), "linux", {})
    assert (found.cpu.flags, found.cpu.logical, found.cpu.hypervisor) == (None, None, None)
    assert {entry.fact for entry in found.unknown} == {"cpu.flags", "cpu.cores"}


@pytest.mark.parametrize(("listed", "cores"), [("0-1", 2), ("0-3,8,10-11", 7), ("5", 1)])
def test_cores_by_affinity(tmp_path: Path, listed: str, cores: int) -> None:
    found = facts(tmp_path, "", listed).cpu
    assert (found.cores, found.cores_from) == (cores, "the CPUs this process may use")


@pytest.mark.parametrize(
    ("files", "cores"),
    [
        ({"a/b/cpu.max": "max 100000", "a/cpu.max": "250000 100000"}, 2),
        ({"a/b/cpu.max": "50000 100000"}, 1),
        ({"a/b/cpu.max": "900000 100000"}, 4),
        ({"a/b/cpu.max": "garbage"}, 4),
        ({"a/b/cpu.max": "0 0"}, 4),
    ],
)
def test_cores_by_quota_v2(tmp_path: Path, files: dict[str, str], cores: int) -> None:
    tree = {
        "/proc/self/cgroup": "0::/a/b\n",
        "/proc/self/mountinfo": V2_MOUNT.format(root="/"),
    } | {f"/sys/fs/cgroup/{name}": text for name, text in files.items()}
    found = facts(tmp_path, "", "0-3", **tree).cpu
    assert found.cores == cores
    assert found.cores_from
    assert found.cores_from.endswith("cpu.max") is (cores < 4)


def test_cores_by_quota_v1(tmp_path: Path) -> None:
    tree = {
        "/proc/self/cgroup": "4:cpu,cpuacct:/a\n",
        "/proc/self/mountinfo": "3 1 0:3 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuacct\n",
        "/sys/fs/cgroup/cpu/a/cpu.cfs_quota_us": "300000\n",
        "/sys/fs/cgroup/cpu/a/cpu.cfs_period_us": "100000\n",
        "/sys/fs/cgroup/cpu/cpu.cfs_quota_us": "-1\n",
        "/sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n",
    }
    assert facts(tmp_path, "", "0-3", **tree).cpu.cores == 3


INTEL_MAC = {
    "machdep.cpu.brand_string": "Intel(R) Core(TM) i7-9750H CPU @ 2.60GHz",
    "machdep.cpu.features": "FPU VME FMA SSE4.2 AVX1.0 VMM",
    "machdep.cpu.leaf7_features": "BMI1 AVX2 BMI2",
}


def test_an_intel_mac_lists_its_flags_in_two_places() -> None:
    found = probe_cpu(NOWHERE, "macos", INTEL_MAC)
    assert found.cpu.flags
    assert {"avx2", "fma"} <= set(found.cpu.flags)
    assert (found.cpu.cores, found.cpu.hypervisor) == (psutil.cpu_count(), True)
    assert found.unknown == ()


@pytest.mark.parametrize("system", ["macos", "windows"])
def test_where_no_flags_are_listed_they_are_unknown(system: str) -> None:
    found = probe_cpu(NOWHERE, system, {})
    assert found.cpu.flags is None
    assert found.unknown[0].reason == f"{system} does not list them"


def test_a_system_that_does_not_count_its_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(psutil, "cpu_count", lambda: None)
    found = probe_cpu(NOWHERE, "windows", {})
    assert (found.cpu.cores, found.cpu.cores_from) == (None, None)
    assert found.unknown[0].fact == "cpu.cores"


def test_this_machine_has_as_many_cores_as_its_affinity() -> None:
    found = probe_cpu(Root(), "linux", {}).cpu
    assert found.cores
    assert found.cores <= len(os.sched_getaffinity(0))


def run(*command: str) -> Any:
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    return json.loads(done.stdout)


@pytest.mark.root
def test_taskset_takes_cores_away() -> None:
    one = str(min(os.sched_getaffinity(0)))
    found = run("taskset", "-c", one, sys.executable, "-m", "k3preflight", "probe", "rabbit")
    assert found["cpu"]["cores"] == 1


@pytest.mark.root
def test_a_real_quota_takes_cores_away() -> None:
    with groups("cpu", "half/inner") as (outer, inner):
        (outer / "cpu.cfs_quota_us").write_text("50000")
        cpu = probed(inner)["cpu"]
        assert (cpu["cores"], cpu["cores_from"]) == (1, f"{outer}/cpu.cfs_quota_us")


SET_TO_HOST = "Set the VM's CPU type to host (host-passthrough), then check again."


@pytest.mark.root
@pytest.mark.parametrize(
    ("flags", "status", "remedy"),
    [
        ("avx2 fma", "pass", None),
        ("avx2 fma4", "fail", "Use a CPU with avx2 and fma."),
        (
            "fma hypervisor",
            "fail",
            "Set the VM's CPU type to host (host-passthrough), then check again.",
        ),
    ],
)
def test_a_doctored_cpuinfo(tmp_path: Path, flags: str, status: str, remedy: str | None) -> None:
    (tmp_path / "cpuinfo").write_text(core(0, flags) + core(1, "avx2 fma fma4 hypervisor"))
    script = (
        f"mount --bind {tmp_path}/cpuinfo /proc/cpuinfo && "
        f"{sys.executable} -m k3preflight check kimi-k3-in-c --format json --skip runtime.tools "
        "--fail-on never"
    )
    report = run("unshare", "-m", "sh", "-c", script)
    (finding,) = (
        found for found in report["assessments"][0]["findings"] if found["check"] == "runtime.cpu"
    )
    assert (finding["status"], finding["remedy"]) == (status, remedy)
