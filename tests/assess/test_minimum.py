"""The minimum where figures are special: a peak above the plan, a KV size nobody published."""

from factory import GB, choices, host, report
from k3preflight.assess import assess
from k3preflight.models.names import CheckId, Status
from k3preflight.models.report import Assessment, Policy
from k3preflight.models.scenario import Choice, Scenario


def with_peak(size: int, usable: int) -> Assessment:
    """The laptop preset, measured to take `size` bytes."""
    (choice,) = choices("kimi-k3-in-c:laptop")
    profile, preset = choice.scenarios[0]
    assert preset
    assert preset.peak
    peak = preset.peak.model_copy(update={"bytes": size})
    higher = preset.model_copy(update={"peak": peak})
    scenario = Scenario(profile.model_copy(update={"presets": (higher,)}), higher)
    machine = host(usable=usable)
    (only,) = assess([Choice("kimi-k3-in-c:laptop", (scenario,))], machine, Policy()).assessments
    return only


def test_the_minimum_is_never_under_the_measured_peak() -> None:
    for usable, status in ((12 * GB, Status.PASS), (12 * GB - 1, Status.FAIL)):
        (finding,) = with_peak(12 * GB, usable).of(CheckId.MEMORY_MINIMUM)
        assert finding.status is status
        assert finding.budget
        assert finding.budget.need == 12 * GB
        needs = [item.bytes for item in finding.budget.items if item.side == "need"]
        assert sum(needs) == 12 * GB


def test_a_context_whose_kv_nobody_published_is_at_best_a_warning() -> None:
    (asked,) = report(host(), "rabbit", policy=Policy(context=4096)).assessments
    (finding,) = asked.of(CheckId.MEMORY_MINIMUM)
    assert finding.status is Status.WARN
    assert "KV not included" in finding.message
    (default,) = report(host(), "rabbit").assessments
    assert default.of(CheckId.MEMORY_MINIMUM)[0].status is Status.PASS
    (small,) = report(host(usable=GB), "rabbit", policy=Policy(context=4096)).assessments
    assert small.of(CheckId.MEMORY_MINIMUM)[0].status is Status.FAIL
