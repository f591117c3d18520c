"""The verdict over assessments: scenarios are alternatives, their needs are never added."""

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Literal

from k3preflight.models.names import Status
from k3preflight.models.report import Assessment, Finding, Verdict
from k3preflight.models.scenario import Scenario

Rule = Literal["all", "any"]
Answer = Literal[Status.PASS, Status.FAIL, Status.UNKNOWN]

_WORST_FIRST = (Status.FAIL, Status.UNKNOWN, Status.WARN, Status.PASS)


def worst(statuses: Iterable[Status]) -> Status:
    """Fail over unknown over warn over pass; nothing but skips is unknown."""
    seen = set(statuses)
    return next((status for status in _WORST_FIRST if status in seen), Status.UNKNOWN)


FITTING = frozenset({Status.PASS, Status.WARN})


def verdict_of(
    assessments: Sequence[Assessment], scenarios: Mapping[str, Scenario], *, named: bool
) -> Verdict:
    """The verdict, with what fits best first and what only just does not."""
    rule: Rule = "all" if named else "any"
    return Verdict(
        rule=rule,
        status=status_of(assessments, rule),
        fits=tuple(item.scenario for item in _best_first(assessments, scenarios) if item.fits),
        nearest_miss=_nearest_miss(assessments),
    )


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


def _best_first(
    assessments: Iterable[Assessment], scenarios: Mapping[str, Scenario]
) -> list[Assessment]:
    """Full weights over quants, larger quants over smaller, a pass over a warning.

    Between presets of one profile the later, which uses more memory, is the faster.
    """

    def rank(item: Assessment) -> tuple[bool, int, bool, int]:
        profile, preset = scenarios[item.scenario]
        return (
            profile.weights != "full",
            -profile.checkpoint.size.bytes,
            item.status is not Status.PASS,
            -profile.presets.index(preset) if preset else 0,
        )

    return sorted(assessments, key=rank)


def _nearest_miss(assessments: Iterable[Assessment]) -> str | None:
    """The failing scenario with the fewest failures, the smallest shortfall first among equals."""
    failing = [item for item in assessments if item.status is Status.FAIL]
    if not failing:
        return None
    nearest = min(failing, key=distance)
    return f"{nearest.scenario}: {failures(nearest)[0].message}"


def failures(item: Assessment) -> list[Finding]:
    """The findings that fail, in the order of the checks."""
    return [finding for finding in item.findings if finding.status is Status.FAIL]


def distance(item: Assessment) -> tuple[int, int]:
    """How far a failing scenario is from fitting: checks that fail, then bytes they lack."""
    failing = failures(item)
    gaps = [finding.budget.gap or 0 for finding in failing if finding.budget]
    return len(failing), sum(gaps)
