"""Measuring against what the kernel really grants: throttles, caches, file systems, kills."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from disks import EXT4, Disks, sh
from k3preflight.models.storage import DirectoryRates
from k3preflight.probe.sources import Sizes
from k3preflight.probe.storage import Plan, probe_storage

pytestmark = pytest.mark.root

SMALL = Plan(window=0.2, windows=5, sizes=Sizes(64 * 2**20, 16 * 2**20))
BENCH = [sys.executable, "-m", "k3preflight", "bench"]


def measured(directory: Path) -> DirectoryRates:
    return probe_storage([str(directory)], lambda _step: None, SMALL).directories[0]


def test_memory_is_no_drive(disks: Disks) -> None:
    entry = measured(disks.mount("-t", "tmpfs", "-o", "size=2g", "none"))
    assert entry.best_bytes_per_second is None
    assert entry.reason == "it lies in memory: no drive was read"


def test_a_loop_file_in_memory_is_no_drive(disks: Disks) -> None:
    memory = disks.mount("-t", "tmpfs", "-o", "size=2g", "none")
    image = disks.image("1900M", *EXT4, folder=memory)
    entry = measured(disks.mount("-o", "loop", image))
    assert entry.reason == "it lies in memory: no drive was read"


def test_a_loop_file_behind_the_page_cache_is_no_measurement(disks: Disks) -> None:
    entry = measured(disks.loop("2G", *EXT4))
    assert entry.mode == "direct"
    assert entry.rates[-1].reason
    assert "the rest was cached" in entry.rates[-1].reason


def test_a_loop_device_with_direct_io_is_measured(disks: Disks) -> None:
    image = disks.image("2G", *EXT4)
    device = sh("losetup", "--find", "--show", "--direct-io=on", image).strip()
    disks.defer(lambda: subprocess.run(["losetup", "-d", device], check=False))
    entry = measured(disks.mount(device))
    assert entry.best_bytes_per_second
    assert entry.mode == "direct"
    assert all(rate.device for rate in entry.rates)


def test_only_written_files_are_read(disks: Disks) -> None:
    point = disks.loop("3G", *EXT4)
    with (point / "sparse.gguf").open("wb") as stream:
        stream.truncate(2**30)
    sh("fallocate", "-l", "256M", point / "aside.gguf")
    sh("dd", "if=/dev/urandom", f"of={point}/real.gguf", "bs=1M", "count=16", "conv=fsync")
    entry = measured(point)
    assert entry.source == "1 file already there, 16.78 MB"
    (point / "real.gguf").unlink()
    assert (measured(point).source or "").startswith("a fresh file")


def test_an_image_that_refuses_direct_io_is_labelled(disks: Disks, tmp_path: Path) -> None:
    folder = tmp_path / "shards"
    folder.mkdir()
    sh("dd", "if=/dev/urandom", f"of={folder}/a.gguf", "bs=1M", "count=64")
    image = tmp_path / "image.sqfs"
    sh("mksquashfs", folder, image, "-quiet", "-no-progress")
    entry = measured(disks.mount("-o", "loop,ro", image))
    assert entry.source == "1 file already there, 67.11 MB"
    assert entry.mode == "uncached"
    assert any("direct I/O is refused" in caveat for caveat in entry.caveats)


def test_a_full_disk_says_so(disks: Disks) -> None:
    point = disks.loop("64M", *EXT4)
    entry = measured(point)
    assert "a fresh file may take 5% of it" in (entry.reason or "")
    done = subprocess.run([*BENCH, str(point)], capture_output=True, text=True, check=False)
    assert done.returncode == 3
    assert "unknown" in done.stdout


def test_a_read_only_directory_is_read_where_shards_are_in_it(disks: Disks) -> None:
    point = disks.loop("1G", *EXT4)
    sh("dd", "if=/dev/urandom", f"of={point}/a.gguf", "bs=1M", "count=64", "conv=fsync")
    sh("mount", "-o", "remount,ro", point)
    assert measured(point).source == "1 file already there, 67.11 MB"
    empty = disks.loop("1G", *EXT4)
    sh("mount", "-o", "remount,ro", empty)
    done = subprocess.run([*BENCH, str(empty)], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "read-only" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def free(path: Path) -> int:
    told = os.statvfs(path)
    return told.f_bavail * told.f_frsize


@pytest.mark.parametrize("ends", [signal.SIGKILL, signal.SIGINT])
def test_whatever_ends_it_nothing_is_left(disks: Disks, ends: signal.Signals) -> None:
    point = disks.loop("4G", *EXT4)
    before = free(point)
    process = subprocess.Popen(
        [*BENCH, str(point), "--format", "json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    _until_written(process, point, before)
    process.send_signal(ends)
    out, err = process.communicate(timeout=60)
    assert [item.name for item in point.iterdir()] == ["lost+found"]
    _until(lambda: free(point) == before)
    if ends is signal.SIGINT:
        assert process.returncode == 130
        assert err == b""
        found: Any = json.loads(out)
        assert found["complete"] is False


def _until_written(process: subprocess.Popen[bytes], point: Path, before: int) -> None:
    _until(lambda: free(point) < before - 32 * 2**20)
    assert process.poll() is None


def _until(true: Any) -> None:
    deadline = time.monotonic() + 60
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_memory_stays_small_with_several_directories_at_once(tmp_path: Path) -> None:
    places = [tmp_path / name for name in "abc"]
    for place in places:
        place.mkdir()
    code = """
import resource, sys
from k3preflight.probe.sources import Sizes
from k3preflight.probe.storage import Plan, probe_storage
plan = Plan(window=0.2, windows=3, sizes=Sizes(256 * 2**20, 16 * 2**20))
found = probe_storage(sys.argv[1:], lambda _step: None, plan)
assert found.complete and len(found.together) == 4, found
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""
    assert int(sh(sys.executable, "-c", code, *places)) * 1024 < 256 * 2**20
