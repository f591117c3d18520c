"""Many hosts at a terminal: a row a host and scenario as they go by, and what they come to.

Nothing waits for the last host: the columns' widths are known before the first, and what has no
known width, the host's name, stands last in its row.
"""

from collections.abc import Iterable
from textwrap import fill

from rich.cells import cell_len
from rich.color import ColorSystem
from rich.style import Style

from k3preflight.models.fleet import ScenarioSummary, Summary
from k3preflight.models.names import Status
from k3preflight.models.report import Assessment, Report
from k3preflight.render import Detail, Screen
from k3preflight.render.console import Page, word
from k3preflight.render.rows import row_of
from k3preflight.text import counted

_STOPS = {Status.FAIL, Status.UNKNOWN}
_LEAST_FOR_A_NAME = 16  # columns; with fewer left, the figures go under their row
_INDENT = 8  # the verdict and a space
_COLUMNS = ("need GB", "free GB", "resident", "gap GB")


class FleetTable:
    """Draws reports one by one and keeps none of them."""

    def __init__(self, scenarios: Iterable[str], screen: Screen) -> None:
        self._screen = screen
        self._width = max(map(cell_len, ("scenario", *scenarios)))
        head = _INDENT + self._width + len(_figures(_COLUMNS))
        self._in_rows = head + _LEAST_FOR_A_NAME <= screen.width

    def header(self) -> str:
        """The names of the columns, where there are any to name."""
        if not self._in_rows:
            return ""
        return f"{'verdict':<{_INDENT}}{_left('scenario', self._width)}{_figures(_COLUMNS)}host\n"

    def rows(self, report: Report) -> str:
        """A row for each scenario of one host; for a broken document what is broken."""
        if report.host is None:
            return f"{self._word(Status.UNKNOWN)}{report.problem or report.name}\n"
        quiet = self._screen.detail is Detail.QUIET
        shown = [item for item in report.assessments if not quiet or item.status is not Status.PASS]
        notes = "" if quiet else "".join(self._under(f"Note: {n}") for n in report.policy.notes)
        return "".join(self._row(item, report.name) for item in shown) + notes

    def summary(self, summary: Summary) -> str:
        """How many hosts fit each scenario, what stops the others, and who came nearest."""
        page = Page(self._screen)
        if self._screen.detail is not Detail.QUIET:
            for item in summary.scenarios:
                _scenario(page, item)
                page.blank()
        broken = f" ({counted(summary.broken, 'broken document')})" if summary.broken else ""
        page.line(
            "Verdict: ",
            word(Status(summary.status)),
            f" (every host must pass). {counted(summary.hosts, 'host')}: {summary.passes:,} pass, "
            f"{summary.fails:,} fail, {summary.unknown:,} unknown{broken}.",
        )
        return "\n" + page.text

    def _row(self, item: Assessment, name: str) -> str:
        stops = ", ".join(
            dict.fromkeys(found.check for found in item.findings if found.status in _STOPS)
        )
        row = row_of(item)
        figures = (row.need, row.free, row.resident, row.gap)
        if not self._in_rows:
            text = (
                f"need {_with_unit(row.need)}, free {_with_unit(row.free)}, "
                f"resident {row.resident}, gap {_with_unit(row.gap)}"
            )
            head = f"{item.scenario}  {name}"
            under = [f"{text}; {stops}" if stops else text]
        else:
            head = f"{_left(item.scenario, self._width)}{_figures(figures)}{name}"
            beside = f" ({stops})" if stops else ""
            fits = _INDENT + cell_len(head + beside) <= self._screen.width
            head, under = (head + beside, []) if fits or not stops else (head, [stops])
        if self._screen.detail is Detail.VERBOSE:
            under += [
                f"{found.status.upper()} {found.check}: {found.message}" for found in item.findings
            ]
        return f"{self._word(item.status)}{head}\n" + "".join(map(self._under, under))

    def _under(self, text: str) -> str:
        """A row's continuation; wrapped without rich, which takes longer than the judgement."""
        indent = " " * _INDENT
        width = max(self._screen.width, 2 * _INDENT)
        wrapped = fill(
            text,
            width,
            initial_indent=indent,
            subsequent_indent=indent,
            break_long_words=False,
            break_on_hyphens=False,
        )
        return wrapped + "\n"

    def _word(self, status: Status) -> str:
        text, style = word(status)
        padding = " " * (_INDENT - len(text))
        if self._screen.color:
            text = Style.parse(style).render(text, color_system=ColorSystem.STANDARD)
        return text + padding


def _figures(cells: Iterable[str]) -> str:
    return "".join(f" {cell:>8}" for cell in cells) + "  "


def _with_unit(figure: str) -> str:
    return f"{figure} GB" if figure[-1].isdigit() else figure


def _left(text: str, width: int) -> str:
    return text + " " * (width - cell_len(text))


def _scenario(page: Page, item: ScenarioSummary) -> None:
    warned = f" ({item.warns:,} with a warning)" if item.warns else ""
    page.line(
        (item.scenario, "bold"),
        f": fits {item.fits:,} of {counted(item.hosts, 'host')}{warned}; fails on {item.fails:,}, "
        f"unknown on {item.unknown:,}",
    )
    for status, does in ((Status.FAIL, "fails"), (Status.UNKNOWN, "unknown")):
        stops = [f"{stop.check} on {stop.hosts:,}" for stop in item.stops if stop.status is status]
        if stops:
            page.line(f"{does}: {', '.join(stops)}", indent=2)
    for miss in item.nearest:
        page.line(f"nearest miss {miss.host}: {miss.message}", indent=2)
