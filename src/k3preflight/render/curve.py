"""Seconds a token over memory: one curve a profile whose presets were judged side by side."""

from collections.abc import Iterator
from typing import NamedTuple

from k3preflight.models.names import CheckId
from k3preflight.models.report import Assessment, Report
from k3preflight.render.rows import pace_of, seconds_of
from k3preflight.units import gb

WIDTH, HEIGHT = 1000, 200  # the drawing's own units


class Point(NamedTuple):
    """One preset: where it is drawn, and the same in words."""

    x: int
    y: int
    words: str


class Curve(NamedTuple):
    """A profile's presets by the memory they must hold; `points` is never one alone."""

    profile: str
    points: tuple[Point, ...]

    @property
    def path(self) -> str:
        """The points as a polyline takes them."""
        return " ".join(f"{point.x},{point.y}" for point in self.points)


def curves(report: Report) -> Iterator[Curve]:
    """A curve for each profile of which several scenarios have a known pace.

    Drawn is the estimate where there is one, else the bound; the top is the slowest of them.
    """
    known: dict[str, list[tuple[int, float, Assessment]]] = {}
    for item in {one.scenario: one for one in report.assessments}.values():
        pace = pace_of(item)
        memory = next((found.budget for found in item.of(CheckId.MEMORY_MINIMUM)), None)
        if pace is None or memory is None:
            continue
        seconds = pace.at_least_seconds if pace.about_seconds is None else pace.about_seconds
        known.setdefault(item.scenario.partition(":")[0], []).append((memory.need, seconds, item))
    for profile, found in known.items():
        if len(found) > 1:
            yield Curve(profile, tuple(_points(sorted(found, key=lambda one: one[:2]))))


def _points(found: list[tuple[int, float, Assessment]]) -> Iterator[Point]:
    most = max(memory for memory, _, _ in found)
    slowest = max(seconds for _, seconds, _ in found) or 1
    for memory, seconds, item in found:
        shown = seconds_of(pace_of(item))
        yield Point(
            x=WIDTH * memory // max(most, 1),
            y=round(HEIGHT - HEIGHT * seconds / slowest),
            words=f"{item.scenario}: {gb(memory)} of memory, {shown} s a token",
        )
