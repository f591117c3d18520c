"""Shows a report. Every format is made from the same report and computes nothing of its own."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple, assert_never

if TYPE_CHECKING:
    from k3preflight.models.report import Report


class Format(StrEnum):
    """What a report can be written as."""

    TABLE = "table"
    JSON = "json"
    NDJSON = "ndjson"
    MARKDOWN = "markdown"
    JUNIT = "junit"
    GITHUB = "github"
    PROMETHEUS = "prometheus"
    HTML = "html"


class Detail(StrEnum):
    """How much a person is shown. Documents for programs are always whole."""

    QUIET = "quiet"  # what is not a pass, and the verdict
    NORMAL = "normal"
    VERBOSE = "verbose"  # every finding, with what its figures are made of


class Screen(NamedTuple):
    """What the text is for: its width in columns, whether it may hold colour, and how much."""

    width: int = 80
    color: bool = False
    detail: Detail = Detail.NORMAL


def render(report: Report, form: Format, screen: Screen) -> str:  # noqa: PLR0911 - one a format
    """The report as text that ends in a newline, or no text where there is nothing to say.

    Raises:
        MissingExtraError: the format's optional dependency is not installed.
    """
    match form:
        case Format.TABLE:
            from k3preflight.render import table  # noqa: PLC0415 - rich is loaded only to draw

            return table.render(report, screen)
        case Format.JSON:
            return report.model_dump_json(indent=2) + "\n"
        case Format.NDJSON:
            return report.model_dump_json() + "\n"
        case Format.MARKDOWN:
            from k3preflight.render import markdown  # noqa: PLC0415

            return markdown.render(report, screen.detail)
        case Format.JUNIT:
            from k3preflight.render import junit  # noqa: PLC0415

            return junit.render(report)
        case Format.GITHUB:
            from k3preflight.render import github  # noqa: PLC0415

            return github.render(report)
        case Format.PROMETHEUS:
            from k3preflight.render import prometheus  # noqa: PLC0415

            return prometheus.render(report)
        case Format.HTML:
            from k3preflight.render import html  # noqa: PLC0415

            return html.render(report)
        case _:
            assert_never(form)
