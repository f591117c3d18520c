"""The status over assessments: scenarios are alternatives, their needs are never added."""

from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from typing import Literal

from k3preflight.models.names import Status
from k3preflight.models.report import Assessment, Finding

Rule = Literal["all", "any"]
Answer = Literal[Status.PASS, Status.FAIL, Status.UNKNOWN]

_WORST_FIRST = (Status.FAIL, Status.UNKNOWN, Status.WARN, Status.PASS)


def worst(statuses: Iterable[Status]) -> Status:
    """Fail over unknown over warn over pass; nothing but skips is unknown."""
    seen = set(statuses)
    return next((status for status in _WORST_FIRST if status in seen), Status.UNKNOWN)


FITTING = frozenset({Status.PASS, Status.WARN})


def status_of(
    assessments: Sequence[Assessment], rule: Rule, fitting: AbstractSet[Status] = FITTING
) -> Answer:
    """Pass, fail or unknown, where the statuses in `fitting` count as fitting.

    "all": everything named must fit, an alternative (NAME:all) by any of its presets. "any": one
    way that fits is enough.
    """
    if rule == "any":
        return _any_of(assessments, fitting)
    groups = dict.fromkeys(item.requested for item in assessments)
    answers = {
        _any_of([item for item in assessments if item.requested == group], fitting)
        for group in groups
    }
    for answer in (Status.FAIL, Status.UNKNOWN):
        if answer in answers:
            return answer
    return Status.PASS if answers else Status.UNKNOWN


def _any_of(alternatives: Iterable[Assessment], fitting: AbstractSet[Status]) -> Answer:
    statuses = {item.status for item in alternatives}
    if statuses & fitting:
        return Status.PASS
    return Status.UNKNOWN if Status.UNKNOWN in statuses or not statuses else Status.FAIL


def stopping(item: Assessment) -> list[Finding]:
    """What keeps a scenario from fitting, in the order of the checks: failures, or unknowns."""
    return [finding for finding in item.findings if finding.status is item.status]


def distance(item: Assessment) -> tuple[int, int]:
    """How far a scenario is from fitting: how many findings stop it, then bytes they lack."""
    stops = stopping(item)
    return len(stops), sum(stop.budget.gap or 0 for stop in stops if stop.budget)
