"""Reports with little in them: what is missing is left out, never made up."""

import pytest

from factory import GB, host, report
from k3preflight.models.machine import Limit
from k3preflight.models.names import CheckId, Status
from k3preflight.models.report import Report, Verdict
from k3preflight.render import Format, Screen, render
from k3preflight.render.rows import row_of
from k3preflight.render.words import memory


@pytest.fixture(name="empty")
def _empty() -> Report:
    """No host, no scenario, nothing near."""
    judged = report(host(), "rabbit")
    verdict = Verdict(rule="all", status=Status.UNKNOWN, fits=())
    return judged.model_copy(update={"host": None, "assessments": (), "verdict": verdict})


@pytest.mark.parametrize("form", [form for form in Format if form is not Format.JSON])
def test_a_report_with_nothing_in_it_is_still_a_document(empty: Report, form: Format) -> None:
    text = render(empty, form, Screen())
    assert text.endswith("\n")
    assert "unknown" in text.lower()
    assert "Nearest miss" not in text


def test_a_capacity_without_figures_is_its_status_alone() -> None:
    item = report(host(), "rabbit").assessments[0]
    bare = tuple(
        found.model_copy(update={"budget": None}) for found in item.of(CheckId.DISK_CAPACITY)
    )
    row = row_of(item.model_copy(update={"findings": bare}))
    assert (row.disk, row.need, row.free) == (bare[0].status, "-", "-")


def test_memory_says_what_else_bears_on_it() -> None:
    machine = host()
    binding = Limit(name="memory.max of /a", counts="resident", bytes=64 * GB)
    other = Limit(name="memory.high of /b", counts="resident", bytes=96 * GB)
    locked = Limit(name="RLIMIT_MEMLOCK", counts="locked", bytes=GB)
    facts = machine.memory.model_copy(
        update={
            "usable": binding.bytes,
            "usable_from": binding.name,
            "limits": (other, binding, locked),
            "zfs_arc": 5 * GB,
            "wsl": True,
        }
    )
    assert facts.binding == binding
    first, *rest = memory(machine.model_copy(update={"memory": facts}))
    assert "64.00 GB (59.60 GiB) usable, from memory.max of /a, of 128.00 GB" in first
    assert rest == [
        "also limited: 96.00 GB (89.41 GiB) by memory.high of /b",
        "not counted: 5.00 GB of ZFS cache could be freed",
        "WSL: a share of the RAM, half unless .wslconfig says more",
    ]
