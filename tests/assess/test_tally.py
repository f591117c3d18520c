"""What many reports come to, counted one by one."""

from collections import Counter

import pytest

from factory import GB, broken, host, report
from k3preflight.assess.fleet import NEAREST, Tally, every
from k3preflight.models.names import CheckId, Status
from k3preflight.models.report import Policy, Report

# Disk and memory decide here; what else the host has is another test's subject.
OTHERS = tuple(check for check in CheckId if not check.startswith(("disk.cap", "memory.")))
NAMES = ("rabbit", "ud-iq1-s")


def judged(free: int | None, usable: int | None = 128 * GB, name: str | None = "box") -> Report:
    machine = host(free, usable).model_copy(update={"name": name})
    return report(machine, *NAMES, policy=Policy(skip=OTHERS))


@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        ("", Status.UNKNOWN),
        ("p", Status.PASS),
        ("ppp", Status.PASS),
        ("pu", Status.UNKNOWN),
        ("puf", Status.FAIL),
        ("f", Status.FAIL),
        ("u", Status.UNKNOWN),
    ],
)
def test_every_host_must_pass(answers: str, expected: Status) -> None:
    words = {"p": Status.PASS, "f": Status.FAIL, "u": Status.UNKNOWN}
    assert every(Counter(words[letter] for letter in answers)) is expected  # type: ignore[misc]  # a table of verdicts


def test_nothing_counted_is_unknown() -> None:
    summary = Tally().summary()
    assert (summary.hosts, summary.status, summary.scenarios) == (0, Status.UNKNOWN, ())


def test_hosts_are_counted_for_each_scenario() -> None:
    tally = Tally()
    for free, usable in ((2000, 128), (700, 128), (1, 1), (2000, None), (None, 128)):
        tally.add(judged(free and free * GB, usable and usable * GB))
    tally.add(broken())
    summary = tally.summary()
    assert (summary.hosts, summary.passes, summary.fails, summary.unknown) == (6, 1, 2, 3)
    assert (summary.broken, summary.status) == (1, Status.FAIL)
    rabbit, quant = summary.scenarios
    assert (rabbit.scenario, rabbit.hosts) == ("rabbit", 5)
    assert (rabbit.fits, rabbit.warns, rabbit.fails, rabbit.unknown) == (1, 0, 2, 2)
    assert (quant.fits, quant.warns, quant.fails, quant.unknown) == (2, 2, 1, 2)


def test_what_stops_hosts_is_counted_by_check_the_most_first() -> None:
    tally = Tally()
    for free, usable in ((1, 128), (1, 128), (1, 1), (2000, None)):
        tally.add(judged(free * GB, usable and usable * GB))
    rabbit = tally.summary().scenarios[0]
    assert [(stop.check, stop.status, stop.hosts) for stop in rabbit.stops] == [
        (CheckId.DISK_CAPACITY, Status.FAIL, 3),
        (CheckId.MEMORY_MINIMUM, Status.FAIL, 1),
        (CheckId.MEMORY_MINIMUM, Status.UNKNOWN, 1),
    ]


def test_a_check_that_fails_on_two_volumes_stops_a_host_once() -> None:
    tally = Tally()
    machine = host(1 * GB, trunk_free=1 * GB)
    tally.add(report(machine, "kimi-k3-in-c", policy=Policy(skip=OTHERS)))
    (only,) = tally.summary().scenarios
    assert [(stop.check, stop.hosts) for stop in only.stops] == [(CheckId.DISK_CAPACITY, 1)]


def test_near_misses_are_the_fewest_failures_then_the_smallest_shortfall() -> None:
    tally = Tally()
    for number, (free, usable) in enumerate(
        ((500, 128), (1700, 1), (1000, 128), (1790, 128), (1, 1), (1500, 128))
    ):
        tally.add(judged(free * GB, usable * GB, f"node{number}"))
    rabbit = tally.summary().scenarios[0]
    assert [miss.host for miss in rabbit.nearest] == ["node3", "node5", "node2"]
    assert len(rabbit.nearest) == NEAREST
    assert rabbit.nearest[0].message.startswith("disk.capacity: short by 5.15 GB")


def test_a_host_without_a_name_goes_by_its_document() -> None:
    assert judged(1, name=None).name == "unnamed"
    assert judged(1, name=None).model_copy(update={"document": "a.json"}).name == "a.json"
    assert broken().name == "hosts.ndjson, line 3"
