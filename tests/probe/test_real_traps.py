"""What looks like the speed of a drive and is not, or not all of it."""

import json
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from cgroups import groups, inside
from disks import Disks, device_under, sh
from k3preflight.models.storage import DirectoryRates
from k3preflight.probe.sources import Sizes
from k3preflight.probe.storage import Plan, probe_storage

pytestmark = pytest.mark.root

SMALL = Plan(window=0.2, windows=5, sizes=Sizes(64 * 2**20, 16 * 2**20))
FAST, SLOW = 400_000_000, 80_000_000


def measured(directory: Path, plan: Plan = SMALL) -> DirectoryRates:
    return probe_storage([str(directory)], lambda _step: None, plan).directories[0]


@contextmanager
def meanwhile(step: threading.Thread, over: threading.Event) -> Iterator[None]:
    step.start()
    try:
        yield
    finally:
        over.set()
        step.join()


@pytest.mark.parametrize("options", ["defaults", "compress-force=zstd"])
def test_btrfs_is_measured_and_compressed_shards_are_not(disks: Disks, options: str) -> None:
    device = disks.device(disks.image("2G", "mkfs.btrfs", "-q"), "--direct-io=on")
    point = disks.mount("-o", options, device)
    entry = measured(point)
    assert entry.source == "a fresh file, 67.11 MB"
    assert entry.mode == "direct"
    assert all(rate.median_bytes_per_second for rate in entry.rates), entry
    with (point / "a.gguf").open("wb") as stream:
        for number in range(64):
            stream.write(b"%08d" % number * 2**17)
        stream.flush()
        os.fsync(stream.fileno())
    entry = measured(point)
    assert entry.source == "1 file already there, 67.11 MB"
    if options == "defaults":
        assert entry.best_bytes_per_second
    else:  # the kernel unpacks it through the page cache, whatever was asked for
        assert entry.best_bytes_per_second is None
        assert "the rest was cached" in (entry.reason or "")


def test_what_another_process_reads_for_us_is_counted_at_the_disk(disks: Disks) -> None:
    device = disks.device(disks.image("2G", "mkfs.ntfs", "-Q", "-F"), "--direct-io=on")
    point = disks.mount("-t", "ntfs-3g", device)
    sh("dd", "if=/dev/urandom", f"of={point}/a.gguf", "bs=1M", "count=64", "conv=fsync")
    entry = measured(point)  # the driver answers from its own page cache
    assert entry.source == "1 file already there, 67.11 MB"
    assert entry.best_bytes_per_second is None
    assert "the rest was cached" in (entry.reason or "")
    assert any("what serves it may cache" in caveat for caveat in entry.caveats)


def test_a_second_reader_is_named(tmp_path: Path, disks: Disks) -> None:
    other = tmp_path / "other"
    sh("dd", "if=/dev/urandom", f"of={other}", "bs=1M", "count=256", "conv=fsync")
    read = f"dd if={other} of=/dev/null bs=16M iflag=direct 2>/dev/null"
    for _ in range(4):
        disks.run("sh", "-c", f"while {read}; do :; done")
    entry = measured(tmp_path)
    assert any("others read" in caveat for caveat in entry.caveats), entry


def test_a_limit_that_moves_meanwhile_shows_in_the_windows(tmp_path: Path) -> None:
    device = device_under(tmp_path)
    over = threading.Event()
    code = """
import sys
from k3preflight.probe.sources import Sizes
from k3preflight.probe.storage import Plan, probe_storage
plan = Plan(window=0.3, windows=6, sizes=Sizes(64 * 2**20, 16 * 2**20))
print(probe_storage(sys.argv[1:], lambda _step: None, plan).model_dump_json())
"""
    with groups("blkio", "moving") as (group,):
        limit = group / "blkio.throttle.read_bps_device"
        limit.write_text(f"{device} {FAST}\n")

        def move() -> None:
            while not over.wait(0.7):
                slow = limit.read_text().endswith(f" {SLOW}\n")
                limit.write_text(f"{device} {FAST if slow else SLOW}\n")

        with meanwhile(threading.Thread(target=move), over):
            done = inside(group, [sys.executable, "-c", code, str(tmp_path)])
    assert done.returncode == 0, done.stdout + done.stderr
    (entry,) = json.loads(done.stdout)["directories"]
    assert any("is under half the median" in caveat for caveat in entry["caveats"]), entry
    assert max(rate["spread_percent"] for rate in entry["rates"]) > 100


def test_a_throttle_is_measured_as_it_is_set_and_as_fio_sees_it(tmp_path: Path) -> None:
    path = tmp_path / "a.gguf"
    sh("dd", "if=/dev/urandom", f"of={path}", "bs=4M", "count=256", "conv=fsync")
    bench = (
        "import resource, sys; from k3preflight.cli import run; code = run(sys.argv[1:]);"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, file=sys.stderr); sys.exit(code)"
    )
    command = [sys.executable, "-c", bench, "bench", str(tmp_path), "--format", "json"]
    fio = [
        *("fio", "--name=pair", f"--filename={path}", "--direct=1", "--ioengine=psync"),
        *("--rw=randread", "--bs=16M", "--numjobs=8", "--thread", "--group_reporting"),
        *("--time_based", "--runtime=5", "--readonly", "--output-format=json"),
    ]
    with groups("blkio", "paired") as (group,):
        (group / "blkio.throttle.read_bps_device").write_text(f"{device_under(tmp_path)} {FAST}\n")
        ours, theirs = inside(group, command), inside(group, fio)
    assert ours.returncode == 0, ours.stdout + ours.stderr
    (entry,) = json.loads(ours.stdout)["directories"]
    assert entry["source"] == "1 file already there, 1.07 GB"
    assert entry["mode"] == "direct"
    told = json.loads(theirs.stdout[theirs.stdout.index("{") :])["jobs"][0]["read"]["bw_bytes"]
    for rate in entry["rates"]:  # margins for a machine that others use too
        assert 0.6 < rate["median_bytes_per_second"] / FAST < 1.25
        assert 0.7 < rate["median_bytes_per_second"] / told < 1.4
    assert int(ours.stderr) * 1024 < 256 * 2**20  # bytes of memory at most
