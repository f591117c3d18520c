"""Several hosts as one: the guide's 640 GB row out of two, and what is unknown or doubtful."""

from factory import GB, choices, host
from k3preflight.assess import assess
from k3preflight.assess.pool import pool_hosts
from k3preflight.models.host import Host
from k3preflight.models.names import CheckId, Pool, Sizes, Status
from k3preflight.models.report import Assessment, Policy


def machine(name: str | None, usable: int | None, available: int | None = None) -> Host:
    """A host with 800 GB of disk, or with none where it is not the first."""
    free = 800 * GB if name == "big" else 0
    return host(free, usable, available).model_copy(update={"name": name})


def judged(*hosts: Host, require_resident: bool = False) -> Assessment:
    pooled, notes = pool_hosts(hosts)
    policy = Policy(
        sizes=Sizes.PUBLISHED, pool=Pool.HOSTS, notes=notes, require_resident=require_resident
    )
    (only,) = assess(choices("ud-iq1-s"), pooled, policy).assessments
    return only


def test_640_gb_out_of_512_and_128_is_the_printed_row() -> None:
    found = judged(machine("big", 512 * GB), machine("small", 128 * GB))
    (capacity,) = found.of(CheckId.DISK_CAPACITY)
    (residency,) = found.of(CheckId.MEMORY_RESIDENCY)
    assert capacity.status is Status.PASS
    assert capacity.budget
    assert capacity.budget.need == 683_100_000_000
    assert residency.status is Status.PASS
    assert residency.budget
    assert (residency.budget.gap, residency.budget.coverage_percent) == (0, 100)
    assert found.mode == "resident"
    have = [(item.name, item.bytes) for item in residency.budget.items if item.side == "have"]
    assert have == [("available on big", 512 * GB), ("available on small", 128 * GB)]


def test_the_notes_say_each_share_what_to_confirm_and_that_it_is_no_promise() -> None:
    _, notes = pool_hosts([machine("big", 512 * GB), machine("small", 128 * GB)])
    share, disk, confirm = notes
    assert "big 512.00 GB (476.84 GiB), 80.00%, small 128.00 GB (119.21 GiB), 20.00%" in share
    assert share.startswith("--pool hosts: 640.00 GB")
    assert share.endswith("an aggregate, not a promise that they can be combined")
    assert "stays on big, the first host given" in disk
    assert "not authenticated" in confirm
    assert "report total, not available, memory" in confirm


def test_the_disk_need_stays_on_the_first_host() -> None:
    found = judged(machine("small", 128 * GB), machine("big", 512 * GB))
    (capacity,) = found.of(CheckId.DISK_CAPACITY)
    assert capacity.status is Status.FAIL


def test_available_memory_is_what_counts() -> None:
    found = judged(machine("big", 512 * GB, 400 * GB), machine("small", 128 * GB))
    (residency,) = found.of(CheckId.MEMORY_RESIDENCY)
    assert residency.budget
    assert residency.budget.have == 528 * GB


def test_one_host_unknown_is_a_pool_unknown() -> None:
    blind = machine("blind", 512 * GB)
    blind = blind.model_copy(update={"memory": blind.memory.model_copy(update={"available": None})})
    for unknown, reason in (
        (machine("blind", None), "blind: /proc/meminfo cannot be read"),
        (blind, "blind: not in the host document"),
    ):
        pooled, notes = pool_hosts([machine("big", 512 * GB), unknown])
        assert pooled.memory.usable is None
        assert pooled.why("memory.usable") == reason
        assert notes[0] == "--pool hosts: the memory of 2 hosts cannot be added up"
        found = judged(machine("big", 512 * GB), unknown, require_resident=True)
        (residency,) = found.of(CheckId.MEMORY_RESIDENCY)
        assert residency.status is Status.UNKNOWN
        (minimum,) = found.of(CheckId.MEMORY_MINIMUM)
        assert minimum.status is Status.UNKNOWN


def test_one_host_given_twice_and_hosts_without_names_are_told() -> None:
    _, notes = pool_hosts([machine("big", 512 * GB), machine("big", 512 * GB)])
    assert notes[-1] == "two documents are of big: is one host counted twice?"
    _, notes = pool_hosts([machine(None, 0), machine(None, 0)])
    assert "(host 1 nothing, host 2 nothing)" in notes[0]
