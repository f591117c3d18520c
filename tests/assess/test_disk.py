"""Capacity and everything around it: facts, and what is concluded from them."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from disks import small_choice
from factory import GB, choices, host
from k3preflight.assess import assess, too_small
from k3preflight.assess.case import Case
from k3preflight.assess.download import client, duration
from k3preflight.assess.layout import REST, lay
from k3preflight.models.disk import (
    Disk,
    Elsewhere,
    Found,
    Partial,
    Place,
    Presence,
    Scratch,
    Trial,
    Under,
    Volume,
)
from k3preflight.models.host import Host, Unknown
from k3preflight.models.names import CheckId, Role, Sizes, Status
from k3preflight.models.report import Finding, Policy
from k3preflight.profiles import catalog, choose

RABBIT = choose(["rabbit"], catalog())[0].scenarios[0].profile
FILES = RABBIT.checkpoint.files
NEED = 1_795_148_832_049  # 1,560,998,984,390 with 15%


def judge(
    machine: Host, name: str = "rabbit", **policy: object
) -> dict[CheckId, tuple[Finding, ...]]:
    report = assess(choices(name), machine, Policy.model_validate(policy))
    return {check: report.assessments[0].of(check) for check in CheckId}


def one(machine: Host, check: CheckId, name: str = "rabbit", **policy: object) -> Finding:
    (found,) = judge(machine, name, **policy)[check]
    return found


def found(name: str, size: int | None = None, **more: object) -> Found:
    size = FILES[name] if size is None else size
    facts = {
        "name": name,
        "path": f"/data/k3/{name}",
        "bytes": size,
        "allocated": size,
        "inode": name,
    }
    return Found.model_validate(facts | {"inode": name} | more)


def partial(name: str, size: int, *, live: bool = False, resumes: bool = False) -> Partial:
    return Partial(path=f"/data/k3/{name}", allocated=size, live=live, resumes=resumes, inode=name)


def changed(machine: Host, *, volume: dict[str, object] | None = None, **place: object) -> Host:
    return machine.model_copy(
        update={
            "places": tuple(item.model_copy(update=place) for item in machine.places),
            "volumes": tuple(item.model_copy(update=volume or {}) for item in machine.volumes),
        }
    )


def with_files(free: int, *files: Found, partials: tuple[Partial, ...] = ()) -> Host:
    presence = Presence(files=files, partials=partials)
    return changed(host(free=free), presence=presence)


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


@given(st.lists(st.integers(0, 100), min_size=3, max_size=20), st.integers(-5, 5))
@settings(max_examples=30, deadline=None)
def test_a_download_never_changes_the_verdict(steps: list[int], spare: int) -> None:
    names = list(FILES)
    statuses = set()
    for done in sorted(steps):
        whole = names[: min(done, 90)]
        growing = tuple(
            partial(f"{name}.incomplete", FILES[name] * (done % 7) // 7, live=True)
            for name in names[len(whole) : len(whole) + 16]
        )
        used = sum(FILES[name] for name in whole) + sum(item.allocated for item in growing)
        machine = with_files(
            max(0, NEED + spare - used), *(found(name) for name in whole), partials=growing
        )
        statuses.add(one(machine, CheckId.DISK_CAPACITY).status)
    assert statuses == {Status.PASS if spare >= 0 else Status.FAIL}


def test_a_sparse_file_is_wrong_and_counts_what_it_takes() -> None:
    name = next(iter(FILES))
    machine = with_files(NEED - 4096, found(name, allocated=4096, written=False))
    assert one(machine, CheckId.DISK_CAPACITY).status is Status.WARN
    present = one(machine, CheckId.DOWNLOAD_PRESENT)
    assert present.status is Status.WARN
    assert "on disk" in present.message


def test_unwritten_and_unverifiable_files_are_said() -> None:
    first, second = list(FILES)[:2]
    machine = with_files(NEED, found(first, written=False), found(second, verified=False))
    present = one(machine, CheckId.DOWNLOAD_PRESENT)
    assert "never written" in present.message
    assert "allocation cannot be verified here" in present.message
    assert "verify rabbit --sha256" in (present.remedy or "")


def test_partials_that_llama_goes_on_from() -> None:
    machine = with_files(NEED, partials=(partial("x.downloadInProgress", GB, resumes=True),))
    assert "will be continued" in one(machine, CheckId.DOWNLOAD_PRESENT).message
    took = one(machine, CheckId.DOWNLOAD_TIME, link=10**9).message
    assert took.startswith("1,560.00 GB to download")
    published = one(machine, CheckId.DOWNLOAD_TIME, link=10**9, sizes=Sizes.PUBLISHED).message
    assert published.startswith("1,560.00 GB to download")  # its own figure, nothing credited


def test_files_elsewhere_and_git_lfs() -> None:
    presence = Presence(
        elsewhere=(Elsewhere(path="/other", files=3, bytes=GB),), git_lfs="/data/k3/.git/lfs"
    )
    present = one(changed(host(), presence=presence), CheckId.DOWNLOAD_PRESENT)
    assert "3 whole files (1.00 GB) lie in /other" in present.message
    assert present.status is Status.WARN
    assert "second time" in present.message


def test_presence_nobody_looked_at() -> None:
    present = one(host(), CheckId.DOWNLOAD_PRESENT)
    assert present.status is Status.SKIP
    assert one(host(), CheckId.DOWNLOAD_PRESENT, free_disk=GB).status is Status.SKIP


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


def spread(*frees: int | None) -> Host:
    volumes = tuple(Volume(id=f"/v{index}", free=free) for index, free in enumerate(frees))
    places = tuple(
        Place(
            profile="rabbit",
            role=Role.CHECKPOINT,
            requested=f"/v{index}/k3",
            decided_by="--place checkpoint",
            path=f"/v{index}/k3",
            resolved=f"/v{index}/k3",
            measured=f"/v{index}",
            writable=True,
            volume=f"/v{index}",
        )
        for index in range(len(frees))
    )
    return host(profiles=("rabbit",)).model_copy(update={"volumes": volumes, "places": places})


def test_whole_shards_are_laid_on_two_drives() -> None:
    outcomes = judge(spread(1000 * GB, 1000 * GB))[CheckId.DISK_CAPACITY]
    assert [item.status for item in outcomes] == [Status.PASS, Status.PASS]
    needs = [item.budget.need for item in outcomes if item.budget]
    assert NEED <= sum(needs) <= NEED + 1
    report = assess(choices("rabbit"), spread(1000 * GB, 1000 * GB), Policy())
    lines = [line.run for line in report.assessments[0].commands]
    names = " ".join(line for line in lines if line.startswith("hf download"))
    assert all(names.count(name) == 1 for name in FILES)
    assert "--shard-dirs /v0/k3,/v1/k3" in lines[-1]


def test_what_cannot_be_laid_is_told() -> None:
    outcomes = judge(spread(1000 * GB, 500 * GB))[CheckId.DISK_CAPACITY]
    (failed,) = [item for item in outcomes if item.status is Status.FAIL]
    assert failed.subject == "checkpoint"
    assert failed.budget is not None
    assert failed.budget.gap
    assert "find no room" in failed.message
    # The sum of the two would do; whole files do not.
    shard = 16_990_916_912 * 115 // 100
    tight = judge(spread(NEED - shard + 10**9, shard - 10**9))[CheckId.DISK_CAPACITY]
    assert Status.FAIL in {item.status for item in tight}


def test_a_spread_over_an_unknown_drive_is_unknown_or_fails() -> None:
    outcomes = judge(spread(None, 2000 * GB))[CheckId.DISK_CAPACITY]
    assert {item.status for item in outcomes} == {Status.UNKNOWN, Status.PASS}


def test_a_shard_on_a_drive_of_unknown_room_is_laid_like_any_other() -> None:
    machine = spread(None, 2000 * GB)
    name = next(iter(FILES))
    there = machine.places[0].model_copy(update={"presence": Presence(files=(found(name),))})
    machine = machine.model_copy(update={"places": (there, machine.places[1])})
    outcomes = judge(machine)[CheckId.DISK_CAPACITY]
    assert {item.status for item in outcomes} == {Status.UNKNOWN, Status.PASS}
    (passed,) = [item for item in outcomes if item.status is Status.PASS]
    assert passed.budget is not None
    assert passed.budget.need == NEED  # none of it is left to the other drive


def test_where_every_file_is_listed_no_others_are_laid(tmp_path: Path) -> None:
    """Rabbit lists less than its checkpoint's size, the small profile all of it."""
    scenario = small_choice(tmp_path).scenarios[0]
    places = tuple(
        place.model_copy(update={"profile": "small"})
        for place in spread(1000 * GB, 1000 * GB).places
    )
    machine = spread(1000 * GB, 1000 * GB).model_copy(update={"places": places})
    shares = lay(Case(scenario, machine, Policy())).shares
    laid = sorted(name for (share,) in shares.values() for name in share.files)
    assert laid == sorted(scenario.profile.checkpoint.files)
    listed = choices("rabbit")[0].scenarios[0]
    shares = lay(Case(listed, spread(1000 * GB, 1000 * GB), Policy())).shares
    assert REST in [name for (share,) in shares.values() for name in share.files]


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


def test_shards_already_there_stay() -> None:
    machine = spread(1000 * GB, 1000 * GB)
    names = list(FILES)[:40]
    presence = Presence(files=tuple(found(name) for name in names))
    places = (machine.places[0], machine.places[1].model_copy(update={"presence": presence}))
    machine = machine.model_copy(update={"places": places})
    report = assess(choices("rabbit"), machine, Policy())
    (second,) = [
        line.run
        for line in report.assessments[0].commands
        if line.run.endswith("--local-dir /v1/k3")
    ]
    assert all(name in second for name in names)


def test_two_directories_on_one_volume_are_one_need() -> None:
    machine = spread(2000 * GB, 1)
    places = tuple(item.model_copy(update={"volume": "/v0"}) for item in machine.places)
    machine = machine.model_copy(update={"places": places})
    (only,) = judge(machine)[CheckId.DISK_CAPACITY]
    assert only.status is Status.PASS


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


def test_the_scripts_own_demand() -> None:
    def demand(machine: Host) -> Finding:
        found_ = judge(machine, "kimi-k3-in-c")[CheckId.DOWNLOAD_CLIENT]
        return next(item for item in found_ if item.subject == "./scripts/download-model.sh")

    assert demand(host(free=1_560_936_091_448)).status is Status.PASS
    refused = demand(host(free=1_560_936_091_447))
    assert refused.status is Status.WARN
    assert "hf download moonshotai/Kimi-K3 --local-dir /data/k3" in (refused.remedy or "")
    assert "HF_XET_HIGH_PERFORMANCE" in refused.message
    assert demand(host(free=None)).status is Status.SKIP


def test_a_script_that_demands_no_room_is_still_not_the_way() -> None:
    (choice,) = choices("kimi-k3-in-c:laptop")
    profile = choice.scenarios[0].profile
    script = profile.download.demand
    assert script is not None
    download = profile.download.model_copy(
        update={"demand": script.model_copy(update={"free": None})}
    )
    scenario = choice.scenarios[0]._replace(
        profile=profile.model_copy(update={"download": download})
    )
    outcome = next(client(Case(scenario, host(free=1), Policy())))
    assert outcome.status is Status.PASS
    assert outcome.message == (
        "./scripts/download-model.sh; it also turns on HF_XET_HIGH_PERFORMANCE"
    )
    assert "hf download moonshotai/Kimi-K3 --local-dir /data/k3" in (outcome.remedy or "")


@pytest.mark.parametrize(
    ("disk", "status", "word"),
    [
        (Disk(scratch=Scratch(path="/x", decided_by="HF_HOME", free=GB)), Status.WARN, "HF_HOME"),
        (Disk(scratch=Scratch(path="/x", decided_by="d", free=20 * GB)), Status.PASS, "20.00 GB"),
        (
            Disk(scratch=Scratch(path="/x", decided_by="d", free=GB, volume="/data")),
            Status.PASS,
            "same volume",
        ),
        (Disk(high_performance=True), Status.WARN, "HF_XET_HIGH_PERFORMANCE is on"),
        (Disk(), Status.PASS, "demands nothing"),
    ],
)
def test_where_the_client_writes_besides(disk: Disk, status: Status, word: str) -> None:
    machine = host(usable=128 * GB, available=63 * GB).model_copy(update={"disk": disk})
    found_ = one(machine, CheckId.DOWNLOAD_CLIENT)
    assert found_.status is status
    assert word in found_.message
    assert one(machine, CheckId.DOWNLOAD_CLIENT, "ud-iq1-s").status is Status.PASS


def test_the_time_of_what_is_missing() -> None:
    assert one(host(), CheckId.DOWNLOAD_TIME).status is Status.SKIP
    slow = one(host(), CheckId.DOWNLOAD_TIME, link=125_000_000)
    assert "3 h 28 min" in slow.message
    assert "1,000 Mbit/s" in slow.message
    done = with_files(NEED, *(found(name) for name in FILES))
    assert "3.13 MB to download" in one(done, CheckId.DOWNLOAD_TIME, link=1000).message
    published = one(done, CheckId.DOWNLOAD_TIME, link=10**9, sizes=Sizes.PUBLISHED)
    assert "1,560.00 GB" in published.message


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0 s"), (59, "59 s"), (60, "1 min 0 s"), (3660, "1 h 1 min"), (90000, "1 d 1 h")],
)
def test_durations(seconds: int, text: str) -> None:
    assert duration(seconds) == text


def test_commands_for_a_client_that_finds_its_own_cache() -> None:
    named = assess(choices("ud-iq1-s"), host(), Policy()).assessments[0].commands
    assert any(line.run.startswith("LLAMA_CACHE=/data/k3 ") for line in named)
    own = assess(choices("ud-iq1-s"), changed(host(), own_cache=True), Policy())
    lines = [line.run for line in own.assessments[0].commands]
    assert any(line.startswith("./llama.cpp") for line in lines)
    assert not any("LLAMA_CACHE" in line for line in lines)


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
