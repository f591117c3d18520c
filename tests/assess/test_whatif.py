"""Facts from flags: no path is touched, and they are labelled."""

from factory import GB, host, report
from k3preflight.models.names import CheckId, Status
from k3preflight.models.report import Policy


def test_memory_from_a_flag_is_total_usable_and_available() -> None:
    found = report(host(usable=16 * GB), "rabbit", policy=Policy(memory=128 * GB))
    assert found.host
    memory = found.host.memory
    assert (memory.total, memory.usable, memory.available) == (128 * GB,) * 3
    assert (memory.source, memory.usable_from) == ("flag", "--memory")
    (note,) = found.policy.notes
    assert "not a promise" in note
    assert found.verdict.status is Status.PASS


def test_less_memory_than_measured_carries_no_note() -> None:
    assert report(host(), "rabbit", policy=Policy(memory=64 * GB)).policy.notes == ()
    unknown = host(usable=None)
    assert report(unknown, "rabbit", policy=Policy(memory=64 * GB)).policy.notes == ()


def test_a_default_trunk_shares_its_checkpoints_volume() -> None:
    found = report(host(), "kimi-k3-in-c", policy=Policy(free_disk=1800 * GB))
    (capacity,) = found.assessments[0].of(CheckId.DISK_CAPACITY)
    assert capacity.status is Status.FAIL
    assert found.host
    assert [volume.source for volume in found.host.volumes] == ["flag"]


def test_a_trunk_named_elsewhere_is_a_volume_of_its_own() -> None:
    machine = host(trunk_free=1)
    found = report(machine, "kimi-k3-in-c", policy=Policy(free_disk=1800 * GB))
    assert [item.status for item in found.assessments[0].of(CheckId.DISK_CAPACITY)] == [
        Status.PASS,
        Status.PASS,
    ]


def test_the_checks_on_the_real_place_are_skipped() -> None:
    (only,) = report(host(), "rabbit", policy=Policy(free_disk=2000 * GB)).assessments
    for check in (CheckId.DISK_PATH, CheckId.DISK_WRITABLE):
        assert {item.status for item in only.of(check)} == {Status.SKIP}


def test_a_host_without_places_can_be_asked_what_if() -> None:
    machine = host(profiles=()).model_copy(update={"profiles": ("kimi-k3-in-c",)})
    (only,) = report(machine, "kimi-k3-in-c", policy=Policy(free_disk=1900 * GB)).assessments
    (capacity,) = only.of(CheckId.DISK_CAPACITY)
    assert capacity.status is Status.FAIL
    assert capacity.budget
    assert capacity.budget.need == 1_920_282_576_996
