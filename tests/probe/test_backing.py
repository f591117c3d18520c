"""What lies under a volume, and quotas, replayed from the files and outputs of other machines."""

import os
from pathlib import Path

import pytest

from k3preflight.probe.backing import backing
from k3preflight.probe.mounts import Mount, parse
from k3preflight.probe.quota import qgroup_of, quota, quotas_of
from k3preflight.probe.root import Root

THIN = Mount("/data", "xfs", "/dev/mapper/vg-data", device="253:4")
VHDX = Mount("/", "ext4", "/dev/sdc", device="8:32")
PARTITION = Mount("/img", "ext4", "/dev/loop5p1", device="259:1")
TABLE = parse(
    "1 0 8:1 / / rw - ext4 /dev/sda1 rw\n"
    "2 1 0:50 / /mnt/c rw - 9p drvfs rw,aname=drvfs\n"
    "3 1 0:51 / /run rw - tmpfs tmpfs rw\n"
)


def put(root: Path, path: str, text: str) -> None:
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


def test_a_thin_pool_is_found_below_its_slaves(tmp_path: Path) -> None:
    for name, uuid in (("dm-4", "LVM-abc"), ("dm-2", "LVM-def-tpool"), ("sda", "")):
        put(tmp_path, f"sys/block/{name}/dm/uuid", uuid + "\n")
        put(tmp_path, f"sys/block/{name}/dm/name", f"vg-{name}\n")
    # A snapshot too: the pool is reached by two ways, and told once.
    put(tmp_path, "sys/block/dm-3/dm/uuid", "LVM-abc-cow\n")
    for upper, lower in (
        ("dm-4", "dm-2"),
        ("dm-4", "dm-3"),
        ("dm-3", "dm-2"),
        ("dm-2", "sda"),
    ):
        (tmp_path / f"sys/block/{upper}/slaves").mkdir(exist_ok=True)
        (tmp_path / f"sys/block/{upper}/slaves/{lower}").symlink_to(f"../../{lower}")
    link = tmp_path / "sys/dev/block/253:4"
    link.parent.mkdir(parents=True)
    link.symlink_to("../../block/dm-4")
    (under,) = backing(THIN, TABLE, Root(tmp_path))
    assert (under.kind, under.path) == ("thin pool", "vg-dm-2")


def test_a_partition_of_a_loop_whose_file_is_gone(tmp_path: Path) -> None:
    put(tmp_path, "sys/class/block/loop5/loop/backing_file", "/run/x.img (deleted)\n")
    (tmp_path / "sys/class/block/loop5/loop5p1").mkdir()
    link = tmp_path / "sys/class/block/loop5p1"
    link.symlink_to("loop5/loop5p1")
    (under,) = backing(PARTITION, TABLE, Root(tmp_path))
    assert (under.kind, under.mount_point, under.free, under.grows) == (
        "loop file",
        "/run",
        None,
        None,
    )
    assert under.ram


def test_a_loop_whose_file_is_there_says_how_it_may_grow(tmp_path: Path) -> None:
    put(tmp_path, "sys/dev/block/259:1/loop/backing_file", "/images/x.img\n")
    put(tmp_path, "images/x.img", "k" * 8192)
    with (tmp_path / "images/x.img").open("r+b") as stream:
        os.fsync(stream.fileno())  # until then some file systems set no block aside
        stream.truncate(2**30)
    (under,) = backing(PARTITION, (), Root(tmp_path))  # no mount table, so no mount either
    assert (under.path, under.mount_point, under.ram) == ("/images/x.img", None, False)
    assert 0 < 2**30 - (under.grows or 0) <= 2**20
    assert under.free
    (under,) = backing(PARTITION, TABLE, Root(tmp_path))
    assert under.mount_point == "/"


def test_the_windows_drive_under_wsl(tmp_path: Path) -> None:
    put(tmp_path, "proc/sys/kernel/osrelease", "5.15.167.4-microsoft-standard-WSL2\n")
    (tmp_path / "mnt/c").mkdir(parents=True)
    (under,) = backing(VHDX, TABLE, Root(tmp_path))
    assert (under.kind, under.mount_point) == ("Windows drive", "/mnt/c")
    assert under.free is not None
    (tmp_path / "mnt/c").rmdir()
    (under,) = backing(VHDX, TABLE, Root(tmp_path))
    assert under.free is None
    (under,) = backing(VHDX, (), Root(tmp_path))
    assert (under.mount_point, under.free) == (None, None)


def test_a_disk_has_nothing_under_it(tmp_path: Path) -> None:
    put(tmp_path, "proc/sys/kernel/osrelease", "6.1.0-13-amd64\n")
    assert list(backing(VHDX, TABLE, Root(tmp_path))) == []
    assert list(backing(VHDX, TABLE, Root(tmp_path / "nothing"))) == []


def test_loops_in_a_circle_end(tmp_path: Path) -> None:
    put(tmp_path, "sys/dev/block/8:1/loop/backing_file", "/self.img\n")
    root = parse("1 0 8:1 / / rw - ext4 /dev/loop0 rw\n")
    assert len(list(backing(root[0], root, Root(tmp_path)))) == 8


QGROUPS = """\
Qgroupid    Referenced    Exclusive  Max referenced  Max exclusive   Path
--------    ----------    ---------  --------------  -------------   ----
0/256            16384        16384       104857600           none   s
1/5             900000       900000            none        1000000   <0 member qgroups>
"""
QUOTA = """\
Disk quotas for user me (uid 1000):
     Filesystem  blocks   quota   limit   grace   files   quota   limit   grace
          /home 1000000*  900000 1500000 1767225600    9       0       0       0
          /data       0       0       0       0       0       0       0       0
Disk quotas for group team (gid 100): none
"""


def test_the_tightest_qgroup_counts() -> None:
    found = qgroup_of(QGROUPS)
    assert found is not None
    assert (found.free, found.text) == (100000, "btrfs qgroup 1/5")
    assert qgroup_of("Qgroupid\n0/5 16384 16384 none none\n") is None


def test_what_quota_prints() -> None:
    (found,) = quotas_of(QUOTA, "/home")
    assert found.free == 500_000 * 1024
    assert list(quotas_of(QUOTA, "/data")) == []
    soft = QUOTA.replace("1500000", "0")
    (found,) = quotas_of(soft, "/home")
    assert found.free == 0


@pytest.mark.parametrize(
    ("script", "free", "word"),
    [
        (f"cat <<'EOF'\n{QUOTA}EOF\nexit 1", 500_000 * 1024, "quota of this user"),
        ("echo 'Disk quotas for user me (uid 1000): none'", None, "none is reported"),
        ("exit 1", None, "failed"),
        (None, None, "no quota command"),
    ],
)
def test_a_quota_command(
    script: str | None, free: int | None, word: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if script:
        command = tmp_path / "quota"
        command.write_text(f"#!/bin/sh\n{script}\n")
        command.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin" if script else str(tmp_path))
    found = quota("/home/me", Mount("/home", "nfs4", "server:/home"))
    assert found is not None
    assert found.free == free
    assert word in found.text


def test_no_quota_can_apply(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert quota("/x", Mount("/x", "ext4", "/dev/sda1", options=frozenset({"rw"}))) is None
    marked = Mount("/x", "ext4", "/dev/sda1", options=frozenset({"rw", "usrjquota=aquota.user"}))
    monkeypatch.setenv("PATH", str(tmp_path))
    assert quota("/x", marked) is not None
    assert quota("/x", Mount("/x", "btrfs", "/dev/sda1")) is None  # no btrfs command


@pytest.mark.parametrize(
    ("user", "script", "free"),
    [
        (0, f"cat <<'EOF'\n{QGROUPS}EOF", 100_000),
        (0, "echo 'ERROR: cannot list qgroups: quotas not enabled' >&2; exit 1", None),
        (1000, f"cat <<'EOF'\n{QGROUPS}EOF", None),  # only root may ask
    ],
)
def test_qgroups_are_asked_for_by_root(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, user: int, script: str, free: int | None
) -> None:
    asked = 'test "$*" = "qgroup show -reF --raw /data/k3" || exit 2'
    command = tmp_path / "btrfs"
    command.write_text(f"#!/bin/sh\n{asked}\n{script}\n")
    command.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setattr(os, "geteuid", lambda: user)
    found = quota("/data/k3", Mount("/data", "btrfs", "/dev/sdb1"))
    assert (found and found.free) == free


def test_a_quota_command_that_cannot_be_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = tmp_path / "quota"
    command.write_bytes(b"\x7fELFnot really")
    command.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    found = quota("/home/me", Mount("/home", "nfs4", "server:/home"))
    assert found is not None
    assert "failed" in found.text
