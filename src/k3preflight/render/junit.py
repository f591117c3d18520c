"""JUnit XML: one suite a scenario, one test case a check, and the verdict as a case of its own."""

from __future__ import annotations

from io import BytesIO
from typing import TYPE_CHECKING, assert_never

from k3preflight.errors import MissingExtraError
from k3preflight.models.names import Status
from k3preflight.render import words

if TYPE_CHECKING:
    from junitparser import Error, Failure, TestCase, TestSuite

    from k3preflight.models.report import Assessment, Report


def render(report: Report) -> str:
    """Test results as CI systems read them: unknown is an error, a warning a pass that speaks.

    Raises:
        MissingExtraError: junitparser is not installed.
    """
    try:
        from junitparser import JUnitXml  # noqa: PLC0415 - an optional dependency
    except ModuleNotFoundError as error:
        raise MissingExtraError("--format junit", "ci") from error
    host = report.name
    verdict = report.verdict
    nearest = words.nearest(report)
    said = f"{verdict.status.upper()} {words.fits(report)}"
    answer = _case(
        "k3preflight",
        "verdict",
        Status(verdict.status),
        said,
        nearest and f"Nearest miss: {nearest}",
    )
    suites = [_suite("k3preflight", host, [answer])]
    suites += [_suite(item.scenario, host, _cases(item)) for item in words.once(report)]
    document = JUnitXml("k3preflight")
    for suite in suites:
        document.add_testsuite(suite)
    # Not update_statistics(): it also writes a total of skips, which the schema refuses here.
    document.tests = sum(suite.tests or 0 for suite in suites)
    document.failures = sum(suite.failures or 0 for suite in suites)
    document.errors = sum(suite.errors or 0 for suite in suites)
    out = BytesIO()
    document.write(out, pretty=True)
    return out.getvalue().decode()


def _suite(name: str, host: str, cases: list[TestCase]) -> TestSuite:
    from junitparser import TestSuite  # noqa: PLC0415

    suite = TestSuite(name)
    suite.hostname = host
    suite.add_testcases(cases)
    return suite


def _cases(item: Assessment) -> list[TestCase]:
    return [
        _case(
            item.scenario,
            f"{finding.check} [{subject}]" if subject else finding.check.value,
            finding.status,
            finding.message,
            finding.remedy,
        )
        for subject, finding in words.subjects(item.findings)
    ]


def _case(group: str, name: str, status: Status, message: str, remedy: str | None) -> TestCase:
    from junitparser import Error, Failure, Skipped, TestCase  # noqa: PLC0415

    case = TestCase(name, group)
    whole = f"{message}\n-> {remedy}" if remedy else message
    match status:
        case Status.PASS | Status.WARN:
            case.system_out = f"{status.upper()}: {whole}"
        case Status.SKIP:
            case.result = Skipped(message)
        case Status.FAIL:
            case.result = _with_text(Failure(message, "fail"), whole)
        case Status.UNKNOWN:
            case.result = _with_text(Error(message, "unknown"), whole)
        case _:
            assert_never(status)
    return case


def _with_text(result: Failure | Error, text: str) -> Failure | Error:
    result.text = text
    return result
