"""The formulas: hits of caches, bytes a token, time."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factory import GB, choices
from k3preflight.assess import traffic
from k3preflight.assess.traffic import Drive, End, Rates, Reads, Setting

E = 25_829_572_608
DENSE = 108_811_877_376
ENDS: tuple[End, ...] = ("low", "mid", "high")


def setting(
    name: str, *, pinned: int = 0, cache: int = 0, slots: int | None = None, page: int | None = None
) -> Setting:
    profile = choices(name)[0].scenarios[0].profile
    assert profile.traffic is not None
    return Setting(profile.traffic, profile.model.experts_per_token, pinned, cache, slots, page)


@pytest.mark.parametrize(
    ("cache", "published", "law"),
    [
        (36.4, 0.360, 0.331),
        (49.2, 0.408, 0.395),
        (62.0, 0.453, 0.440),
        (77.0, 0.488, 0.479),
        (109.0, 0.549, 0.536),
    ],
)
def test_the_law_against_published_hit_rates(cache: float, published: float, law: float) -> None:
    hits = traffic.law(cache * 1e9 / E, 0.75)
    assert hits == pytest.approx(law, abs=0.0006)
    assert hits <= published


def test_presets_of_the_direct_reader() -> None:
    # facts: 134.64, 121.48, ~70.4, 26.45, ~12.6 GB a token
    for pinned, cache, likely in (
        (0, 1 * GB, 134.64),
        (13_160_000_000, 10 * GB, 121.48),
        (56_840_000_000, 30 * GB, 70.4),
        (108_190_000_000, 13 * GB, 26.45),
        (108_190_000_000, 109 * GB, 12.6),
    ):
        one = setting("kimi-k3-in-c", pinned=pinned, cache=cache)
        assert traffic.likely_reads(one, "mid").total / 1e9 == pytest.approx(likely, abs=0.06)


def test_under_one_token_a_global_lru_saves_nothing_exactly() -> None:
    one = setting("kimi-k3-in-c", cache=E - 1)
    assert traffic.fewest_reads(one) == Reads(DENSE, E)
    assert traffic.fewest_reads(setting("kimi-k3-in-c", cache=E)).experts == E * 3 // 10


@pytest.mark.parametrize(
    ("slots", "hits"), [(4, 0.25), (7, 0.4375), (15, 0.70), (16, 0.70), (64, 0.7619), (128, 1)]
)
def test_slots_a_layer_are_granted_what_they_could_hold(slots: int, hits: float) -> None:
    reads = traffic.fewest_reads(setting("rabbit", slots=slots))
    assert reads.experts / E == pytest.approx(1 - hits, abs=0.0001)


def test_few_slots_hit_seldom() -> None:
    assert traffic.likely_reads(setting("rabbit", slots=7), "mid").experts / E == pytest.approx(
        1 - 0.0149, abs=0.0001
    )


def test_a_mapped_file_reads_what_memory_cannot_hold() -> None:
    assert traffic.fewest_reads(setting("ud-iq1-s", page=16 * GB)).total == 54_453_926_298
    assert traffic.fewest_reads(setting("ud-iq1-s", page=80 * GB)).total == 0
    low, mid, high = (
        traffic.likely_reads(setting("ud-iq1-s", page=16 * GB), end).total for end in ENDS
    )
    assert (low, high) == (54_453_926_298, 70_453_926_298)
    assert mid == pytest.approx((low * high) ** 0.5, abs=2)


def test_a_page_cache_beside_slots_serves_nothing_to_all_it_can() -> None:
    low, mid, high = (
        traffic.likely_reads(setting("rabbit", slots=4, page=2 * E), end).total for end in ENDS
    )
    assert low < mid < high == pytest.approx(E, rel=0.01)
    small = setting("rabbit", slots=4, page=E // 10)
    assert traffic.likely_reads(small, "low").total == pytest.approx(E * 0.9, rel=0.001)


def test_what_the_page_cache_may_have() -> None:
    one = setting("rabbit", slots=16)
    assert traffic.left_for_pages(one, 123 * GB) == 123 * GB - 30 * 2**30 - E
    assert traffic.left_for_pages(one, 1 * GB) == 0


def drive(name: str, best: int, *holds: traffic.Kind) -> Drive:
    rates = Rates(best, best // 2, best // 4)
    return Drive(name, holds, best, rates, rates)


def test_roles_on_one_volume_add_up_and_volumes_race() -> None:
    reads = Reads(110 * GB, 22 * GB)
    one = (drive("a", GB, "sequential", "random"),)
    two = drive("a", GB, "sequential"), drive("b", GB, "random")
    assert traffic.io_ms(reads, one) == 120_000
    assert traffic.io_ms(reads, two) == 100_000
    assert traffic.io_ms(reads, (two[0]._replace(best=0), two[1])) == 20_000
    assert traffic.io_ms(reads, ()) == 0
    assert [traffic.likely_io_ms(reads, one, end) for end in ENDS] == [132_000, 264_000, 528_000]
    assert traffic.likely_io_ms(Reads(0, 0), one, "mid") == 0


def test_overlap_hides_the_shorter() -> None:
    assert traffic.token_ms(10_000, 4000, 0) == 14_000
    assert traffic.token_ms(10_000, 4000, 65) == 11_400
    assert traffic.token_ms(4000, 10_000, 100) == 10_000


@given(st.integers(0, 300 * GB), st.integers(0, 100 * GB), st.integers(0, 100 * GB))
def test_more_cache_never_reads_more(cache: int, more: int, pinned: int) -> None:
    less = traffic.fewest_reads(setting("kimi-k3-in-c", cache=cache, pinned=pinned))
    assert (
        traffic.fewest_reads(setting("kimi-k3-in-c", cache=cache + more, pinned=pinned)).total
        <= less.total
    )


@given(st.integers(0, 300 * GB), st.sampled_from(ENDS))
def test_the_bound_reads_no_more_than_any_estimate(cache: int, end: End) -> None:
    one = setting("kimi-k3-in-c", cache=cache)
    assert traffic.fewest_reads(one).total <= traffic.likely_reads(one, end).total
