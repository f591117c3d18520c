"""The mount table of recorded machines: which mount, what kind, what is one storage."""

from pathlib import Path

import pytest

from k3preflight.models.disk import Volume
from k3preflight.probe.mounts import Mount, covering, parse
from k3preflight.probe.places import Look, Space
from k3preflight.probe.root import Root
from k3preflight.probe.volumes import Seen, merged, volume_at

DESKTOP = r"""
22 27 0:21 / /proc rw,relatime - proc proc rw
27 1 254:0 / / rw,relatime - ext4 /dev/vda rw,discard
40 27 0:35 /@home /home rw,relatime shared:1 - btrfs /dev/sdb1 rw,compress=zstd:1,subvol=/@home
41 27 0:35 /@data /data rw,relatime shared:2 - btrfs /dev/sdb1 rw,subvol=/@data
42 27 8:17 / /mnt/with\040space rw,relatime - xfs /dev/sdb1 rw
43 27 8:33 / /hidden/deep rw,relatime - ext4 /dev/sdc1 rw
44 27 8:49 / /hidden rw,relatime - ext4 /dev/sdd1 rw
45 27 8:33 / /ro ro,relatime - ext4 /dev/sdc1 rw
46 27 0:50 / /pool/a rw - zfs tank/a rw
47 27 0:51 / /pool/b rw - zfs tank/b rw
48 27 0:52 / /nfs rw - nfs4 server:/export rw,vers=4.2
49 27 0:53 / /nfs2 rw - nfs4 server:/export2 rw,vers=4.2
50 27 0:54 / /sshfs rw - fuse.sshfs user@host:/ rw
51 27 8:65 / /win rw - fuseblk /dev/sde1 rw
52 27 253:0 / /zram rw - ext4 /dev/zram0 rw
53 27 0:60 / /run rw - tmpfs tmpfs rw
54 27 0:61 / /merged rw - overlay overlay rw,lowerdir=/l,upperdir=/not/here/upper,workdir=/w
55 27 7:3 / /snap/x ro - squashfs /dev/loop3 ro
56 27 8:81 / /old rw - ext2 /dev/sdf1 rw
57 27 8:97 / /fat rw - vfat /dev/sdg1 rw
58 27 0:70 / /c rw - 9p drvfs rw,aname=drvfs
59 27 0:71 / /odd rw - newfs thing rw
a line that is none
"""
TABLE = parse(DESKTOP)


@pytest.mark.parametrize(
    ("path", "point"),
    [
        ("/", "/"),
        ("/home", "/home"),
        ("/home/me/k3", "/home"),
        ("/homes/me", "/"),
        ("/mnt/with space/k3", "/mnt/with space"),
        ("/hidden/deep/x", "/hidden/deep"),
    ],
)
def test_the_longest_prefix_by_whole_names(path: str, point: str) -> None:
    found = covering(TABLE, path)
    assert found is not None
    assert found.point == point


def test_a_hidden_mount_is_passed_over() -> None:
    found = covering(TABLE, "/hidden/deep/x", "8:49")
    assert found is not None
    assert found.point == "/hidden"


def test_of_mounts_on_one_point_the_last_wins() -> None:
    table = parse("1 0 8:1 / /a rw - ext4 /dev/sda1 rw\n2 0 8:2 / /a rw - ext4 /dev/sda2 rw\n")
    found = covering(table, "/a/b")
    assert found is not None
    assert found.source == "/dev/sda2"


def test_no_table_covers_nothing() -> None:
    assert covering((), "/a") is None


@pytest.mark.parametrize(
    ("point", "kind"),
    [
        ("/", "local"),
        ("/home", "local"),
        ("/nfs", "network"),
        ("/sshfs", "network"),
        ("/c", "network"),
        ("/win", "fuse"),
        ("/zram", "ram"),
        ("/run", "ram"),
        ("/merged", "overlay"),
        ("/snap/x", "image"),
        ("/odd", "unknown"),
    ],
)
def test_the_kind_of_storage(point: str, kind: str) -> None:
    found = covering(TABLE, point)
    assert found is not None
    assert found.kind == kind


def test_a_windows_share_is_network() -> None:
    assert Mount("Z:\\", "NTFS", "\\\\server\\share").kind == "network"
    assert Mount("D:\\", "NTFS", "D:\\", options=frozenset({"rw", "fixed"})).kind == "local"
    assert Mount("Z:\\", "NTFS", "Z:\\", options=frozenset({"rw", "remote"})).kind == "network"


SPACE = Space(total=1000, free=500, reserved=50, inodes_free=9, block=1024, read_only=False)


def seen(path: str, space: Space = SPACE) -> Seen:
    return volume_at(Look(path=path, resolved=path, measured=path, space=space), TABLE, Root())


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("/home/a", "/data/b", True),  # two subvolumes of one btrfs
        ("/hidden/deep", "/ro", True),  # one file system, mounted twice
        ("/pool/a", "/pool/b", True),  # two datasets of one ZFS pool
        ("/", "/hidden", False),  # two disks of one size
        ("/old", "/fat", False),
        ("/nfs", "/nfs2", True),  # the very same figures from a server: taken for one, and said
        ("/merged", "/", True),  # a container's layer and what looks like the disk under it
    ],
)
def test_what_counts_as_one_volume(one: str, other: str, *, same: bool) -> None:
    volumes, ids = merged([seen(one), None, seen(other)])
    assert (len(volumes) == 1) is same
    assert (len(set(ids.values())) == 1) is same


def test_an_unsure_pair_says_so_and_a_sure_one_does_not() -> None:
    assert merged([seen("/nfs"), seen("/nfs2")])[0][0].unsure
    assert merged([seen("/home"), seen("/data")])[0][0].unsure is None


def test_network_volumes_of_different_size_are_apart() -> None:
    assert len(merged([seen("/nfs"), seen("/nfs2", Space(total=7, free=5))])[0]) == 2


def test_a_volume_without_figures_is_merged_with_nothing() -> None:
    assert len(merged([seen("/nfs", Space()), seen("/nfs2", Space())])[0]) == 2


def test_one_volume_seen_twice_has_the_tighter_quota() -> None:
    limited = Volume(id="/b", mount_points=("/b",), free=10, quota_free=10, quota="q")
    (volume,), _ = merged(
        [
            Seen(volume=Volume(id="/a", mount_points=("/a",), free=500), storage="s"),
            Seen(volume=limited, storage="s"),
        ]
    )
    assert (volume.id, volume.free, volume.quota) == ("/a", 10, "q")
    assert volume.mount_points == ("/a", "/b")


@pytest.mark.parametrize(
    ("point", "largest"),
    [
        ("/fat", 2**32 - 1),
        ("/old", (12 + 256 + 256**2 + 256**3) * 1024),  # 16 GiB and a bit
        ("/", None),
    ],
)
def test_the_largest_file(point: str, largest: int | None) -> None:
    assert seen(point).volume.largest_file == largest


def test_ext3_of_large_blocks_and_nfs_2() -> None:
    table = parse("1 0 8:1 / /a rw - ext3 /dev/sda1 rw\n2 0 0:9 / /b rw - nfs s:/x rw,vers=2\n")
    space = SPACE.model_copy(update={"block": 4096})
    look = Look(path="/a", measured="/a", space=space)
    assert volume_at(look, table, Root()).volume.largest_file == 2 * 2**40
    look = Look(path="/b", measured="/b", space=space)
    assert volume_at(look, table, Root()).volume.largest_file == 2**31 - 1


def test_without_a_mount_table_the_directory_stands_for_the_volume() -> None:
    alone = volume_at(Look(path="/x", measured="/x", device="8:1", space=SPACE), (), Root())
    assert (alone.volume.id, alone.storage, alone.volume.free) == ("/x", "8:1", 500)


def test_apfs_volumes_share_their_container() -> None:
    table = (
        Mount("/", "apfs", "/dev/disk3s1s1"),
        Mount("/System/Volumes/Data", "apfs", "/dev/disk3s5"),
        Mount("/Volumes/T7", "apfs", "/dev/disk5s1"),
    )
    ids = [
        volume_at(Look(path=path, measured=path, space=SPACE), table, Root()).storage
        for path in ("/Users/me", "/System/Volumes/Data/x", "/Volumes/T7/k3")
    ]
    assert ids == ["apfs disk3", "apfs disk3", "apfs disk5"]


def test_a_layer_whose_upper_directory_is_in_sight_is_one_with_its_disk(tmp_path: Path) -> None:
    upper = tmp_path / "upper"
    upper.mkdir()
    table = parse(
        f"1 0 8:1 / / rw - ext4 /dev/sda1 rw\n"
        f"2 0 8:2 / {tmp_path} rw - xfs /dev/sdb1 rw\n"
        f"3 0 0:9 / /merged rw - overlay overlay rw,lowerdir=/l,upperdir={upper}\n"
        f"4 0 0:7 / {upper}/deep rw - overlay overlay rw,lowerdir=/l\n"
        f"5 0 0:8 / /again rw - overlay overlay rw,lowerdir=/l,upperdir={upper}/deep\n"
    )
    (upper / "deep").mkdir()

    def at(path: str) -> tuple[str, str | None]:
        found = volume_at(Look(path=path, measured=path, space=SPACE), table, Root(tmp_path))
        return found.storage, found.volume.kind

    assert at("/merged/k3") == ("8:2", "overlay")
    assert at("/again/k3") == ("0:8", "overlay")  # a layer on a layer: where it ends is not seen
