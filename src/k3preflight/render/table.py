"""The report for a person at a terminal: what was measured, a row a scenario, what to do next."""

from collections.abc import Iterator

from rich.table import Table
from rich.text import Text

from k3preflight.models.host import Host
from k3preflight.models.machine import Memory
from k3preflight.models.names import CheckId, Status
from k3preflight.models.report import Assessment, Finding, Report
from k3preflight.render import Screen
from k3preflight.render.console import Page, word
from k3preflight.units import gb, gb_digits, percent, ram

_SPEAKS_UP = {Status.WARN, Status.FAIL, Status.UNKNOWN}


def render(report: Report, screen: Screen) -> str:
    """The whole page, ending in a newline."""
    page = Page(screen)
    if report.host is not None:
        _measured(page, report.host)
    _experts(page, report)
    for note in report.policy.notes:
        page.line("Note: ", note)
    page.blank()
    _rows(page, report)
    for assessment in report.assessments:
        _findings(page, assessment)
    _caveats(page, report)
    _answer(page, report)
    return page.text


def _measured(page: Page, host: Host) -> None:
    system = " ".join(part for part in (host.system.system, host.system.machine) if part)
    page.field("Host", host.name or "unnamed", f" ({system})" if system else "")
    for path, decided_by in dict.fromkeys(
        (place.path, place.decided_by) for place in host.places if place.follows is None
    ):
        page.field("Directory", f"{path} ({decided_by})")
    for volume in host.volumes:
        parts = ", ".join(part for part in (volume.device, volume.filesystem) if part)
        free = "free space unknown" if volume.free is None else f"{gb(volume.free)} free"
        total = f" of {gb(volume.total)}" if volume.total is not None else ""
        source = ", from --free-disk" if volume.source == "flag" else ""
        where = volume.mount_point or volume.id
        page.field("Volume", where, f" ({parts})" if parts else "", f": {free}{total}{source}")
    page.field("RAM", _memory(host))
    for text in _also(host.memory):
        page.field("", text)


def _memory(host: Host) -> str:
    memory = host.memory
    if memory.usable is None:
        total = f"; {ram(memory.total)} in all" if memory.total is not None else ""
        return f"unknown: {host.why('memory.usable')}{total}"
    text = f"{ram(memory.usable)} usable, from {memory.usable_from or 'an unnamed source'}"
    if memory.binding and memory.total is not None:
        text += f", of {ram(memory.total)}"
    if memory.available is not None and memory.source == "measured":
        text += f"; {ram(memory.available)} available now"
    return text


def _also(memory: Memory) -> Iterator[str]:
    """What besides the binding limit lowers memory, or what counts as used and gives way."""
    for limit in memory.limits:
        if limit != memory.binding and limit.counts != "locked":
            yield f"also limited: {ram(limit.bytes)} by {limit.name}"
    if memory.zfs_arc:
        yield f"not counted: {gb(memory.zfs_arc)} of ZFS cache could be freed"
    if memory.wsl:
        yield "WSL: a share of the RAM, half unless .wslconfig says more"


def _experts(page: Page, report: Report) -> None:
    """The article's first line: how little of the model one token touches."""
    for experts in dict.fromkeys(item.experts for item in report.assessments):
        if experts.of and experts.selected is not None:
            share = percent(100 * experts.selected / experts.of)
            page.line(
                f"Routed experts selected per token: {share} ({experts.selected} of {experts.of})"
            )


_COLUMNS = (
    "scenario",
    "disk",
    "need GB",
    "free GB",
    "memory mode",
    "resident",
    "gap GB",
    "verdict",
)
_NUMBERS = {"need GB", "free GB", "resident", "gap GB"}


def _rows(page: Page, report: Report) -> None:
    """A table where it fits the screen; else a short block a scenario. Nothing is ever cut."""
    rows = [(item, _cells(item)) for item in report.assessments]
    for padding in (2, 1):
        table = Table(box=None, pad_edge=False, padding=(0, padding, 0, 0))
        for column in _COLUMNS:
            table.add_column(
                column, justify="right" if column in _NUMBERS else "left", no_wrap=True
            )
        for _, cells in rows:
            table.add_row(*cells)
        if page.fits(table):
            page.draw(table)
            return
    for assessment, cells in rows:
        page.line((assessment.scenario, "bold"), ": ", cells[-1])
        for name, cell in zip(_COLUMNS[1:-1], cells[1:-1], strict=True):
            page.line(f"{name:<12}", cell, indent=2)


def _cells(item: Assessment) -> list[Text]:
    capacity = _tightest(item.of(CheckId.DISK_CAPACITY))
    disk: Text | str = "-"
    need = free = resident = gap = "-"
    if capacity:
        disk = Text(*word(capacity.status))
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
    cells = (item.scenario, disk, need, free, item.mode or "?", resident, gap)
    return [cell if isinstance(cell, Text) else Text(cell) for cell in cells] + [
        Text(*word(item.status))
    ]


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


def _findings(page: Page, assessment: Assessment) -> None:
    loud = [finding for finding in assessment.findings if finding.status in _SPEAKS_UP]
    if not loud:
        return
    page.blank()
    page.line((assessment.scenario, "bold"))
    for finding in loud:
        page.line(word(finding.status), f" {finding.check}: {finding.message}", indent=2)
        if finding.remedy:
            page.line(f"-> {finding.remedy}", indent=4)


def _caveats(page: Page, report: Report) -> None:
    by_profile: dict[str, tuple[str, ...]] = {}
    for item in report.assessments:
        by_profile.setdefault(item.scenario.partition(":")[0], item.caveats)
    if any(by_profile.values()):
        page.blank()
        page.line("Caveats")
        for name, caveats in by_profile.items():
            for caveat in caveats:
                page.line(f"{name}: {caveat}", indent=2)


def _answer(page: Page, report: Report) -> None:
    verdict = report.verdict
    page.blank()
    fits = ", ".join(verdict.fits) or "none of them"
    rule = (
        "every scenario named must fit" if verdict.rule == "all" else "any way that fits is enough"
    )
    page.line("Verdict: ", word(Status(verdict.status)), f" ({rule}). Fits: {fits}.")
    if verdict.nearest_miss:
        page.line(f"Nearest miss: {verdict.nearest_miss}")
    best = next((item for item in report.assessments if item.scenario in verdict.fits[:1]), None)
    if best and best.commands:
        page.blank()
        page.line("Next, for ", (best.scenario, "bold"), ": build and test before you download")
        for command in best.commands:
            page.paste(command.run)
