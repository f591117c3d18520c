"""The curve of seconds a token over memory: drawn where several presets have a pace."""

from factory import GB, host, report
from k3preflight.models.names import CheckId
from k3preflight.models.report import Policy, Report
from k3preflight.models.storage import Bandwidth
from k3preflight.render import Format, Screen, render
from k3preflight.render.curve import HEIGHT, WIDTH, curves
from reading import Page

FAST = Policy(bandwidth=(Bandwidth(bytes_per_second=6_800_000_000),))


def presets(policy: Policy = FAST) -> Report:
    return report(host(usable=640 * GB), "kimi-k3-in-c:all", policy=policy)


def test_more_memory_is_to_the_right_and_slower_is_higher() -> None:
    (curve,) = curves(presets())
    assert curve.profile == "kimi-k3-in-c"
    assert [point.words.partition(": ")[0].partition(":")[2] for point in curve.points] == [
        "laptop",
        "desktop",
        "workstation",
        "server",
        "max",
    ]
    across = [point.x for point in curve.points]
    assert across == sorted(across)
    assert across[-1] == WIDTH
    assert min(point.y for point in curve.points) == 0  # the slowest is at the top
    assert all(0 <= point.y <= HEIGHT for point in curve.points)
    assert curve.points[0].words.startswith("kimi-k3-in-c:laptop: 9.85 GB of memory, >=18.0 ")


def test_the_page_draws_it_and_says_it() -> None:
    page = Page(render(presets(), Format.HTML, Screen()))
    assert page.open == []
    assert page.tags.count("polyline") == 1
    (curve,) = curves(presets())
    for point in curve.points:
        assert point.words in page.text


def test_there_is_none_without_several_known_paces() -> None:
    assert list(curves(presets(Policy()))) == []
    assert list(curves(report(host(), "kimi-k3-in-c", policy=FAST))) == []


def test_a_scenario_whose_minimum_was_left_out_has_no_point() -> None:
    policy = FAST.model_copy(update={"skip": (CheckId.MEMORY_MINIMUM,)})
    assert list(curves(presets(policy))) == []
