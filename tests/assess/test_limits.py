"""What limits, available memory and odd facts do to the memory checks."""

import pytest

from factory import GB, choices, host, report
from k3preflight.assess import assess
from k3preflight.models.host import Host, Unknown
from k3preflight.models.machine import Counts, Limit, Memory
from k3preflight.models.names import CheckId, Status
from k3preflight.models.report import Finding, Policy

KV_AND_STATE = 452_984_832 + 464_633_856  # of ud-iq1-s at its 16,384 positions
WEIGHTS = 594_040_923_616
LAPTOP_PLAN = 9_361_713_152  # window, cache, embeddings and head, state, KV of 16 positions


def with_memory(**facts: object) -> Host:
    machine = host()
    return machine.model_copy(update={"memory": machine.memory.model_copy(update=facts)})


def with_limit(counts: Counts, size: int, left: int | None = None, name: str = "ulimit") -> Host:
    return with_memory(limits=(Limit(name=name, counts=counts, bytes=size, left=left),))


def found(machine: Host, scenario: str, check: CheckId = CheckId.MEMORY_MINIMUM) -> Finding:
    (finding,) = report(machine, scenario).assessments[0].of(check)
    return finding


@pytest.mark.parametrize(
    ("scenario", "counts", "need"),
    [
        ("ud-iq1-s", "address-space", WEIGHTS + KV_AND_STATE),
        ("ud-iq1-s", "private", KV_AND_STATE),
        ("kimi-k3-in-c", "address-space", LAPTOP_PLAN),
        ("kimi-k3-in-c", "private", LAPTOP_PLAN),
        ("rabbit", "private", 36_212_254_720),
    ],
)
def test_a_limit_is_held_against_what_counts_for_it(
    scenario: str, counts: Counts, need: int
) -> None:
    assert found(with_limit(counts, need), scenario).status is Status.PASS
    short = found(with_limit(counts, need - 1), scenario)
    assert short.status is Status.FAIL
    assert short.message.startswith("short by 1 B of ")
    crowded = found(with_limit(counts, need, need - 1), scenario)
    assert crowded.status is Status.WARN
    assert "leaves" in crowded.message


@pytest.mark.parametrize(
    ("counts", "name", "remedy"),
    [
        ("address-space", "ulimit -v", "ulimit -v unlimited"),
        ("private", "ulimit -d", "ulimit -d unlimited"),
        ("private", "vm.overcommit_memory = 2", "sysctl vm.overcommit_memory=0"),
    ],
)
def test_the_remedy_raises_that_limit(counts: Counts, name: str, remedy: str) -> None:
    assert remedy in (found(with_limit(counts, 1, name=name), "rabbit").remedy or "")


def test_a_limit_on_locking_matters_to_no_runtime_that_does_not_lock() -> None:
    assert found(with_limit("locked", 0), "ud-iq1-s").status is Status.PASS


def group(size: int, *, soft: bool = False) -> dict[str, object]:
    limit = Limit(name="/g/memory", counts="resident", bytes=size, soft=soft)
    return {"usable": size, "usable_from": "/g/memory", "limits": (limit,)}


def test_a_group_that_is_too_small_is_named_and_to_be_raised() -> None:
    short = found(with_memory(**group(8 * GB)), "rabbit")
    assert short.status is Status.FAIL
    assert short.message.endswith("8.00 GB (7.45 GiB) usable, by /g/memory")
    assert short.remedy == "Raise it to at least 36.21 GB (33.73 GiB) (/g/memory)."


def test_raising_a_group_beyond_the_machine_is_no_remedy() -> None:
    short = found(with_memory(**group(8 * GB), total=16 * GB), "rabbit")
    assert short.remedy == "Use a machine with at least 36.21 GB (33.73 GiB)."


def test_a_group_that_throttles_warns() -> None:
    soft = found(with_memory(**group(64 * GB, soft=True)), "rabbit")
    assert soft.status is Status.WARN
    assert "/g/memory throttles" in soft.message
    assert found(with_memory(**group(64 * GB)), "rabbit").status is Status.PASS


def test_wsl_names_its_own_setting() -> None:
    assert ".wslconfig" in (found(with_memory(usable=8 * GB, wsl=True), "rabbit").remedy or "")


def test_a_zfs_cache_could_be_freed_and_is_not_added() -> None:
    low = found(with_memory(available=30 * GB, zfs_arc=20 * GB), "rabbit")
    assert low.status is Status.WARN
    assert low.remedy == (
        "Free 6.21 GB: stop what holds it, then check again. "
        "The ZFS cache could give back up to 20.00 GB."
    )


def test_a_limit_that_holds_no_number_warns() -> None:
    odd = Unknown(fact="memory.limits", reason="/g/memory.max holds 'lots', which is no limit")
    noted = found(host().model_copy(update={"unknown": (odd,)}), "rabbit")
    assert noted.status is Status.WARN
    assert "holds 'lots'" in noted.message


@pytest.mark.parametrize(("total", "status"), [(16, Status.FAIL), (64, Status.UNKNOWN)])
def test_an_unknown_limit_cannot_help_a_machine_that_is_too_small(
    total: int, status: Status
) -> None:
    memory = Memory(total=total * GB)
    assert found(host().model_copy(update={"memory": memory}), "rabbit").status is status


def test_what_is_available_may_be_unknown() -> None:
    passed = found(with_memory(available=None), "rabbit")
    assert passed.status is Status.PASS
    assert passed.message.endswith("what is available now is unknown")


def test_16_gb_fail_and_a_512_gb_mac_fits_the_quant() -> None:
    assert found(host(usable=16 * GB), "ud-iq1-s").status is Status.FAIL
    mac = report(host(free=4000 * GB, usable=512 * 2**30))
    assert "ud-iq1-s" in mac.verdict.fits


@pytest.mark.parametrize(
    ("usable", "status", "words"),
    [
        (WEIGHTS + KV_AND_STATE, Status.PASS, "(KV, OS and buffers not counted)"),
        (WEIGHTS + KV_AND_STATE - 1, Status.WARN, "the page cache lacks 1 B"),
        (WEIGHTS - 1, Status.WARN, "62 GB of RAM and the weights on a USB disk froze"),
    ],
)
def test_mapped_weights_page_where_the_cache_cannot_hold_them(
    usable: int, status: Status, words: str
) -> None:
    residency = found(host(usable=usable), "ud-iq1-s", CheckId.MEMORY_RESIDENCY)
    assert residency.status is status
    assert words in residency.message


def test_streaming_by_design_passes() -> None:
    assert found(host(), "rabbit", CheckId.MEMORY_RESIDENCY).status is Status.PASS


def test_the_largest_preset_heeds_every_limit() -> None:
    machine = with_limit("private", 40 * GB)
    (item,) = report(machine, "kimi-k3-in-c:largest").assessments
    assert item.scenario == "kimi-k3-in-c:desktop"


def test_memory_from_a_flag_meets_no_limit() -> None:
    judged = report(with_limit("private", 1), "rabbit", policy=Policy(memory=64 * GB))
    (finding,) = judged.assessments[0].of(CheckId.MEMORY_MINIMUM)
    assert finding.status is Status.PASS


def locking(limit: int) -> Finding:
    """A profile of one's own whose runtime locks its weights, under a limit on locking."""
    (choice,) = choices("ud-iq1-s")
    profile = choice.scenarios[0].profile
    held = profile.memory.model_copy(update={"locks_weights": True})
    scenario = choice.scenarios[0]._replace(profile=profile.model_copy(update={"memory": held}))
    machine = with_limit("locked", limit, name="ulimit -l")
    judged = assess([choice._replace(scenarios=(scenario,))], machine, Policy())
    (finding,) = judged.assessments[0].of(CheckId.MEMORY_MINIMUM)
    return finding


def test_a_runtime_that_locks_its_weights_meets_the_limit_on_locking() -> None:
    assert locking(WEIGHTS).status is Status.PASS
    refused = locking(WEIGHTS - 1)
    assert refused.status is Status.WARN
    assert "mlock will be refused" in refused.message


def test_the_next_larger_preset_may_be_refused_by_a_limit() -> None:
    (item,) = report(with_limit("private", 40 * GB), "kimi-k3-in-c:largest").assessments
    assert item.notes[0].startswith(
        "kimi-k3-in-c:largest is kimi-k3-in-c:desktop; kimi-k3-in-c:workstation is short by "
    )
