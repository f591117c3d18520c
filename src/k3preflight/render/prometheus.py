"""Prometheus text for node_exporter's textfile collector. What is unknown has no sample."""

from __future__ import annotations

from typing import TYPE_CHECKING

from k3preflight.errors import MissingExtraError
from k3preflight.models.names import Status
from k3preflight.render import words

if TYPE_CHECKING:
    from collections.abc import Iterable

    from prometheus_client import Gauge

    from k3preflight.models.report import Report

_ANSWERS = (Status.PASS, Status.FAIL, Status.UNKNOWN)


def render(report: Report) -> str:
    """Bytes needed, there and missing, coverage as a ratio, and each status as 1 or 0.

    Raises:
        MissingExtraError: prometheus_client is not installed.
    """
    try:
        from prometheus_client import (  # noqa: PLC0415 - an optional dependency
            CollectorRegistry,
            Gauge,
            generate_latest,
        )
    except ModuleNotFoundError as error:
        raise MissingExtraError("--format prometheus", "ci") from error
    registry = CollectorRegistry()

    def gauge(name: str, text: str, *labels: str) -> Gauge:
        return Gauge(f"k3preflight_{name}", text, ("host", *labels), registry=registry)

    finding_labels = ("scenario", "check", "subject")
    info = gauge("info", "The k3preflight that judged this host.", "version")
    verdict = gauge("verdict", "1 for the verdict's status, 0 for the others.", "rule", "status")
    scenario = gauge(
        "scenario_status", "1 for the scenario's status, 0 for the others.", "scenario", "status"
    )
    check = gauge(
        "check_status", "1 for the check's status, 0 for the others.", *finding_labels, "status"
    )
    need = gauge("need_bytes", "Bytes the check asks for.", *finding_labels)
    have = gauge("have_bytes", "Bytes there are; absent where unknown.", *finding_labels)
    gap = gauge("gap_bytes", "Bytes missing; absent where unknown.", *finding_labels)
    coverage = gauge("coverage_ratio", "What there is of what is needed, 0 to 1.", *finding_labels)

    host = report.name
    info.labels(host, report.tool_version).set(1)
    _one_of(verdict, (host, report.verdict.rule), _ANSWERS, report.verdict.status)
    for item in words.once(report):
        _one_of(scenario, (host, item.scenario), Status, item.status)
        for subject, finding in words.subjects(item.findings):
            labels = (host, item.scenario, finding.check.value, subject)
            _one_of(check, labels, Status, finding.status)
            budget = finding.budget
            if budget is None:
                continue
            need.labels(*labels).set(budget.need)
            if budget.have is not None and budget.gap is not None:
                have.labels(*labels).set(budget.have)
                gap.labels(*labels).set(budget.gap)
            if budget.coverage_percent is not None:
                coverage.labels(*labels).set(budget.coverage_percent / 100)
    return generate_latest(registry).decode()


def _one_of(
    gauge: Gauge, labels: tuple[str, ...], states: Iterable[Status], status: Status
) -> None:
    for state in states:
        gauge.labels(*labels, state.value).set(int(state is status))
