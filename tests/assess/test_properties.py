"""What must hold for every machine, not only for the ones in a table."""

from hypothesis import given
from hypothesis import strategies as st

from factory import GB, WAYS, choices, host, report
from k3preflight.assess import assess
from k3preflight.models.host import Host
from k3preflight.models.names import Status
from k3preflight.models.report import Assessment, Budget, Policy, Report
from k3preflight.models.scenario import Choice, Scenario

SIZES = st.integers(0, 3000 * GB)
NAMES = st.sampled_from(WAYS)
ORDER = [Status.PASS, Status.WARN, Status.UNKNOWN, Status.FAIL]


def badness(assessment: Assessment) -> int:
    return ORDER.index(assessment.status)


def one(name: str, free: int, usable: int, **policy: int) -> Assessment:
    (only,) = report(host(free, usable), name, policy=Policy(**policy)).assessments
    return only


@given(NAMES, SIZES, SIZES, st.integers(0, 1000 * GB))
def test_more_disk_never_worsens(name: str, free: int, usable: int, more: int) -> None:
    assert badness(one(name, free + more, usable)) <= badness(one(name, free, usable))


@given(NAMES, SIZES, SIZES, st.integers(0, 1000 * GB))
def test_more_memory_never_worsens(name: str, free: int, usable: int, more: int) -> None:
    assert badness(one(name, free, usable + more)) <= badness(one(name, free, usable))


@given(NAMES, SIZES, SIZES, st.integers(0, 500), st.integers(0, 500))
def test_more_headroom_never_improves(
    name: str, free: int, usable: int, headroom: int, more: int
) -> None:
    less = badness(one(name, free, usable, headroom_percent=headroom))
    assert badness(one(name, free, usable, headroom_percent=headroom + more)) >= less


@given(NAMES, SIZES, SIZES, st.integers(0, 1000 * GB))
def test_more_weights_never_improve(name: str, free: int, usable: int, more: int) -> None:
    ((scenario,),) = (choice.scenarios for choice in choices(name))
    checkpoint = scenario.profile.checkpoint
    heavier = checkpoint.model_copy(
        update={
            "size": checkpoint.size.model_copy(update={"bytes": checkpoint.size.bytes + more}),
            "other_bytes": checkpoint.other_bytes + more,
        }
    )
    rest = tuple(item for item in scenario.profile.artifacts if item is not checkpoint)
    profile = scenario.profile.model_copy(update={"artifacts": (heavier, *rest)})
    machine = host(free, usable)

    def judge(which: Scenario) -> Assessment:
        (only,) = assess([Choice(name, (which,))], machine, Policy()).assessments
        return only

    assert badness(judge(scenario._replace(profile=profile))) >= badness(judge(scenario))


@given(st.integers(0, 2**63 - 1), st.integers(0, 2**63 - 1))
def test_a_gap_is_what_is_missing(need: int, have: int) -> None:
    budget = Budget.of(need, have)
    assert budget.gap == max(0, need - have)
    assert budget.fits is (have >= need)
    assert budget.coverage_percent is not None
    assert (budget.coverage_percent == 100) is (have >= need)


def test_unknown_is_never_zero() -> None:
    budget = Budget.of(5, None)
    assert (budget.have, budget.gap, budget.coverage_percent, budget.fits) == (None,) * 4
    assert Budget.of(0, 0).coverage_percent == 100


@given(SIZES, SIZES)
def test_documents_survive_json(free: int, usable: int) -> None:
    found = report(host(free, usable))
    assert Report.model_validate_json(found.model_dump_json()) == found
    assert found.host
    assert Host.model_validate_json(found.host.model_dump_json()) == found.host
