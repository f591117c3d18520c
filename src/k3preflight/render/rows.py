"""The figures of a scenario's row, as every format that shows a table prints them."""

import math
from collections.abc import Iterable
from typing import NamedTuple

from k3preflight.models.names import CheckId, Status
from k3preflight.models.pace import Pace
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
PACE = "s/token"
NUMBERS = frozenset({"need GB", "free GB", "resident", "gap GB", PACE})
Cell = str | Status


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
        return tuple(map(plain, self))


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


def laid_out(items: Iterable[Assessment]) -> tuple[tuple[str, ...], list[tuple[Cell, ...]]]:
    """Columns and rows; seconds a token among them where they are known for any scenario."""
    shown = [(row_of(item), pace_of(item)) for item in items]
    if not any(pace for _, pace in shown):
        return COLUMNS, [tuple(row) for row, _ in shown]
    columns = (*COLUMNS[:-1], PACE, COLUMNS[-1])
    return columns, [(*row[:-1], seconds_of(pace), row[-1]) for row, pace in shown]


def plain(cell: Cell) -> str:
    """A cell as text, a status as its word."""
    return cell.upper() if isinstance(cell, Status) else cell


def pace_of(item: Assessment) -> Pace | None:
    """What is known of a scenario's seconds a token."""
    return next((found.pace for found in item.of(CheckId.SPEED_STORAGE) if found.pace), None)


def seconds_of(pace: Pace | None) -> str:
    """The bound as `>=`, the estimate as `~`; `?` where neither says anything."""
    if pace is None:
        return "?"
    bound = f">={_tenths(pace.at_least_seconds, down=True)}" if pace.useful_bound else ""
    about = "" if pace.about_seconds is None else f"~{_tenths(pace.about_seconds)}"
    return " ".join(part for part in (bound, about) if part) or "?"


def _tenths(value: float, *, down: bool = False) -> str:
    """One place from a second up, else three; a bound is never rounded up."""
    if value < 1:
        return f"{value:.3f}"
    return f"{math.floor(value * 10) / 10 if down else value:.1f}"


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
