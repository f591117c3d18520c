"""The report for a person at a terminal: what was measured, a row a scenario, what to do next."""

from itertools import zip_longest

from rich.table import Table
from rich.text import Text

from k3preflight.models.host import Host
from k3preflight.models.names import Status
from k3preflight.models.report import Assessment, Report
from k3preflight.render import Detail, Screen, words
from k3preflight.render.console import Page, word
from k3preflight.render.rows import NUMBERS, laid_out


def render(report: Report, screen: Screen) -> str:
    """The whole page, ending in a newline; only what is not a pass where it is to be quiet."""
    page, quiet = Page(screen), screen.detail is Detail.QUIET
    if not quiet:
        if report.host is not None:
            _measured(page, report.host)
        for line in words.experts(report):
            page.line(line)
        for note in words.notes(report):
            page.line("Note: ", note)
        page.blank()
        _rows(page, report)
        _paces(page, report, screen.detail)
    for assessment in report.assessments:
        _findings(page, assessment, screen.detail)
    if not quiet:
        _caveats(page, report)
    _answer(page, report, quiet=quiet)
    return page.text


def _measured(page: Page, host: Host) -> None:
    system = words.system(host)
    page.field("Host", host.name or "unnamed", f" ({system})" if system else "")
    for directory in words.directories(host):
        page.field("Directory", directory)
    for volume in words.volumes(host):
        page.field("Volume", volume)
    for name, text in zip_longest(("RAM",), words.memory(host), fillvalue=""):
        page.field(name, text)


def _rows(page: Page, report: Report) -> None:
    """A table where it fits the screen; else a short block a scenario. Nothing is ever cut."""
    columns, laid = laid_out(report.assessments)
    rows = [
        [Text(*word(cell)) if isinstance(cell, Status) else Text(cell) for cell in row]
        for row in laid
    ]
    for padding in (2, 1):
        table = Table(box=None, pad_edge=False, padding=(0, padding, 0, 0))
        for column in columns:
            table.add_column(column, justify="right" if column in NUMBERS else "left", no_wrap=True)
        for cells in rows:
            table.add_row(*cells)
        if page.fits(table):
            page.draw(table)
            return
    for scenario, *cells, verdict in rows:
        page.line((scenario.plain, "bold"), ": ", verdict)
        for name, cell in zip(columns[1:-1], cells, strict=True):
            page.line(f"{name:<12}", cell, indent=2)


def _paces(page: Page, report: Report, detail: Detail) -> None:
    known = words.paces(report, detail)
    if known:
        page.blank()
        page.line("Seconds per token, while generating")
        for scenario, message in known:
            page.line((scenario, "bold"), f": {message}", indent=2)


def _findings(page: Page, assessment: Assessment, detail: Detail) -> None:
    findings = words.shown(assessment, detail)
    if not findings:
        return
    page.blank()
    page.line((assessment.scenario, "bold"))
    for finding in findings:
        page.line(word(finding.status), f" {finding.check}: {finding.message}", indent=2)
        for item in words.parts(finding, detail):
            page.line(item, indent=6)
        if finding.remedy:
            # Broken into lines, each file to delete after the first would be run as a command.
            page.line(f"-> {finding.remedy}", indent=4, whole="rm -- " in finding.remedy)


def _caveats(page: Page, report: Report) -> None:
    by_profile = words.caveats(report)
    if by_profile:
        page.blank()
        page.line("Caveats")
    for name, caveats in by_profile.items():
        for caveat in caveats:
            page.line(f"{name}: {caveat}", indent=2)


def _answer(page: Page, report: Report, *, quiet: bool) -> None:
    page.blank()
    page.line("Verdict: ", word(Status(report.verdict.status)), " ", words.fits(report))
    if not quiet:
        _options(page, report)
    stopped = list(words.obstacles(report))
    if stopped:
        page.blank()
        page.line("What would let the others fit")
        for line in stopped:
            page.line(line, indent=2)
    for line in report.verdict.advice:
        page.line(line)


def _options(page: Page, report: Report) -> None:
    """Each way that fits, best first: build and test come before the download."""
    for number, (scenario, why, commands) in enumerate(words.options(report), start=1):
        page.blank()
        page.line(f"{number}. ", (scenario, "bold"), f": {why}.")
        for command in commands:
            page.paste(command, indent=3)
