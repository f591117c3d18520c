"""Capacity and everything around it: facts, and what is concluded from them."""

import shlex

import pytest

from factory import GB, choices, host
from k3preflight.assess import assess, too_small
from k3preflight.assess.remedy import rm
from k3preflight.models.disk import (
    Disk,
    Found,
    Presence,
    Trial,
    Under,
    Volume,
)
from k3preflight.models.host import Unknown
from k3preflight.models.names import CheckId, Role, Sizes, Status
from k3preflight.models.report import Policy
from rabbit import FILES, NEED, changed, found, judge, one, partial, with_files


def test_need_and_have_to_the_byte() -> None:
    assert one(host(free=NEED), CheckId.DISK_CAPACITY).status is Status.PASS
    short = one(host(free=NEED - 1), CheckId.DISK_CAPACITY)
    assert short.status is Status.FAIL
    assert "short by 1 B" in short.message


def test_what_is_there_counts_and_not_with_published_sizes() -> None:
    names = list(FILES)[:90]
    there = sum(FILES[name] for name in names)
    machine = with_files(NEED - there, *(found(name) for name in names))
    assert one(machine, CheckId.DISK_CAPACITY).status is Status.PASS
    assert "already there" in one(machine, CheckId.DISK_CAPACITY).message
    assert one(machine, CheckId.DISK_CAPACITY, sizes=Sizes.PUBLISHED).status is Status.FAIL


def test_a_pass_that_hangs_on_orphans_warns_with_the_command() -> None:
    gone, live = partial("a b.incomplete", 10 * GB), partial("c.incomplete", 5 * GB, live=True)
    machine = with_files(NEED - 15 * GB, partials=(gone, live))
    found_ = one(machine, CheckId.DISK_CAPACITY)
    assert found_.status is Status.WARN
    assert "rm -- '/data/k3/a b.incomplete'" in (found_.remedy or "")
    assert "c.incomplete" not in (found_.remedy or "")
    roomy = with_files(NEED - 5 * GB, partials=(gone, live))
    assert one(roomy, CheckId.DISK_CAPACITY).status is Status.PASS


def test_what_is_of_no_use_is_deleted_of_every_artifact() -> None:
    machine = host(profiles=("kimi-k3-in-c",))
    checkpoint, trunk = machine.places
    orphan = Presence(partials=(partial("a.incomplete", 50 * GB),))
    wrong = Found(
        name="trunk.bin",
        path="/data/k3/trunk/trunk.bin",
        bytes=60 * GB,
        allocated=60 * GB,
        inode="t",
    )
    places = (
        checkpoint.model_copy(update={"presence": orphan}),
        trunk.model_copy(update={"presence": Presence(files=(wrong,))}),
    )
    need = one(machine, CheckId.DISK_CAPACITY, "kimi-k3-in-c:laptop").budget
    assert need is not None
    machine = changed(machine, volume={"free": need.need - 110 * GB})
    machine = machine.model_copy(update={"places": places})
    found_ = one(machine, CheckId.DISK_CAPACITY, "kimi-k3-in-c:laptop")
    assert found_.status is Status.WARN
    assert found_.budget is not None
    assert found_.budget.gap == 0
    assert "rm -- /data/k3/a.incomplete /data/k3/trunk/trunk.bin" in (found_.remedy or "")


def test_many_orphans_are_deleted_in_turns() -> None:
    many = tuple(partial(f"{number}.incomplete", GB) for number in range(30))
    remedy = one(with_files(NEED - 30 * GB, partials=many), CheckId.DISK_CAPACITY).remedy or ""
    assert remedy.count(".incomplete") == 20
    assert "10 more" in remedy


def test_a_sparse_file_is_wrong_and_counts_what_it_takes() -> None:
    name = next(iter(FILES))
    machine = with_files(NEED - 4096, found(name, allocated=4096, written=False))
    assert one(machine, CheckId.DISK_CAPACITY).status is Status.WARN
    present = one(machine, CheckId.DOWNLOAD_PRESENT)
    assert present.status is Status.WARN
    assert "on disk" in present.message


def test_ways_out_of_a_shortfall() -> None:
    volume = {"filesystem": "ext4", "device": "/dev/nvme0n1p2", "reserved": 100 * GB}
    machine = changed(host(free=1870 * GB), volume=volume)
    alternatives = (
        Volume(id="/mnt/a", free=1930 * GB, kind="local"),
        Volume(id="/mnt/b", free=3000 * GB, kind="local"),
        Volume(id="/mnt/c", free=100 * GB, kind="local"),
    )
    machine = machine.model_copy(update={"disk": Disk(alternatives=alternatives)})
    remedy = one(machine, CheckId.DISK_CAPACITY, "kimi-k3-in-c").remedy or ""
    order = [
        "Use /mnt/b",
        "tune2fs -m 0 /dev/nvme0n1p2",
        "--place trunk=/mnt/b/trunk",
        "--headroom 11",
        "free 50.28",
    ]
    places = [remedy.index(text) for text in order]
    assert places == sorted(places)
    bare = one(host(free=1500 * GB), CheckId.DISK_CAPACITY, "kimi-k3-in-c").remedy or ""
    assert bare == "Free 420.28 GB on /data."
    lonely = one(host(free=1900 * GB), CheckId.DISK_CAPACITY, "kimi-k3-in-c").remedy or ""
    assert "PATH on another volume" in lonely


def test_a_volume_is_offered_only_where_everything_would_pass() -> None:
    machine = host(free=1500 * GB)
    good = Volume(id="/mnt/a", free=2000 * GB, kind="local", inodes_free=5000)
    for bad in (
        Volume(id="/mnt/b", free=3000 * GB, kind="local", inodes_free=9),
        Volume(id="/mnt/b", free=3000 * GB, kind="local", largest_file=2**32 - 1),
    ):
        disk = Disk(alternatives=(bad, good))
        remedy = one(machine.model_copy(update={"disk": disk}), CheckId.DISK_CAPACITY).remedy or ""
        assert remedy.startswith("Use /mnt/a, where 2,000.00 GB are free: --dir /mnt/a")


def test_what_was_placed_by_role_is_moved_by_role() -> None:
    disk = Disk(alternatives=(Volume(id="/mnt/a", free=2000 * GB, kind="local"),))
    machine = changed(host(free=1500 * GB), decided_by="--place checkpoint")
    machine = machine.model_copy(update={"disk": disk})
    remedy = one(machine, CheckId.DISK_CAPACITY).remedy or ""
    assert "--place checkpoint=/mnt/a" in remedy
    assert "--dir" not in remedy


def test_two_names_of_one_file_are_its_bytes_once() -> None:
    one_file, other = list(FILES)[:2]
    machine = with_files(GB, found(one_file, inode="1:2"), found(other, inode="1:2"))
    budget = one(machine, CheckId.DISK_CAPACITY).budget
    assert budget is not None
    assert budget.have == GB + FILES[one_file]


def test_a_command_of_many_files_is_still_one() -> None:
    line = rm([f"/data/{number}" for number in range(25)])
    assert line.endswith(" /data/19  # and 5 more, which the next check names")
    assert shlex.split(line, comments=True)[-1] == "/data/19"


def test_a_volume_that_could_never_hold_it_is_not_to_be_emptied() -> None:
    small = changed(host(free=80 * GB), volume={"total": 270 * GB, "reserved": 10 * GB})
    remedy = one(small, CheckId.DISK_CAPACITY, "kimi-k3-in-c").remedy or ""
    assert remedy == (
        "Use a volume of at least 1,920.28 GB, as all of /data holds 260.00 GB: --dir PATH."
    )
    full = changed(host(free=80 * GB), volume={"total": 2000 * GB})
    remedy = one(full, CheckId.DISK_CAPACITY, "kimi-k3-in-c").remedy or ""
    assert remedy == "Free 1,840.28 GB on /data."


def test_btrfs_under_five_percent_warns() -> None:
    near = changed(host(free=NEED + NEED // 30), volume={"filesystem": "btrfs"})
    assert one(near, CheckId.DISK_CAPACITY).status is Status.WARN
    far = changed(host(free=NEED + NEED // 10), volume={"filesystem": "btrfs"})
    assert one(far, CheckId.DISK_CAPACITY).status is Status.PASS


def test_a_place_for_what_the_profile_no_longer_has_changes_nothing() -> None:
    """A document may come from a release whose profile had one artifact more."""
    name = next(iter(FILES))
    presence = Presence(files=(found(name, 5),), partials=(partial("a.incomplete", GB),))
    known = changed(host(free=NEED - GB, profiles=("rabbit",)), presence=presence)
    (place,) = known.places
    trunk = place.model_copy(update={"role": Role.TRUNK, "path": "/data/k3/trunk"})
    more = known.model_copy(update={"places": (place, trunk)})
    for check in (CheckId.DISK_CAPACITY, CheckId.DOWNLOAD_PRESENT):
        (expected,) = judge(known)[check]
        assert judge(more)[check] == (expected,)
        assert f"rm -- /data/k3/a.incomplete /data/k3/{name}" in (expected.remedy or "")


@pytest.mark.parametrize(
    ("volume", "status", "word"),
    [
        ({"kind": "local", "filesystem": "ext4"}, Status.PASS, "a local disk"),
        ({"kind": "local", "filesystem": "btrfs"}, Status.PASS, "estimate"),
        ({"kind": "local", "reserved": GB}, Status.PASS, "reserved for root"),
        ({"quota_free": GB, "quota": "q"}, Status.PASS, "q leaves"),
        ({"quota": "quota not checked: x"}, Status.WARN, "quota not checked"),
        ({"kind": "ram", "filesystem": "tmpfs"}, Status.FAIL, "RAM"),
        ({"under": (Under(kind="loop file", ram=True),)}, Status.FAIL, "RAM"),
        ({"kind": "overlay"}, Status.WARN, "container"),
        ({"kind": "network"}, Status.WARN, "network"),
        ({"kind": "fuse"}, Status.WARN, "FUSE"),
        ({"kind": "unknown"}, Status.WARN, "does not know"),
        ({"unsure": "/x looks the same"}, Status.WARN, "may be shared"),
        ({"mount_root": "/pods/1/volumes/kubernetes.io~empty-dir/d"}, Status.WARN, "emptyDir"),
        ({"under": (Under(kind="thin pool", path="vg-pool"),)}, Status.WARN, "thinly"),
        ({"under": (Under(kind="Windows drive", free=GB),)}, Status.WARN, "ext4.vhdx"),
        (
            {"under": (Under(kind="loop file", path="/a.img", free=GB, grows=GB),)},
            Status.WARN,
            "/a.img",
        ),
        ({"under": (Under(kind="loop file", path="/a.img"),)}, Status.WARN, "unknown are free"),
        ({"under": (Under(kind="loop file", path="/a.img", grows=0),)}, Status.PASS, "local disk"),
    ],
)
def test_what_is_odd_about_a_volume(volume: dict[str, object], status: Status, word: str) -> None:
    found_ = one(changed(host(), volume=volume), CheckId.DISK_FILESYSTEM)
    assert found_.status is status
    assert word in found_.message


def test_nothing_measured_is_a_skip() -> None:
    away = changed(host(), volume=None, volume_=None, measured=None)
    away = away.model_copy(update={"volumes": ()})
    for check in (CheckId.DISK_FILESYSTEM, CheckId.DISK_FILE_SIZE, CheckId.DISK_INODES):
        assert one(away, check).status is Status.SKIP
        assert one(host(), check, free_disk=GB).status is Status.SKIP


@pytest.mark.parametrize(
    ("volume", "limit", "status"),
    [
        ({}, 2**63 - 1, Status.PASS),
        ({}, None, Status.PASS),
        ({}, 16_990_916_912, Status.PASS),
        ({}, 16_990_916_911, Status.FAIL),
        ({"largest_file": 2**32 - 1, "filesystem": "vfat"}, 2**63 - 1, Status.FAIL),
        ({"largest_file": 16_990_916_912}, 2**63 - 1, Status.PASS),
    ],
)
def test_the_largest_file(volume: dict[str, object], limit: int | None, status: Status) -> None:
    machine = changed(host(), volume=volume)
    machine = machine.model_copy(update={"disk": Disk(file_size_limit=limit)})
    assert one(machine, CheckId.DISK_FILE_SIZE).status is status


def test_trials_decide_where_they_were_made() -> None:
    refused = changed(host(), trial=Trial(created=True, sized=False, error="File too large"))
    assert one(refused, CheckId.DISK_FILE_SIZE).status is Status.FAIL
    assert one(refused, CheckId.DISK_WRITABLE).message.endswith("tried")
    nothing = changed(host(), trial=Trial(created=False, error="Read-only file system"))
    assert one(nothing, CheckId.DISK_WRITABLE).status is Status.FAIL


@pytest.mark.parametrize(
    ("inodes", "status"), [(None, Status.PASS), (100, Status.PASS), (99, Status.FAIL)]
)
def test_inodes(inodes: int | None, status: Status) -> None:
    machine = changed(host(), volume={"inodes_free": inodes})
    assert one(machine, CheckId.DISK_INODES).status is status


@pytest.mark.parametrize(
    ("place", "mount", "status", "word"),
    [
        ({}, "/data", Status.PASS, "decided by --dir"),
        ({"exists": True}, "/data", Status.PASS, "is a directory"),
        ({"resolved": "/really"}, "/data", Status.PASS, "really /really"),
        ({"caution": "X is empty"}, "/data", Status.WARN, "X is empty"),
        (
            {"resolved": "/mnt/models/k3"},
            "/",
            Status.WARN,
            "is the disk that belongs there mounted",
        ),
        ({"resolved": "/mnt/models/k3"}, "/mnt/models", Status.PASS, ""),
        ({"resolved": "/mntx"}, "/", Status.PASS, ""),
        ({"resolved": "/mnt"}, "/", Status.WARN, "is the disk that belongs there mounted"),
        ({"problem": "it is a file", "measured": None}, "/data", Status.FAIL, "is a file"),
        ({"measured": None}, "/data", Status.UNKNOWN, "not in the host document"),
    ],
)
def test_where_a_place_leads(
    place: dict[str, object], mount: str, status: Status, word: str
) -> None:
    machine = changed(host(), volume={"mount_point": mount}, **place)
    found_ = one(machine, CheckId.DISK_PATH)
    assert found_.status is status
    assert word in found_.message


def test_a_barrier_is_named() -> None:
    machine = changed(host(), writable=False, barrier="it is mounted read-only")
    found_ = one(machine, CheckId.DISK_WRITABLE)
    assert found_.status is Status.FAIL
    assert "mounted read-only" in found_.message
    unknown = changed(host(), writable=None).model_copy(
        update={"unknown": (Unknown(fact="places.rabbit.checkpoint.writable", reason="it hangs"),)}
    )
    assert "it hangs" in one(unknown, CheckId.DISK_WRITABLE).message


def test_whether_other_volumes_are_worth_a_look() -> None:
    assert too_small(assess(choices("rabbit"), host(free=1), Policy()))
    assert not too_small(assess(choices("rabbit"), host(), Policy()))


@pytest.mark.parametrize(
    ("free", "purgeable", "status"),
    [
        (NEED, 0, Status.PASS),
        (NEED - 50 * GB, 50 * GB, Status.WARN),
        (NEED - 50 * GB, 50 * GB - 1, Status.FAIL),
        (NEED - 50 * GB, None, Status.FAIL),
    ],
)
def test_a_gap_that_only_purgeable_space_closes(
    free: int, purgeable: int | None, status: Status
) -> None:
    volume: dict[str, object] = {"filesystem": "apfs", "purgeable": purgeable}
    judged = one(changed(host(free=free), volume=volume), CheckId.DISK_CAPACITY)
    assert judged.status is status
    assert judged.budget is not None
    assert judged.budget.gap == NEED - free  # of what is free, whatever could be cleared
    if status is Status.WARN:
        assert "purgeable" in judged.message
        assert f"{50 * GB} 4" in (judged.remedy or "")
