"""Counts reports one by one, so that any number of hosts takes the memory of a few counters."""

from collections import Counter
from dataclasses import dataclass, field

from k3preflight.assess.verdict import Answer, distance, stopping
from k3preflight.models.fleet import Miss, ScenarioSummary, Stop, Summary
from k3preflight.models.names import CheckId, Status
from k3preflight.models.report import Assessment, Report

NEAREST = 3  # near misses kept for each scenario

_STOPS = (Status.FAIL, Status.UNKNOWN)


def every(answers: Counter[Answer]) -> Answer:
    """The answer where every host must pass: fail over unknown over pass; of none, unknown."""
    if answers[Status.FAIL]:
        return Status.FAIL
    return Status.PASS if answers[Status.PASS] == answers.total() > 0 else Status.UNKNOWN


@dataclass
class _Count:
    """One scenario so far."""

    statuses: Counter[Status] = field(default_factory=Counter)
    stops: Counter[tuple[CheckId, Status]] = field(default_factory=Counter)
    nearest: list[Miss] = field(default_factory=list)


@dataclass
class Tally:
    """What is kept of the reports that have gone by."""

    answers: Counter[Answer] = field(default_factory=Counter)
    broken: int = 0
    scenarios: dict[str, _Count] = field(default_factory=dict)

    def add(self, report: Report) -> None:
        """Count one more report; nothing of it is kept but a near miss's sentence."""
        self.answers[report.verdict.status] += 1
        if report.host is None:
            self.broken += 1
        for item in report.assessments:
            count = self.scenarios.setdefault(item.scenario, _Count())
            count.statuses[item.status] += 1
            # A check that speaks of several volumes stops a host once.
            stops = {(found.check, found.status) for found in item.findings}
            count.stops.update(stop for stop in stops if stop[1] in _STOPS)
            if item.status is Status.FAIL:
                _keep(count.nearest, report.name, item)

    def summary(self) -> Summary:
        """The counts so far."""
        return Summary(
            hosts=self.answers.total(),
            broken=self.broken,
            passes=self.answers[Status.PASS],
            fails=self.answers[Status.FAIL],
            unknown=self.answers[Status.UNKNOWN],
            status=every(self.answers),
            scenarios=tuple(_summary(name, count) for name, count in self.scenarios.items()),
        )


def _keep(nearest: list[Miss], host: str, item: Assessment) -> None:
    """Put the miss in its place among the nearest, the first come first among equals."""
    missing, gap = distance(item)
    if len(nearest) == NEAREST and (missing, gap) >= (nearest[-1].failures, nearest[-1].gap):
        return
    first = stopping(item)[0]
    nearest.append(
        Miss(host=host, failures=missing, gap=gap, message=f"{first.check}: {first.message}")
    )
    nearest.sort(key=lambda miss: (miss.failures, miss.gap))
    del nearest[NEAREST:]


def _summary(name: str, count: _Count) -> ScenarioSummary:
    stops = sorted(count.stops.items(), key=lambda stop: (-stop[1], stop[0]))
    return ScenarioSummary(
        scenario=name,
        hosts=count.statuses.total(),
        fits=count.statuses[Status.PASS] + count.statuses[Status.WARN],
        warns=count.statuses[Status.WARN],
        fails=count.statuses[Status.FAIL],
        unknown=count.statuses[Status.UNKNOWN],
        stops=tuple(
            Stop(check=check, status=status, hosts=hosts) for (check, status), hosts in stops
        ),
        nearest=tuple(count.nearest),
    )
