"""Places and volumes on real file systems: what the kernel really says, and what is made of it."""

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from disks import (
    BIG_EXT4,
    BTRFS,
    EXT4,
    XFS,
    Disks,
    disks_in,
    findings,
    judged,
    looked_at,
    sh,
    small_choice,
    status,
)
from k3preflight.models.names import CheckId, Status
from k3preflight.models.report import Policy
from k3preflight.profiles import catalog, choose

pytestmark = pytest.mark.root
GB = 10**9
KIMI, RABBIT, UD = (choose([name], catalog()) for name in ("kimi-k3-in-c", "rabbit", "ud-iq1-s"))


@pytest.fixture
def disks(tmp_path: Path) -> Iterator[Disks]:
    with disks_in(tmp_path) as made:
        yield made


def test_blocks_reserved_for_root_are_not_free(disks: Disks) -> None:
    point = disks.loop("400M", *EXT4, "-m", "20")
    (volume,) = looked_at(RABBIT, point).volumes
    told = os.statvfs(point)
    assert volume.free == told.f_bavail * told.f_frsize
    assert volume.reserved == (told.f_bfree - told.f_bavail) * told.f_frsize > 50 * 10**6
    assert (volume.mount_point, volume.filesystem, volume.kind) == (str(point), "ext4", "local")


def test_reserved_blocks_that_cover_it_are_offered(disks: Disks, tmp_path: Path) -> None:
    choices = (small_choice(tmp_path, divisor=5000),)  # 312 MB, 359 MB with headroom
    point = disks.loop("440M", *EXT4, "-m", "20")
    host = looked_at(choices, point)
    (found,) = findings(judged(choices, host), CheckId.DISK_CAPACITY)
    assert found.status is Status.FAIL
    assert f"tune2fs -m 0 {host.volumes[0].device}" in (found.remedy or "")
    assert host.volumes[0].device is not None
    sh("tune2fs", "-m", "0", host.volumes[0].device)
    assert status(judged(choices, looked_at(choices, point)), CheckId.DISK_CAPACITY) is Status.PASS


def test_two_terabytes_pass_for_every_way(disks: Disks) -> None:
    for mkfs in (BIG_EXT4, XFS, BTRFS):
        point = disks.loop("2T", *mkfs)
        for choices in (KIMI, RABBIT, UD):
            host = looked_at(choices, point / "new" / "deep")
            report = judged(choices, host)
            assert status(report, CheckId.DISK_CAPACITY) is Status.PASS
            assert status(report, CheckId.DISK_FILESYSTEM) is Status.WARN  # it lies in a file
            assert host.places[0].measured == str(point)
        assert not (point / "new").exists()


def test_checkpoint_and_trunk_on_one_volume_and_on_two(disks: Disks) -> None:
    # 1.85 TB take either, not both; the trunk alone goes anywhere else.
    main = disks.loop("1850GB", *XFS)
    side = disks.loop("200GB", *XFS)
    together = judged(KIMI, looked_at(KIMI, main), others=True)
    (found,) = findings(together, CheckId.DISK_CAPACITY)
    assert found.status is Status.FAIL
    assert f"--place trunk={side}/trunk" in (found.remedy or "")
    apart = judged(KIMI, looked_at(KIMI, main, trunk=side / "trunk"))
    assert [item.status for item in findings(apart, CheckId.DISK_CAPACITY)] == [Status.PASS] * 2
    swapped = looked_at(KIMI, trunk=main / "t", checkpoint=side)
    assert status(judged(KIMI, swapped), CheckId.DISK_CAPACITY) is Status.FAIL


def test_another_local_volume_is_named(disks: Disks) -> None:
    small = disks.loop("300M", *EXT4)
    big = disks.loop("2T", *XFS)
    disks.mount("-t", "tmpfs", "-o", "size=3T", "tmpfs")  # never offered
    (found,) = findings(judged(UD, looked_at(UD, small), others=True), CheckId.DISK_CAPACITY)
    assert f"--dir {big}" in (found.remedy or "")


def test_a_spread_checkpoint_on_two_drives(disks: Disks) -> None:
    one, two = disks.loop("1T", *BTRFS), disks.loop("1T", *XFS)
    report = judged(RABBIT, looked_at(RABBIT, checkpoint=[one / "a", two / "b"]))
    assert [item.status for item in findings(report, CheckId.DISK_CAPACITY)] == [Status.PASS] * 2
    lines = [line.run for line in report.assessments[0].commands]
    assert sum("hf download" in line for line in lines) == 3
    assert f"--shard-dirs {one}/a,{two}/b" in lines[-1]
    small = disks.loop("300G", *XFS)
    short = judged(RABBIT, looked_at(RABBIT, checkpoint=[one, small]))
    found = [
        item for item in findings(short, CheckId.DISK_CAPACITY) if item.subject == "checkpoint"
    ]
    assert [item.status for item in found] == [Status.FAIL]
    assert "find no room" in found[0].message


def test_subvolumes_are_one_volume_and_equal_loops_are_two(disks: Disks) -> None:
    image = disks.image("2G", *BTRFS)
    top = disks.mount("-o", "loop", image)
    for name in ("a", "b"):
        sh("btrfs", "subvolume", "create", top / name)
    device = sh("findmnt", "-no", "SOURCE", top).strip().partition("[")[0]
    first = disks.mount("-o", "subvol=a", device)
    second = disks.mount("-o", "subvol=b", device)
    assert len(looked_at(KIMI, first, trunk=second / "t").volumes) == 1
    assert len(looked_at(KIMI, top / "a", trunk=top / "b").volumes) == 1
    equal = [disks.loop("300M", *EXT4, "-U", "clear") for _ in "ab"]
    assert len(looked_at(KIMI, equal[0], trunk=equal[1]).volumes) == 2


def test_btrfs_on_two_devices(disks: Disks) -> None:
    images = [disks.image("1G") for _ in "ab"]
    devices = [disks.device(image) for image in images]
    sh(*BTRFS, "-m", "raid1", "-d", "raid1", *devices)
    point = disks.mount(devices[0])
    (volume,) = looked_at(UD, point).volumes
    told = os.statvfs(point)
    assert volume.free == told.f_bavail * told.f_frsize
    assert (
        "estimate" in findings(judged(UD, looked_at(UD, point)), CheckId.DISK_FILESYSTEM)[0].message
        or volume.under
    )


def test_a_qgroup_caps_what_is_free(disks: Disks) -> None:
    point = disks.loop("2G", *BTRFS)
    sh("btrfs", "quota", "enable", point)
    sh("btrfs", "subvolume", "create", point / "s")
    sh("btrfs", "qgroup", "limit", "100M", point / "s")
    (volume,) = looked_at(UD, point / "s").volumes
    assert volume.quota_free is not None
    assert volume.free == volume.quota_free <= 100 * 2**20
    assert "qgroup" in (volume.quota or "")
    (plain,) = looked_at(UD, point).volumes
    assert plain.quota_free is None


def test_memory_is_no_disk(disks: Disks) -> None:
    ram = disks.mount("-t", "tmpfs", "-o", "size=3T", "tmpfs")
    report = judged(UD, looked_at(UD, ram))
    assert status(report, CheckId.DISK_CAPACITY) is Status.PASS  # it says so itself
    (found,) = findings(report, CheckId.DISK_FILESYSTEM)
    assert found.status is Status.FAIL
    assert "RAM" in found.message
    image = disks.image("2T", *BTRFS, folder=ram)
    inside = disks.mount("-o", "loop", image)
    assert status(judged(UD, looked_at(UD, inside)), CheckId.DISK_FILESYSTEM) is Status.FAIL


def test_an_overlay_is_its_upper(disks: Disks) -> None:
    upper = disks.loop("2T", *XFS, "-n", "ftype=1")
    for name in ("low", "up", "work"):
        (upper / name).mkdir()
    options = f"lowerdir={upper}/low,upperdir={upper}/up,workdir={upper}/work"
    merged = disks.mount("-t", "overlay", "-o", options, "overlay")
    host = looked_at(KIMI, merged, trunk=upper / "trunk")
    assert len(host.volumes) == 1
    report = judged(KIMI, looked_at(KIMI, merged))
    assert any(
        item.status is Status.WARN and "container" in item.message
        for item in findings(report, CheckId.DISK_FILESYSTEM)
    )
    ram = disks.mount("-t", "tmpfs", "-o", "size=3T", "tmpfs")
    for name in ("low", "up", "work"):
        (ram / name).mkdir()
    options = f"lowerdir={ram}/low,upperdir={ram}/up,workdir={ram}/work"
    merged = disks.mount("-t", "overlay", "-o", options, "overlay")
    assert status(judged(UD, looked_at(UD, merged)), CheckId.DISK_FILESYSTEM) is Status.FAIL


def test_what_lies_under_loops_in_loops(disks: Disks) -> None:
    outer = disks.loop("3G", *XFS)
    inner = disks.mount("-o", "loop", disks.image("2G", *BTRFS, folder=outer))
    (volume,) = looked_at(UD, inner).volumes
    assert volume.under[0].mount_point == str(outer)
    assert len(volume.under) >= 2
    assert volume.under[0].path == f"{outer}/inner.img"
    assert volume.under[0].free is not None
    full = disks.image("64M")
    sh("fallocate", "-l", "64M", full)
    sh(*EXT4[:3], "-E", "nodiscard", full)
    (volume,) = looked_at(UD, disks.mount("-o", "loop", full)).volumes
    assert volume.under[0].grows == 0


def test_a_squashfs_and_a_read_only_bind_take_nothing(disks: Disks, tmp_path: Path) -> None:
    folder = tmp_path / "content"
    folder.mkdir()
    image = tmp_path / "image.sqfs"
    sh("mksquashfs", folder, image, "-quiet")
    squash = disks.mount("-t", "squashfs", "-o", "loop", image)
    disk = disks.loop("300M", *EXT4)
    bind = disks.mount("--bind", disk)
    sh("mount", "-o", "remount,ro,bind", bind)
    for point in (squash, bind):
        report = judged(UD, looked_at(UD, point))
        (found,) = findings(report, CheckId.DISK_WRITABLE)
        assert found.status is Status.FAIL
        assert "read-only" in found.message
    assert status(judged(UD, looked_at(UD, disk)), CheckId.DISK_WRITABLE) is Status.PASS
    assert len(looked_at(KIMI, disk, trunk=bind).volumes) == 1


@pytest.mark.parametrize(("flag", "word"), [("i", "immutable"), ("a", "append-only")])
def test_directories_that_not_even_root_may_change(disks: Disks, flag: str, word: str) -> None:
    folder = disks.loop("64M", *EXT4) / "kept"
    folder.mkdir()
    sh("chattr", f"+{flag}", folder)
    (found,) = findings(judged(UD, looked_at(UD, folder)), CheckId.DISK_WRITABLE)
    sh("chattr", f"-{flag}", folder)
    assert found.status is Status.FAIL
    assert word in found.message


def command(
    *arguments: str | Path, under: tuple[str, ...] = ()
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*under, sys.executable, "-m", "k3preflight", "check", "ud-iq1-s", *map(str, arguments)],
        capture_output=True,
        text=True,
        env=os.environ | {"COLUMNS": "300", "PYTHONDONTWRITEBYTECODE": "1"},
        check=False,
    )


def test_another_user(disks: Disks) -> None:
    # Below a folder that anybody may pass, unlike the one pytest makes.
    folder = Path(tempfile.mkdtemp(prefix="k3preflight-"))
    disks.defer(folder.rmdir)
    folder.chmod(0o755)
    point = disks.mount("-o", "loop", disks.image("2T", *BTRFS), on=folder)
    sh("chmod", "555", point)
    locked = point / "locked"
    locked.mkdir(mode=0o700)
    script = (
        "import fcntl, os, resource, sys\n"
        "from disks import *\n"
        "choices = choose(['ud-iq1-s'], catalog())\n"
        "judged(choices, looked_at(choices, '/'))  # imports what that user may not read\n"
        "os.setgroups([]); os.setgid(65534); os.setuid(65534); os.chdir('/')\n"
        "for path in sys.argv[1:]:\n"
        "    report = judged(choices, looked_at(choices, path))\n"
        "    print(status(report, CheckId.DISK_WRITABLE), status(report, CheckId.DISK_PATH))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(point), str(locked / "deep")],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"HOME": "/nonexistent", "PYTHONPATH": str(Path(__file__).parents[1])},
    )
    assert done.stdout.split("\n")[:2] == ["fail pass", "unknown unknown"], done.stderr


def test_a_file_size_limit_of_this_process(disks: Disks) -> None:
    point = disks.loop("2T", *BTRFS)
    shell = ("bash", "-c", 'ulimit -f 1000; exec "$@"', "bash")
    done = command("--dir", point, "--memory", "1 TB", under=shell)
    assert done.returncode == 1
    assert "FAIL disk.file-size" in done.stdout
    assert "ulimit -f unlimited" in done.stdout


def test_a_file_system_of_small_files(disks: Disks) -> None:
    point = disks.mount(
        "-t", "ext2", "-o", "loop", disks.image("64M", "mkfs.ext2", "-q", "-F", "-b", "1024")
    )
    assert status(judged(UD, looked_at(UD, point)), CheckId.DISK_FILE_SIZE) is Status.FAIL
    assert status(judged(RABBIT, looked_at(RABBIT, point)), CheckId.DISK_FILE_SIZE) is Status.PASS


def test_no_inodes_left(disks: Disks) -> None:
    point = disks.loop("64M", "mkfs.ext4", "-q", "-F", "-N", "16")
    (found,) = findings(judged(RABBIT, looked_at(RABBIT, point)), CheckId.DISK_INODES)
    assert found.status is Status.FAIL


def test_a_stopped_file_system_costs_its_limit_and_is_unknown(disks: Disks) -> None:
    image = disks.image("64M", "mkntfs", "-Q", "-F", "-q")
    point = disks.point()
    daemon = disks.run("ntfs-3g", "-o", "no_detach", image, point)
    disks.mount("--bind", point)  # taken down lazily before the daemon is killed
    for _ in range(100):
        if os.path.ismount(point):
            break
        time.sleep(0.05)  # the daemon says nowhere that it is ready
    report = judged(UD, looked_at(UD, point))
    assert any("FUSE" in item.message for item in findings(report, CheckId.DISK_FILESYSTEM))
    daemon.send_signal(signal.SIGSTOP)
    began = time.monotonic()
    host = looked_at(UD, point)
    took = time.monotonic() - began
    daemon.send_signal(signal.SIGCONT)
    sh("umount", "-l", point)
    assert took < 60
    assert "did not answer within 5 s" in host.why("places.ud-iq1-s.checkpoint.volume")
    report = judged(UD, host)
    assert report.verdict.status is Status.UNKNOWN
    assert status(report, CheckId.DISK_CAPACITY) is Status.UNKNOWN


def test_links_lead_where_they_lead(disks: Disks, tmp_path: Path) -> None:
    point = disks.loop("300M", *EXT4)
    (point / "in").mkdir()
    link = tmp_path / "link"
    link.symlink_to(point / "in")
    for path, measured in (
        (link / "new", point / "in"),
        (f"{link}/..", point),
        (f"{link}/../new", point),
    ):
        (place,) = looked_at(UD, path).places
        assert (place.measured, place.volume) == (str(measured), str(point))
    dangling = tmp_path / "dangling"
    dangling.symlink_to(point / "not" / "there")
    (place,) = looked_at(UD, dangling).places
    assert (place.resolved, place.measured) == (f"{point}/not/there", str(point))


def test_sparse_and_set_aside_and_written(disks: Disks, tmp_path: Path) -> None:
    choices = (small_choice(tmp_path),)
    names = list(choices[0].scenarios[0].profile.checkpoint.files.items())[:3]
    for mkfs in (EXT4, XFS):
        point = disks.loop("400M", *mkfs)
        for how, (name, size) in zip(("truncate", "fallocate", "write"), names, strict=True):
            if how == "write":
                (point / name).write_bytes(os.urandom(size))
            else:
                sh(how, "-s" if how == "truncate" else "-l", str(size), point / name)
        presence = looked_at(choices, point).places[0].presence
        assert presence is not None
        assert [item.written for item in presence.files] == [False, False, True]
        assert [item.allocated for item in presence.files] == [0, names[1][1], names[2][1]]
        (found,) = findings(judged(choices, looked_at(choices, point)), CheckId.DOWNLOAD_PRESENT)
        assert found.status is Status.WARN
        assert "2 of 100 files" in found.message


def test_compression_does_not_hide_a_file(disks: Disks, tmp_path: Path) -> None:
    choices = (small_choice(tmp_path),)
    name, size = next(iter(choices[0].scenarios[0].profile.checkpoint.files.items()))
    point = disks.mount("-o", "loop,compress-force=zstd", disks.image("400M", *BTRFS))
    (point / name).write_bytes(b"k3" * (size // 2) + b"k" * (size % 2))
    sh("sync", "-f", point)
    (found,) = findings(judged(choices, looked_at(choices, point)), CheckId.DOWNLOAD_PRESENT)
    assert "1 of 100 files" in found.message
    assert "allocation cannot be verified here" in found.message


def test_the_verdict_stays_while_ninety_shards_arrive(disks: Disks) -> None:
    point = disks.loop("2200G", *BIG_EXT4, "-m", "0")
    for number, (name, size) in enumerate(RABBIT[0].scenarios[0].profile.checkpoint.files.items()):
        if number < 90:
            sh("fallocate", "-l", str(size), point / name)

    def leave(free: int) -> None:
        told = os.statvfs(point)
        sh("fallocate", "-l", str(told.f_bavail * told.f_frsize - free), point / "filler")

    for free, kimi in ((480 * GB, Status.PASS), (300 * GB, Status.FAIL)):
        (point / "filler").unlink(missing_ok=True)
        leave(free)
        for choices, expected in ((RABBIT, Status.PASS), (KIMI, kimi)):
            report = judged(choices, looked_at(choices, point))
            assert status(report, CheckId.DISK_CAPACITY) is expected
    (refused,) = [
        item
        for item in findings(judged(KIMI, looked_at(KIMI, point)), CheckId.DOWNLOAD_CLIENT)
        if item.subject == "./scripts/download-model.sh"
    ]
    assert refused.status is Status.WARN
    assert f"hf download moonshotai/Kimi-K3 --local-dir {point}" in (refused.remedy or "")


def test_a_running_download_changes_no_verdict(disks: Disks, tmp_path: Path) -> None:
    choices = (small_choice(tmp_path, divisor=4000),)  # 390 MB
    for space, expected in (("512M", Status.PASS), ("440M", Status.FAIL)):
        point = disks.loop(space, *EXT4, "-m", "0", "-O", "^has_journal")
        folder = point / ".cache" / "huggingface" / "download"
        folder.mkdir(parents=True)
        todo = [
            (name, size) for name, size in choices[0].scenarios[0].profile.checkpoint.files.items()
        ]
        seen = set()
        for first in range(0, 80, 16):
            batch = todo[first : first + 16]
            for share in (3, 1):
                for name, size in batch:
                    with (folder / f"{name}.incomplete").open("ab") as stream:
                        stream.write(os.urandom(size // share - stream.tell()))
                seen.add(status(judged(choices, looked_at(choices, point)), CheckId.DISK_CAPACITY))
            for name, _ in batch:
                (folder / f"{name}.incomplete").rename(point / name)
            seen.add(status(judged(choices, looked_at(choices, point)), CheckId.DISK_CAPACITY))
        assert seen == {expected}


def test_side_files_on_a_small_volume_are_a_note(
    disks: Disks, monkeypatch: pytest.MonkeyPatch
) -> None:
    big, small = disks.loop("2T", *XFS), disks.loop("300M", *EXT4)
    monkeypatch.setenv("HF_HOME", str(small))
    report = judged(RABBIT, looked_at(RABBIT, big))
    assert status(report, CheckId.DISK_CAPACITY) is Status.PASS
    assert any(
        item.status is Status.WARN and str(small) in item.message
        for item in findings(report, CheckId.DOWNLOAD_CLIENT)
    )
    assert report.verdict.status is Status.PASS


def test_trials_write_and_leave_nothing(disks: Disks) -> None:
    big = disks.loop("2T", *BIG_EXT4)
    host = looked_at(UD, big, write=True)
    assert host.places[0].trial is not None
    assert (host.places[0].trial.created, host.places[0].trial.sized) == (True, True)
    assert sorted(path.name for path in big.iterdir()) == ["lost+found"]
    old = disks.mount(
        "-t", "ext2", "-o", "loop", disks.image("64M", "mkfs.ext2", "-q", "-F", "-b", "1024")
    )
    trial = looked_at(UD, old, write=True).places[0].trial
    assert trial is not None
    assert trial.sized is False
    ram = disks.mount("-t", "tmpfs", "-o", "ro", "tmpfs")
    trial = looked_at(UD, ram, write=True).places[0].trial
    assert trial is not None
    assert trial.created is False


def test_a_trial_tells_one_storage_from_two(disks: Disks) -> None:
    one, two = disks.loop("400M", *EXT4), disks.loop("400M", *EXT4)
    (one / "t").mkdir()
    assert len(looked_at(KIMI, one, trunk=two, write=True).volumes) == 2
    from k3preflight.probe.trial import try_sharing  # noqa: PLC0415 - beside what it is held against

    assert try_sharing(str(one), str(one / "t"))
    assert try_sharing(str(one), str(two)) is False


def test_a_headroom_that_fits_is_offered(disks: Disks) -> None:
    point = disks.loop("1600G", *BTRFS)
    report = judged(RABBIT, looked_at(RABBIT, point))
    (found,) = findings(report, CheckId.DISK_CAPACITY)
    percent = int((found.remedy or "").partition("--headroom ")[2].split(" ")[0])
    policy = Policy(headroom_percent=percent)
    assert status(judged(RABBIT, looked_at(RABBIT, point), policy), CheckId.DISK_CAPACITY) in {
        Status.PASS,
        Status.WARN,
    }
    tighter = Policy(headroom_percent=percent + 1)
    assert (
        status(judged(RABBIT, looked_at(RABBIT, point), tighter), CheckId.DISK_CAPACITY)
        is Status.FAIL
    )
