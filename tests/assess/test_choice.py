"""The choice: best first with why and what it costs, and the least that would change the rest."""

from factory import GB, host, report
from k3preflight.assess import assess
from k3preflight.assess.choice import NOTHING_FITS
from k3preflight.models.names import CheckId, Sizes, Status
from k3preflight.models.report import Policy, Verdict
from k3preflight.profiles import catalog, choose, unchosen


def verdict(free: int, usable: int, *names: str) -> Verdict:
    return report(host(free * GB, usable * GB), *names).verdict


def test_full_weights_come_before_quants_and_a_pass_before_a_warning() -> None:
    found = verdict(2000, 128)
    assert [option.scenario for option in found.options] == list(found.fits)
    assert found.fits == ("kimi-k3-in-c:laptop", "rabbit", "ud-iq1-s")
    best, _, quant = found.options
    assert best.why.startswith("the full weights, nothing lost to quantisation")
    assert "memory holds 0.53% and streams the rest" in best.why
    assert (best.disk, best.memory) == (1_920_282_576_996, 9_854_434_897)
    assert quant.why.startswith("a quant of 594.04 GB: its quality is yours to evaluate")
    assert "pages the rest, slowly" in quant.why
    assert found.obstacles == ()
    assert found.advice == ()


def test_weights_that_fit_in_memory_say_so() -> None:
    (option,) = verdict(800, 640, "ud-iq1-s").options
    assert option.why.endswith("memory holds all of them")


def test_published_sizes_are_said_where_they_are_judged() -> None:
    published = Policy(sizes=Sizes.PUBLISHED)
    (option,) = report(host(800 * GB, 640 * GB), "ud-iq1-s", policy=published).verdict.options
    assert option.why.startswith("a quant of 594.00 GB: ")


def test_a_warning_comes_after_a_pass_between_equals() -> None:
    found = verdict(2000, 40)
    assert found.fits == ("kimi-k3-in-c:laptop", "rabbit")
    rabbit = report(host(2000 * GB, 40 * GB), "rabbit").assessments[0]
    assert rabbit.status is Status.WARN


def test_larger_presets_come_first() -> None:
    assert verdict(2000, 640, "kimi-k3-in-c:all").fits[0] == "kimi-k3-in-c:max"


def test_each_obstacle_names_one_thing_and_the_least_change() -> None:
    found = verdict(900, 40)
    assert found.fits == ()
    assert [item.scenario for item in found.obstacles] == [
        "ud-iq1-s",  # one thing stops it, and by 23 GB
        "rabbit",
        "kimi-k3-in-c:laptop",
    ]
    nearest = found.obstacles[0]
    assert nearest.check is CheckId.MEMORY_MINIMUM
    assert nearest.message.startswith("short by 23.17 GB")
    assert nearest.change
    assert nearest.others == 0
    both = verdict(100, 8, "ud-iq1-s").obstacles[0]
    assert both.check is CheckId.MEMORY_MINIMUM
    assert both.others == 1


def test_where_nothing_fits_the_smallest_quant_and_the_way_out_are_named() -> None:
    smallest, last = verdict(100, 8).advice
    assert smallest.startswith("The smallest quant is ud-iq1-s: short by")
    assert "hosted API" in last


def test_of_ways_that_were_not_judged_nothing_is_said() -> None:
    (only,) = verdict(2000, 25, "rabbit").advice  # kimi-k3-in-c:laptop would fit here
    assert "No way" not in only
    assert "k3preflight check without a name" in only
    assert verdict(100, 8, "ud-iq1-s").advice == (only,)  # which is not the smallest quant


def test_where_something_may_yet_fit_no_advice_is_given() -> None:
    found = report(host(usable=None)).verdict
    assert found.status is Status.UNKNOWN
    assert found.advice == ()
    assert {item.status for item in found.obstacles} == {Status.UNKNOWN}


def test_nothing_but_skips_is_an_obstacle_too() -> None:
    skipped = report(host(), "rabbit", policy=Policy(skip=tuple(CheckId))).verdict
    assert skipped.status is Status.UNKNOWN
    assert skipped.obstacles[0].message == "nothing was judged: every check was left out"


def test_residency_left_out_is_said() -> None:
    policy = Policy(skip=(CheckId.MEMORY_RESIDENCY, CheckId.DISK_CAPACITY))
    (option,) = report(host(), "rabbit", policy=policy).verdict.options
    assert option.why.endswith("how much memory holds was not judged")
    assert option.disk is None


def suggested(free: int, usable: int) -> tuple[str, ...]:
    every = catalog()
    chosen = choose((), every)
    machine = host(free * GB, usable * GB)
    others = unchosen(chosen, every)
    return assess(chosen, machine, Policy(), named=False, others=others).verdict.advice


def test_a_smaller_quant_that_fits_is_suggested_and_not_substituted() -> None:
    (advice,) = suggested(650, 900)
    assert advice == "A smaller quant fits: k3preflight check ud-tq2-0"


def test_a_smaller_quant_whose_minimum_is_not_published_may_fit() -> None:
    may, last = suggested(600, 128)
    assert may.startswith("A smaller quant may fit, but it cannot be told: ud-tq1-0: needs ")
    assert "hosted API" in last


def test_the_smallest_quant_there_is_is_named_where_none_fits() -> None:
    smallest, _ = suggested(100, 900)
    assert smallest.startswith("The smallest quant is ud-q1-0: short by")


def test_without_a_quant_to_look_at_only_the_way_out_is_named() -> None:
    full = tuple(choose(["rabbit"], catalog()))
    found = assess(full, host(100 * GB, 8 * GB), Policy(), named=False).verdict
    assert found.advice == (NOTHING_FITS,)


def test_a_scenario_asked_for_twice_is_one_option() -> None:
    found = verdict(2000, 16, "kimi-k3-in-c:all", "kimi-k3-in-c:laptop")
    assert found.fits == ("kimi-k3-in-c:laptop",)
    assert len({item.scenario for item in found.obstacles}) == len(found.obstacles) == 4
