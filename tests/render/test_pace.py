"""Seconds per token on the page: a column where they are known, and the sentence."""

import pytest

import factory
from factory import report
from k3preflight.models.host import Host
from k3preflight.models.machine import Cpu
from k3preflight.models.report import Policy
from k3preflight.models.storage import Bandwidth
from k3preflight.render import Detail, Screen
from k3preflight.render.markdown import render as markdown
from k3preflight.render.table import render

FAST = Policy(bandwidth=(Bandwidth(bytes_per_second=6_760_000_000),))


def host(usable: int = 128 * 10**9) -> Host:
    """The factory's host with as many cores as the reference has."""
    return factory.host(usable=usable).model_copy(update={"cpu": Cpu(cores=124)})


def test_without_bandwidth_there_is_no_column() -> None:
    assert "s/token" not in render(report(host()), Screen(200))


def test_presets_side_by_side() -> None:
    page = render(report(host(), "kimi-k3-in-c:all", policy=FAST), Screen(200))
    rows = {
        line.split()[0].partition(":")[2]: line
        for line in page.splitlines()
        if line.startswith("kimi-k3-in-c:") and "offload/stream" in line
    }
    assert [rows[name].split()[-2:-1] for name in ("workstation", "max")] == [["~13.3"], ["~4.8"]]
    assert " >=18.1 ~22.8 " in rows["laptop"]
    assert " >=3.5 ~6.8 " in rows["server"]


@pytest.mark.parametrize("width", [20, 60, 80])
def test_narrow_pages_keep_the_figures(width: int) -> None:
    page = render(report(host(), "kimi-k3-in-c", policy=FAST), Screen(width))
    assert ">=18.1 ~22.8" in " ".join(page.split())


def test_a_quant_with_neither_shows_a_question_mark() -> None:
    page = render(report(host(), "ud-iq1-s", "ud-iq2-xxs", policy=FAST), Screen(200))
    rows = [line for line in page.splitlines() if line.startswith("ud-iq") and "offload" in line]
    assert [line.split()[-2] for line in rows] == ["?", "?"]


def test_under_a_second_three_places_are_shown() -> None:
    page = render(report(host(usable=60 * 10**9), "ud-iq1-s", policy=FAST), Screen(200))
    assert ">=1.4" in page.split()
    page = render(report(host(usable=68 * 10**9), "ud-iq1-s", policy=FAST), Screen(200))
    assert ">=0.330" in page


def test_markdown_lists_the_figures_below_the_table_apart_from_what_follows() -> None:
    lines = markdown(report(host(), "rabbit", policy=FAST), Detail.NORMAL).splitlines()
    (at,) = [index for index, line in enumerate(lines) if line.startswith("- rabbit, seconds per")]
    assert "about 3.9 (2.6 to 5.7)" in lines[at]
    assert (lines[at - 1], lines[at + 1]) == ("", "")
