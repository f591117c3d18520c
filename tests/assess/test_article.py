"""The guide's own figures, to the digit, and what exact sizes make of them."""

import pytest

from factory import GB, choices, host
from k3preflight.assess import assess
from k3preflight.models.names import CheckId, Sizes, Status
from k3preflight.models.report import Assessment, Policy
from k3preflight.units import percent


def judged(name: str, disk: int, memory: int, sizes: Sizes) -> Assessment:
    policy = Policy(sizes=sizes, memory=memory, free_disk=disk)
    (only,) = assess(choices(name), host(), policy).assessments
    return only


@pytest.mark.parametrize(
    ("name", "disk", "memory", "need", "mode", "resident", "gap"),
    [
        ("kimi-k3-in-c:laptop", 2000, 16, 1_919_131_500_000, "offload/stream", "0.53%", 1551.76),
        ("rabbit", 2000, 128, 1_794_000_000_000, "offload/stream", "8.21%", 1432),
        ("ud-iq1-s", 800, 128, 683_100_000_000, "offload/stream", "21.55%", 466),
        ("ud-iq1-s", 800, 640, 683_100_000_000, "resident", "100%", 0),
    ],
)
def test_published_sizes_give_the_printed_table(
    name: str, disk: int, memory: int, need: int, mode: str, resident: str, gap: float
) -> None:
    found = judged(name, disk * GB, memory * GB, Sizes.PUBLISHED)
    (capacity,) = found.of(CheckId.DISK_CAPACITY)
    (residency,) = found.of(CheckId.MEMORY_RESIDENCY)
    assert capacity.status is Status.PASS
    assert capacity.budget
    assert capacity.budget.need == need
    assert residency.budget
    assert residency.budget.gap == int(gap * GB)
    assert residency.budget.coverage_percent is not None
    assert percent(residency.budget.coverage_percent) == resident
    assert found.mode == mode
    assert found.fits


@pytest.mark.parametrize(
    ("name", "need"),
    [
        ("kimi-k3-in-c:laptop", 1_920_282_576_996),
        ("rabbit", 1_795_148_832_049),
        ("ud-iq1-s", 683_147_062_159),
    ],
)
def test_exact_sizes_decide_to_the_byte(name: str, need: int) -> None:
    (fits,) = judged(name, need, 640 * GB, Sizes.EXACT).of(CheckId.DISK_CAPACITY)
    (misses,) = judged(name, need - 1, 640 * GB, Sizes.EXACT).of(CheckId.DISK_CAPACITY)
    assert fits.status is Status.PASS
    assert misses.status is Status.FAIL
    assert "short by 1 B" in misses.message
    for finding in (fits, misses):
        assert finding.budget
        assert finding.budget.need == need
        assert sum(item.bytes for item in finding.budget.items if item.side == "need") == need


@pytest.mark.parametrize(
    ("name", "minimum"),
    [
        ("kimi-k3-in-c:laptop", 9_854_434_897),
        ("rabbit", 36_212_254_720),
        ("ud-iq1-s", 63_173_223_904),
    ],
)
def test_the_minimum_decides_to_the_byte(name: str, minimum: int) -> None:
    for usable, status in ((minimum, Status.PASS), (minimum - 1, Status.FAIL)):
        (finding,) = judged(name, 2000 * GB, usable, Sizes.EXACT).of(CheckId.MEMORY_MINIMUM)
        assert finding.status is status
        assert finding.budget
        assert finding.budget.need == minimum
        needs = [item.bytes for item in finding.budget.items if item.side == "need"]
        assert sum(needs) == minimum


@pytest.mark.parametrize(
    ("preset", "minimum_without_kv"),
    [
        ("laptop", 9_814_595_908),
        ("desktop", 32_972_490_645),
        ("workstation", 100_340_911_697),
        ("server", 135_077_753_803),
        ("max", 236_130_385_382),
    ],
)
def test_each_preset_needs_its_plan_and_the_kv_cache(preset: str, minimum_without_kv: int) -> None:
    (finding,) = judged(f"kimi-k3-in-c:{preset}", 2000 * GB, 640 * GB, Sizes.EXACT).of(
        CheckId.MEMORY_MINIMUM
    )
    assert finding.budget
    kv = -(-2_365_440 * 16 * 100 // 95)
    assert 0 <= minimum_without_kv + kv - finding.budget.need <= 1  # one rounding instead of two


def test_quants_that_page_warn_and_still_fit() -> None:
    found = judged("ud-iq1-s", 800 * GB, 128 * GB, Sizes.PUBLISHED)
    assert found.status is Status.WARN
    assert found.fits
    (recommended,) = found.of(CheckId.MEMORY_RECOMMENDED)
    assert recommended.status is Status.WARN
    assert recommended.budget
    assert recommended.budget.need == 610 * GB
