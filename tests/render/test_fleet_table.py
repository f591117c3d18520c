"""The table of many hosts: rows that wait for nothing, nothing cut, the summary at the end."""

import re

import pytest

from factory import GB, broken, host, report
from k3preflight.models.fleet import Miss, ScenarioSummary, Stop, Summary
from k3preflight.models.names import CheckId, Status
from k3preflight.models.report import Policy, Report
from k3preflight.render import Detail, Screen
from k3preflight.render.fleet import FleetTable

OTHERS = tuple(check for check in CheckId if not check.startswith(("disk.cap", "memory.")))


def judged(
    free: int | None, usable: int | None, name: str = "box", memory: int | None = None
) -> Report:
    machine = host(free, usable).model_copy(update={"name": name})
    return report(machine, "rabbit", policy=Policy(skip=OTHERS, memory=memory))


def test_a_row_is_a_host_and_scenario() -> None:
    table = FleetTable(["rabbit"], Screen(width=80))
    assert table.header() + table.rows(judged(2000 * GB, 128 * GB)) + table.rows(
        judged(1 * GB, 128 * GB, "node-2")
    ) + table.rows(judged(None, None, "節点")) == (
        "verdict scenario  need GB  free GB resident   gap GB  host\n"
        "PASS    rabbit    1795.15  2000.00    8.20%  1433.00  box\n"
        "FAIL    rabbit    1795.15     1.00    8.20%  1433.00  node-2 (disk.capacity)\n"
        "UNKNOWN rabbit    1795.15        ?        ?        ?  節点\n"
        "        disk.capacity, memory.minimum\n"
    )


def test_a_broken_document_has_a_row_that_says_so() -> None:
    assert FleetTable(["rabbit"], Screen(width=80)).rows(broken()) == (
        "UNKNOWN hosts.ndjson, line 3: not a host document\n"
    )


def test_figures_go_under_the_row_of_a_narrow_screen() -> None:
    table = FleetTable(["kimi-k3-in-c:workstation", "rabbit"], Screen(width=60))
    assert table.header() == ""
    assert table.rows(judged(1 * GB, None, "node-2")) == (
        "FAIL    rabbit  node-2\n"
        "        need 1795.15 GB, free 1.00 GB, resident ?, gap ?;\n"
        "        disk.capacity, memory.minimum\n"
    )


def test_a_promise_that_is_none_is_noted_under_the_row() -> None:
    table = FleetTable(["rabbit"], Screen(width=200))
    rows = table.rows(judged(2000 * GB, 128 * GB, memory=640 * GB)).splitlines()
    assert rows[0].startswith("PASS    rabbit")
    assert rows[1].startswith("        Note: --memory 640.00 GB")
    assert rows[1].endswith("not a promise that devices can be combined")


@pytest.mark.parametrize("width", [20, 40, 60, 80, 200])
def test_numbers_and_names_are_never_cut(width: int) -> None:
    name = "a-host-with-a-name-longer-than-most-screens-are-wide.example.org"
    rows = FleetTable(["rabbit"], Screen(width=width)).rows(judged(1 * GB, 1 * GB, name))
    for text in ("FAIL", "rabbit", name, "1795.15", "1.00", "0.06%", "1560.00"):
        assert text in rows
    assert "memory.minimum" in rows


def test_colour_is_of_the_word_alone_and_only_where_the_screen_has_it() -> None:
    plain = FleetTable(["rabbit"], Screen(width=80)).rows(judged(1 * GB, 1 * GB))
    coloured = FleetTable(["rabbit"], Screen(width=80, color=True)).rows(judged(1 * GB, 1 * GB))
    assert "\x1b" not in plain
    assert coloured.startswith("\x1b[1;31mFAIL\x1b[0m    rabbit")
    assert re.sub("\x1b\\[[0-9;]*m", "", coloured) == plain


def test_the_summary_says_who_fits_what_stops_the_rest_and_who_came_nearest() -> None:
    counted = Summary(
        hosts=12_000,
        broken=1,
        passes=2,
        fails=11_997,
        unknown=1,
        status=Status.FAIL,
        scenarios=(
            ScenarioSummary(
                scenario="rabbit",
                hosts=11_999,
                fits=2,
                warns=1,
                fails=11_996,
                unknown=1,
                stops=(
                    Stop(check=CheckId.DISK_CAPACITY, status=Status.FAIL, hosts=11_996),
                    Stop(check=CheckId.MEMORY_MINIMUM, status=Status.FAIL, hosts=7),
                    Stop(check=CheckId.DISK_CAPACITY, status=Status.UNKNOWN, hosts=1),
                ),
                nearest=(
                    Miss(host="c", failures=1, gap=5, message="disk.capacity: short by 5 B"),
                    Miss(host="d", failures=2, gap=1, message="disk.capacity: " + "x " * 40),
                ),
            ),
            ScenarioSummary(scenario="other", hosts=1, fits=1, warns=0, fails=0, unknown=0),
        ),
    )
    table = FleetTable(["rabbit"], Screen(width=90))
    assert table.summary(counted) == SUMMARY
    quiet = FleetTable(["rabbit"], Screen(width=200, detail=Detail.QUIET))
    assert quiet.summary(counted) == (
        "\nVerdict: FAIL (every host must pass). 12,000 hosts: 2 pass, 11,997 fail, 1 unknown (1 "
        "broken document).\n"
    )


def test_quiet_is_what_does_not_pass_and_verbose_is_every_finding() -> None:
    fits, fails = judged(2000 * GB, 128 * GB), judged(1 * GB, 128 * GB)
    quiet = FleetTable(["rabbit"], Screen(width=80, detail=Detail.QUIET))
    assert quiet.rows(fits) == ""
    assert quiet.rows(fails).startswith("FAIL    rabbit")
    verbose = FleetTable(["rabbit"], Screen(width=200, detail=Detail.VERBOSE)).rows(fails)
    assert "        FAIL disk.capacity: short by 1,794.15 GB" in verbose
    assert "        PASS memory.minimum: needs " in verbose


def test_a_long_name_that_passes_has_no_line_under_it() -> None:
    assert FleetTable(["rabbit"], Screen(width=80)).rows(
        judged(2000 * GB, 128 * GB, "n" * 100)
    ).splitlines() == ["PASS    rabbit    1795.15  2000.00    8.20%  1433.00  " + "n" * 100]


SUMMARY = """
rabbit: fits 2 of 11,999 hosts (1 with a warning); fails on 11,996, unknown on 1
  fails: disk.capacity on 11,996, memory.minimum on 7
  unknown: disk.capacity on 1
  nearest miss c: disk.capacity: short by 5 B
  nearest miss d: disk.capacity: x x x x x x x x x x x x x x x x x x x x x x x x x x x x x
  x x x x x x x x x x x

other: fits 1 of 1 host; fails on 0, unknown on 0

Verdict: FAIL (every host must pass). 12,000 hosts: 2 pass, 11,997 fail, 1 unknown (1
broken document).
"""
