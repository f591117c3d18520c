"""What counts as fitting, alone, named together, and as alternatives."""

import pytest

from factory import GB, host, report
from k3preflight.assess.verdict import worst
from k3preflight.cli.exits import exit_of
from k3preflight.errors import Exit
from k3preflight.models.host import Host, Unknown
from k3preflight.models.names import CheckId, FailOn, Status
from k3preflight.models.report import Policy

BIG, SMALL = host(), host(free=900 * GB)


def blind() -> Host:
    """A host whose volume cannot be measured."""
    seen = host(free=None)
    reason = Unknown(fact="places.rabbit.checkpoint.volume", reason="statvfs did not answer")
    return seen.model_copy(update={"volumes": (), "unknown": (reason,)})


@pytest.mark.parametrize(
    ("machine", "names", "rule", "status", "fits"),
    [
        (BIG, (), "any", Status.PASS, ["kimi-k3-in-c:laptop", "rabbit", "ud-iq1-s"]),
        (SMALL, (), "any", Status.PASS, ["ud-iq1-s"]),
        (SMALL, ("rabbit", "ud-iq1-s"), "all", Status.FAIL, ["ud-iq1-s"]),
        (SMALL, ("ud-iq1-s",), "all", Status.PASS, ["ud-iq1-s"]),
        (host(free=1), (), "any", Status.FAIL, []),
        (blind(), (), "any", Status.UNKNOWN, []),
        (blind(), ("rabbit",), "all", Status.UNKNOWN, []),
        (
            BIG,
            ("kimi-k3-in-c:all",),
            "all",
            Status.PASS,
            ["kimi-k3-in-c:workstation", "kimi-k3-in-c:desktop", "kimi-k3-in-c:laptop"],
        ),
        (SMALL, ("kimi-k3-in-c:all", "ud-iq1-s"), "all", Status.FAIL, ["ud-iq1-s"]),
        (BIG, ("kimi-k3-in-c:server",), "all", Status.FAIL, []),
    ],
)
def test_the_rule_and_what_fits(
    machine: Host, names: tuple[str, ...], rule: str, status: Status, fits: list[str]
) -> None:
    verdict = report(machine, *names).verdict
    assert (verdict.rule, verdict.status, list(verdict.fits)) == (rule, status, fits)


def test_a_failure_weighs_more_than_an_unknown() -> None:
    found = report(blind().model_copy(update={"memory": host(usable=GB).memory}), "rabbit")
    assert found.verdict.status is Status.FAIL


@pytest.mark.parametrize(
    ("usable", "picked", "status"),
    [
        (236_170_224_371, "max", Status.PASS),
        (236_170_224_370, "server", Status.PASS),
        (16 * GB, "laptop", Status.PASS),
        (8 * GB, "laptop", Status.FAIL),
    ],
)
def test_the_largest_preset_the_host_holds(usable: int, picked: str, status: Status) -> None:
    (only,) = report(host(usable=usable), "kimi-k3-in-c:largest").assessments
    assert only.scenario == f"kimi-k3-in-c:{picked}"
    assert only.requested == "kimi-k3-in-c:largest"
    assert only.status is status


def test_the_largest_preset_of_an_unknown_memory_is_unknown() -> None:
    (only,) = report(host(usable=None), "kimi-k3-in-c:largest").assessments
    assert only.status is Status.UNKNOWN


def test_statuses_rank_and_skips_alone_are_unknown() -> None:
    assert worst([Status.PASS, Status.SKIP]) is Status.PASS
    assert worst([Status.PASS, Status.WARN]) is Status.WARN
    assert worst([Status.UNKNOWN, Status.WARN]) is Status.UNKNOWN
    assert worst([Status.UNKNOWN, Status.FAIL]) is Status.FAIL
    assert worst([Status.SKIP]) is Status.UNKNOWN
    skipped = report(BIG, "rabbit", policy=Policy(skip=tuple(CheckId)))
    assert skipped.verdict.status is Status.UNKNOWN


@pytest.mark.parametrize(
    ("machine", "name", "fail_on", "code"),
    [
        (BIG, "rabbit", FailOn.FAIL, Exit.PASS),
        (BIG, "ud-iq1-s", FailOn.FAIL, Exit.PASS),
        (BIG, "ud-iq1-s", FailOn.WARN, Exit.FAIL),
        (BIG, "rabbit", FailOn.WARN, Exit.PASS),
        (SMALL, "rabbit", FailOn.FAIL, Exit.FAIL),
        (SMALL, "rabbit", FailOn.NEVER, Exit.PASS),
        (blind(), "rabbit", FailOn.NEVER, Exit.UNKNOWN),
        (blind(), "rabbit", FailOn.WARN, Exit.UNKNOWN),
        (blind(), "rabbit", FailOn.FAIL, Exit.UNKNOWN),
    ],
)
def test_fail_on_changes_the_exit_and_never_the_verdict(
    machine: Host, name: str, fail_on: FailOn, code: Exit
) -> None:
    found = report(machine, name)
    assert exit_of(found, fail_on) is code
    assert found == report(machine, name)


def test_ignored_failures_stay_visible_as_warnings() -> None:
    policy = Policy(ignore=(CheckId.DISK_CAPACITY,))
    (only,) = report(SMALL, "rabbit", policy=policy).assessments
    (capacity,) = only.of(CheckId.DISK_CAPACITY)
    assert only.status is Status.WARN
    assert capacity.message.startswith("ignored (fail): short by")
    assert report(BIG, "rabbit", policy=policy).assessments[0].status is Status.PASS


def test_a_profile_the_host_was_not_probed_for() -> None:
    machine = host(profiles=("rabbit",))
    ud, rabbit = report(machine, "ud-iq1-s", "rabbit").assessments
    assert rabbit.status is Status.PASS
    assert ud.status is Status.UNKNOWN
    (capacity,) = ud.of(CheckId.DISK_CAPACITY)
    assert capacity.remedy == "Probe it again: k3preflight probe ud-iq1-s"
    assert ud.of(CheckId.MEMORY_MINIMUM)[0].status is Status.PASS
    (small,) = report(host(usable=GB, profiles=()), "ud-iq1-s").assessments
    assert small.status is Status.FAIL  # memory is a fact of the host alone, and a fail wins


def test_a_missing_place_is_no_pass() -> None:
    machine = host().model_copy(update={"places": ()})
    (only,) = report(machine, "rabbit").assessments
    assert only.status is Status.UNKNOWN
    assert only.of(CheckId.DISK_CAPACITY)[0].message.endswith("no place for the checkpoint")
