"""speed.storage: where bandwidth comes from, what it says, and the gate."""

import pytest

import factory
from factory import GB, report
from k3preflight.models.disk import Place
from k3preflight.models.host import Host
from k3preflight.models.machine import Cpu, System
from k3preflight.models.names import CheckId, Role, Status
from k3preflight.models.report import Finding, Policy
from k3preflight.models.storage import Bandwidth, DirectoryRates, Rate, Storage


def host(
    usable: int | None = 128 * GB,
    *,
    trunk_free: int | None = None,
    profiles: tuple[str, ...] = factory.WAYS,
) -> Host:
    """The factory's host with as many cores as the reference has."""
    made = factory.host(usable=usable, trunk_free=trunk_free, profiles=profiles)
    return made.model_copy(update={"cpu": Cpu(cores=124)})


def judged(name: str, machine: Host, **policy: object) -> Finding:
    asked = Policy.model_validate(policy)
    (found,) = report(machine, name, policy=asked).assessments[0].of(CheckId.SPEED_STORAGE)
    return found


def said(rate: int, role: Role | None = None) -> Bandwidth:
    return Bandwidth(role=role, bytes_per_second=rate)


def bench(
    volume: str, median: int, *, mode: str = "direct", caveats: tuple[str, ...] = ()
) -> DirectoryRates:
    rates = tuple(
        Rate.model_validate(
            {
                "pattern": pattern,
                "median_bytes_per_second": median,
                "min_bytes_per_second": median // 2,
                "best_bytes_per_second": median * 11 // 10,
            }
        )
        for pattern in ("random-1", "random-8", "sequential-1", "sequential-8")
    )
    return DirectoryRates.model_validate(
        {
            "directory": volume,
            "volume": volume,
            "mode": mode,
            "rates": rates,
            "best_bytes_per_second": median * 11 // 10,
            "caveats": caveats,
        }
    )


def measured(machine: Host, *directories: DirectoryRates) -> Host:
    return machine.model_copy(update={"storage": Storage(directories=directories)})


def test_without_bandwidth_it_is_skipped_and_says_how_to_measure() -> None:
    found = judged("rabbit", host())
    assert (found.status, found.pace) == (Status.SKIP, None)
    assert found.message == "bandwidth not measured"
    assert found.remedy == (
        "Measure it with k3preflight bench DIR, or say it, such as --bandwidth '3.2 GB/s'."
    )


def test_the_bound_and_the_estimate_with_inputs_and_arithmetic() -> None:
    found = judged("kimi-k3-in-c:laptop", host(), bandwidth=(said(3_200_000_000),))
    assert found.status is Status.PASS
    assert found.message.startswith(
        "at least 38.2 s per token, about 45.0 (43.3 to 45.7) on EPYC 7763 with 124 cores; "
        "/data delivers 3.20 GB/s (--bandwidth)"
    )
    pace = found.pace
    assert pace is not None
    assert pace.at_least_seconds == 38.25  # 134,641,449,984 B / (1.1 x 3.2 GB/s)
    assert pace.useful_bound
    assert pace.about_seconds == pytest.approx(42.075 + 2.9, abs=0.002)
    assert {entry.name: entry.value for entry in pace.inputs} == {
        "dense weights read a token": 108_811_877_376,
        "of them pinned in memory": 0,
        "experts a token": 25_829_572_608,
        "expert cache": GB,
        "best of /data": 3_200_000_000,
        "computing a token, low": 2480,
        "computing a token, mid": 2900,
        "computing a token, high": 3600,
    }
    assert all(entry.source for entry in pace.inputs)
    assert pace.arithmetic[2] == "bound: the slowest volume, no computing: 38250 ms"
    assert pace.arithmetic[-1].startswith("high: 134,641,449,984 B read in 42074 ms; max(42074, 36")


def test_a_trunk_on_a_faster_volume_is_read_meanwhile() -> None:
    apart = host(trunk_free=200 * GB)
    speeds = (said(GB), said(5 * GB, Role.TRUNK))
    found = judged("kimi-k3-in-c:laptop", apart, bandwidth=speeds)
    assert found.pace is not None
    assert found.pace.at_least_seconds == 23.481  # 25.83 GB of experts at 1.1 GB/s
    together = judged("kimi-k3-in-c:laptop", host(), bandwidth=speeds)
    assert together.pace is not None
    assert together.pace.at_least_seconds == 24.48  # one volume, at the most either gets
    assert together.pace.about_seconds == pytest.approx(21.762 + 25.829 + 2.9, abs=0.002)


def test_a_bench_in_the_host_is_used_and_a_flag_wins_over_it() -> None:
    machine = measured(host(), bench("/data", 4 * GB, caveats=("virtual disk",)))
    found = judged("kimi-k3-in-c:laptop", machine)
    assert found.pace is not None
    assert found.pace.at_least_seconds == 27.818  # best 4.4 GB/s x 1.1
    assert found.pace.high_seconds == pytest.approx(67.32 + 3.6, abs=0.002)
    assert "(measured); virtual disk" in found.message
    flagged = judged("kimi-k3-in-c:laptop", machine, bandwidth=(said(GB),))
    assert flagged.pace is not None
    assert flagged.pace.at_least_seconds == 122.401


def test_a_volume_nobody_measured_takes_no_time_and_leaves_no_estimate() -> None:
    machine = measured(host(trunk_free=200 * GB), bench("/fast", 4 * GB))
    found = judged("kimi-k3-in-c:laptop", machine)
    assert found.pace is not None
    assert (found.pace.at_least_seconds, found.pace.about_seconds) == (22.481, None)
    assert "/fast delivers 4.40 GB/s" in found.message
    assert "/data unknown" in found.message
    assert any("not measured, counted as no time" in line for line in found.pace.arithmetic)


def test_a_bench_that_measured_nothing_gives_its_reason() -> None:
    failed = DirectoryRates(directory="/data/k3", volume="/data", reason="this is RAM")
    found = judged("rabbit", measured(host(), failed))
    assert found.status is Status.SKIP
    assert found.message == "bandwidth not measured: /data/k3: this is RAM"


def test_a_pattern_that_gave_no_figure_is_read_at_the_best() -> None:
    only = bench("/data", 2 * GB)
    found = judged("rabbit", measured(host(), only.model_copy(update={"rates": ()})))
    assert found.pace is not None
    assert found.pace.about_seconds is not None


def spread(*volumes: str) -> Host:
    machine = host(profiles=("rabbit",))
    place = machine.places[0]
    places = tuple(place.model_copy(update={"volume": name, "path": name}) for name in volumes)
    return machine.model_copy(update={"places": places})


def test_a_spread_role_reads_all_its_volumes_at_once() -> None:
    two = spread("/a", "/b")
    one_rate = judged("rabbit", spread("/a"), bandwidth=(said(8 * GB),))
    assert one_rate.pace is not None
    for finding in (
        judged("rabbit", two, bandwidth=(said(4 * GB),)),
        judged("rabbit", two, bandwidth=(said(8 * GB, Role.CHECKPOINT),)),
    ):
        assert finding.pace is not None
        assert finding.pace.at_least_seconds == one_rate.pace.at_least_seconds
        assert "/a and /b delivers 8.00 GB/s" in finding.message
    half = judged("rabbit", measured(two, bench("/a", GB)))
    assert half.status is Status.SKIP


def test_no_useful_bound_where_caches_may_hold_more_than_a_token() -> None:
    found = judged("kimi-k3-in-c:workstation", host(), bandwidth=(said(5 * GB),))
    assert found.pace is not None
    assert not found.pace.useful_bound
    assert found.message.startswith(
        "no useful bound (caches may hold 1.2 tokens' worth of experts; at least 10.8 s per token)"
    )


@pytest.mark.parametrize(("usable", "useful"), [(16, True), (69, True), (71, False), (512, False)])
def test_a_mapped_quant_is_bound_only_where_memory_is_short(usable: int, useful: bool) -> None:
    found = judged("ud-iq1-s", host(usable=usable * GB), bandwidth=(said(GB),))
    assert found.pace is not None
    assert found.pace.useful_bound is useful
    assert found.pace.about_seconds is None
    assert ("no useful bound" in found.message) is not useful


@pytest.mark.parametrize(
    "machine",
    [
        host().model_copy(update={"system": System(system="macos")}),
        measured(host(), bench("/data", GB, mode="uncached")),
    ],
)
def test_where_direct_reads_are_not_to_be_had_the_page_cache_is_granted(machine: Host) -> None:
    found = judged("kimi-k3-in-c:laptop", machine, bandwidth=(said(GB),))
    assert found.pace is not None
    assert found.pace.at_least_seconds == 6.037  # 134.64 GB less all of 128
    assert "memory granted to the page cache" in {entry.name for entry in found.pace.inputs}


def test_unknown_memory_is_granted_everything() -> None:
    found = judged("rabbit", host(usable=None), bandwidth=(said(GB),))
    assert found.pace is not None
    assert (found.pace.at_least_seconds, found.pace.useful_bound) == (0, False)


@pytest.mark.parametrize(
    ("limit", "status", "begins"),
    [
        (38_249, Status.FAIL, "even the bound is above the limit of 38.2 s: at least 38.2 s"),
        (38_250, Status.WARN, "the estimate is above the limit of 38.2 s, the bound is not: "),
        (44_973, Status.WARN, "the estimate is above"),
        (44_974, Status.PASS, "at least 38.2 s"),
    ],
)
def test_the_gate_at_its_edges(limit: int, status: Status, begins: str) -> None:
    found = judged(
        "kimi-k3-in-c:laptop",
        host(),
        bandwidth=(said(3_200_000_000),),
        max_milliseconds_per_token=limit,
    )
    assert found.status is status
    assert found.message.startswith(begins)


def test_the_gate_says_how_much_faster() -> None:
    found = judged(
        "kimi-k3-in-c:laptop",
        host(),
        bandwidth=(said(3_200_000_000),),
        max_milliseconds_per_token=10_000,
    )
    assert found.remedy == "Use storage 3.83 times as fast, or more memory."


def test_the_gate_without_a_measurement_is_undetermined() -> None:
    assert judged("rabbit", host(), max_milliseconds_per_token=1000).status is Status.UNKNOWN
    assert judged("ud-iq2-xxs", host(), max_milliseconds_per_token=1000).status is Status.UNKNOWN


def test_the_gate_where_nothing_can_be_said_warns() -> None:
    found = judged("ud-iq1-s", host(), bandwidth=(said(GB),), max_milliseconds_per_token=1000)
    assert found.status is Status.WARN
    assert found.message.startswith("neither a useful bound nor an estimate for the limit of 1.0 s")


def test_a_profile_without_traffic_is_skipped() -> None:
    found = judged("ud-iq2-xxs", host(), bandwidth=(said(GB),))
    assert (found.status, found.message) == (
        Status.SKIP,
        "what one token reads is not in the profile",
    )


def test_places_without_a_volume_are_told_apart_by_their_paths() -> None:
    machine = host()
    lost = tuple(
        Place.model_validate(place.model_dump() | {"volume": None, "measured": None})
        for place in machine.places
    )
    found = judged(
        "kimi-k3-in-c:laptop",
        machine.model_copy(update={"places": lost}),
        bandwidth=(said(GB),),
    )
    assert "; /data/k3 delivers 1.00 GB/s" in found.message


def test_a_host_probed_for_something_else_is_judged_on_one_volume() -> None:
    found = judged("rabbit", host(profiles=("ud-iq1-s",)), bandwidth=(said(GB),))
    assert found.status is Status.PASS
    assert "the volume delivers 1.00 GB/s" in found.message


@pytest.mark.parametrize(
    ("cores", "estimate", "named"),
    [
        (31, (43.314, 42.074 + 5.8, 42.074 + 14.4), "124 cores, scaled to the 31 here"),
        (124, (43.314, 44.974, 45.674), "124 cores; "),
        (256, (43.314, 44.974, 45.674), "124 cores; "),
    ],
)
def test_fewer_cores_than_the_reference_widen_the_estimate(
    cores: int, estimate: tuple[float, ...], named: str
) -> None:
    machine = host().model_copy(update={"cpu": Cpu(cores=cores)})
    found = judged("kimi-k3-in-c:laptop", machine, bandwidth=(said(3_200_000_000),))
    assert found.pace is not None
    shown = (found.pace.low_seconds, found.pace.about_seconds, found.pace.high_seconds)
    assert shown == pytest.approx(estimate)
    assert named in found.message


def test_a_weak_bound_above_the_limit_fails_all_the_same() -> None:
    found = judged(
        "kimi-k3-in-c:workstation",
        host(),
        bandwidth=(said(GB),),
        max_milliseconds_per_token=10_000,
    )
    assert found.status is Status.FAIL
    assert found.message.startswith("even the bound is above the limit of 10.0 s: at least 54.2 s")
