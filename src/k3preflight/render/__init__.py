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


class Screen(NamedTuple):
    """What the text is for: its width in columns, and whether it may hold colour."""

    width: int = 80
    color: bool = False


def render(report: Report, form: Format, screen: Screen) -> str:
    """The report as text that ends in a newline."""
    match form:
        case Format.TABLE:
            from k3preflight.render import table  # noqa: PLC0415 - rich is loaded only to draw

            return table.render(report, screen)
        case Format.JSON:
            return report.model_dump_json(indent=2) + "\n"
        case _:
            assert_never(form)
