"""The report as one page: no script, nothing fetched, light and dark, and printable."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from k3preflight.errors import MissingExtraError
from k3preflight.models.names import Status
from k3preflight.render import words
from k3preflight.render.curve import curves
from k3preflight.render.rows import row_of
from k3preflight.units import gb, percent

if TYPE_CHECKING:
    from collections.abc import Iterator

    from k3preflight.models.report import Assessment, Budget, Finding, Report

_WHOLE = 1000  # bars are drawn in thousandths of their track


class Bar(NamedTuple):
    """What is needed against what is there, on one scale."""

    need: str
    have: str
    coverage: str
    need_width: int
    have_width: int | None


class Line(NamedTuple):
    """One finding: its text, its bar where it compares bytes, and what its figures are made of."""

    status: Status
    check: str
    subject: str
    message: str
    remedy: str | None
    bar: Bar | None
    parts: tuple[str, ...]


def render(report: Report) -> str:
    """The page. Every text in it is escaped by the template engine.

    Raises:
        MissingExtraError: jinja2 is not installed.
    """
    try:
        from jinja2 import (  # noqa: PLC0415 - an optional dependency
            Environment,
            PackageLoader,
            StrictUndefined,
        )
    except ModuleNotFoundError as error:
        raise MissingExtraError("--format html", "html") from error
    environment = Environment(
        loader=PackageLoader("k3preflight.render", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    return environment.get_template("report.html.j2").render(
        report=report,
        verdict=Status(report.verdict.status),
        host=report.name,
        system=words.system(report.host) if report.host else "",
        fits=words.fits(report),
        memory=list(words.memory(report.host)) if report.host else [],
        directories=list(words.directories(report.host)) if report.host else [],
        volumes=list(words.volumes(report.host)) if report.host else [],
        experts=list(words.experts(report)),
        scenarios=[(item, row_of(item), list(_lines(item))) for item in words.once(report)],
        notes=list(words.notes(report)),
        caveats=words.caveats(report),
        curves=list(curves(report)),
        options=list(words.options(report)),
        obstacles=list(words.obstacles(report)),
    )


def _lines(item: Assessment) -> Iterator[Line]:
    """The findings, what decides first: failures, then unknown, warnings, passes, skips."""
    order = [Status.FAIL, Status.UNKNOWN, Status.WARN, Status.PASS, Status.SKIP]
    found = sorted(words.subjects(item.findings), key=lambda pair: order.index(pair[1].status))
    for subject, finding in found:
        yield Line(
            finding.status,
            finding.check.value,
            subject,
            finding.message,
            finding.remedy,
            _bar(finding),
            tuple(words.budget_parts(finding)),
        )


def _bar(finding: Finding) -> Bar | None:
    budget = finding.budget
    if budget is None:
        return None
    have = budget.have
    most = max(budget.need, have or 0, 1)
    return Bar(
        need=gb(budget.need),
        have="unknown" if have is None else gb(have),
        coverage=_coverage(budget),
        need_width=_width(budget.need, most),
        have_width=None if have is None else _width(have, most),
    )


def _coverage(budget: Budget) -> str:
    return "unknown" if budget.coverage_percent is None else percent(budget.coverage_percent)


def _width(size: int, most: int) -> int:
    """Thousandths; something is never drawn as nothing."""
    return max(size * _WHOLE // most, int(size > 0) * 2)
