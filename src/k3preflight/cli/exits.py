"""From a report to the exit code scripts read."""

from typing import assert_never

from k3preflight.assess.verdict import status_of
from k3preflight.errors import Exit
from k3preflight.models.names import FailOn, Status
from k3preflight.models.report import Report


def exit_of(report: Report, fail_on: FailOn) -> Exit:
    """0 fits, 1 does not, 3 cannot be told.

    `warn`: a scenario that warns counts as not fitting; `never`: 1 becomes 0, 3 stays.
    """
    verdict = report.verdict
    match fail_on:
        case FailOn.FAIL:
            return _EXITS[verdict.status]
        case FailOn.WARN:
            strict = status_of(report.assessments, verdict.rule, frozenset({Status.PASS}))
            return _EXITS[strict]
        case FailOn.NEVER:
            return Exit.PASS if verdict.status is Status.FAIL else _EXITS[verdict.status]
        case _:
            assert_never(fail_on)


_EXITS: dict[Status, Exit] = {
    Status.PASS: Exit.PASS,
    Status.FAIL: Exit.FAIL,
    Status.UNKNOWN: Exit.UNKNOWN,
}
