"""The figures of a scenario's row, as every format that shows a table prints them."""

from typing import NamedTuple

from k3preflight.models.names import CheckId, Status
from k3preflight.models.report import Assessment, Finding
from k3preflight.units import gb, gb_digits, percent

COLUMNS = (
    "scenario",
    "disk",
    "need GB",
    "free GB",
    "memory mode",
    "resident",
    "gap GB",
    "verdict",
)
NUMBERS = frozenset({"need GB", "free GB", "resident", "gap GB"})


class Row(NamedTuple):
    """One scenario: a cell for each of COLUMNS. `?` is unknown, `-` not looked at."""

    scenario: str
    disk: str | Status
    need: str
    free: str
    mode: str
    resident: str
    gap: str
    verdict: Status

    @property
    def words(self) -> tuple[str, ...]:
        """The cells as plain text, a status as its word."""
        return tuple(cell.upper() if isinstance(cell, Status) else cell for cell in self)


def row_of(item: Assessment) -> Row:
    """The row of one assessment; of several volumes the one that leaves least room."""
    capacity = _tightest(item.of(CheckId.DISK_CAPACITY))
    disk: str | Status = "-"
    need = free = resident = gap = "-"
    if capacity:
        disk = capacity.status
        if capacity.budget:
            need = _digits(capacity.budget.need)
            free = "?" if capacity.budget.have is None else _digits(capacity.budget.have)
    residency = next(
        (found.budget for found in item.of(CheckId.MEMORY_RESIDENCY) if found.budget), None
    )
    if residency:
        known = residency.coverage_percent is not None
        resident = percent(residency.coverage_percent or 0) if known else "?"
        gap = "?" if residency.gap is None else _digits(residency.gap)
    return Row(item.scenario, disk, need, free, item.mode or "?", resident, gap, item.status)


def _digits(size: int) -> str:
    """GB without separators, so that 80 columns hold a row; never a small size as none."""
    return gb_digits(size).replace(",", "") if size == 0 or size >= 10**8 else gb(size)


def _tightest(findings: tuple[Finding, ...]) -> Finding | None:
    """Of several volumes, the one that leaves least room."""

    def room(finding: Finding) -> tuple[bool, int]:
        budget = finding.budget
        if budget is None or budget.have is None:
            return finding.status is not Status.UNKNOWN, 0
        return True, budget.have - budget.need

    return min(findings, key=room, default=None)
