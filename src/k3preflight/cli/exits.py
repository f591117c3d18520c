"""From a report to the exit code scripts read."""

from k3preflight.assess.verdict import Answer, status_of
from k3preflight.errors import Exit
from k3preflight.models.names import FailOn, Status
from k3preflight.models.report import Report


def exit_of(report: Report, fail_on: FailOn) -> Exit:
    """0 fits, 1 does not, 3 cannot be told.

    `warn`: a scenario that warns counts as not fitting; `never`: 1 becomes 0, 3 stays.
    """
    return exit_for(answer_of(report, fail_on), fail_on)


def answer_of(report: Report, fail_on: FailOn) -> Answer:
    """The verdict's status, or with `warn` the one where only a pass fits."""
    if fail_on is not FailOn.WARN:
        return report.verdict.status
    return status_of(report.assessments, report.verdict.rule, frozenset({Status.PASS}))


def exit_for(answer: Answer, fail_on: FailOn) -> Exit:
    """The exit code of an answer; `never` makes a failure 0."""
    if fail_on is FailOn.NEVER and answer is Status.FAIL:
        return Exit.PASS
    return _EXITS[answer]


_EXITS: dict[Answer, Exit] = {
    Status.PASS: Exit.PASS,
    Status.FAIL: Exit.FAIL,
    Status.UNKNOWN: Exit.UNKNOWN,
}
