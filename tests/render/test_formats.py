"""Each format holds what the report holds, as its consumer reads it."""

import json
import sys
from typing import Any

import pytest

from factory import GB, host, report
from k3preflight.errors import Exit, MissingExtraError
from k3preflight.models.names import CheckId, Status
from k3preflight.models.report import Budget, Report
from k3preflight.render import Detail, Format, Screen, render
from reading import annotations, junit_cases, junit_schema, markdown_page, samples

RESULT = {
    Status.PASS: "system-out",
    Status.WARN: "system-out",
    Status.FAIL: "failure",
    Status.UNKNOWN: "error",
    Status.SKIP: "skipped",
}


@pytest.fixture(name="mixed")
def _mixed() -> Report:
    """Every status at once."""
    judged = report(host(free=1900 * GB, usable=None), "kimi-k3-in-c", "rabbit", "ud-iq1-s")
    seen = {finding.status for item in judged.assessments for finding in item.findings}
    assert {Status.PASS, Status.FAIL, Status.UNKNOWN, Status.SKIP} <= seen
    first = judged.assessments[0]
    warned = first.findings[0].model_copy(update={"status": Status.WARN, "subject": "again"})
    return with_findings(judged, (*first.findings, warned))


def with_findings(judged: Report, findings: tuple[Any, ...]) -> Report:
    first = judged.assessments[0].model_copy(update={"findings": findings})
    return judged.model_copy(update={"assessments": (first, *judged.assessments[1:])})


def as_(form: Format, judged: Report, detail: Detail = Detail.NORMAL) -> str:
    return render(judged, form, Screen(80, detail=detail))


def test_ndjson_is_the_json_document_on_one_line(mixed: Report) -> None:
    line = as_(Format.NDJSON, mixed)
    assert line.count("\n") == 1
    assert json.loads(line) == json.loads(as_(Format.JSON, mixed))


def test_junit_has_a_case_a_check_and_one_for_the_verdict(mixed: Report) -> None:
    cases = junit_cases(as_(Format.JUNIT, mixed))
    findings = [(item.scenario, found) for item in mixed.assessments for found in item.findings]
    assert cases[0][:3] == ("k3preflight", "verdict", "failure")
    assert len(cases) == 1 + len(findings)
    for (group, name, result, said), (scenario, found) in zip(cases[1:], findings, strict=True):
        assert group == scenario
        assert name.startswith(found.check)
        assert result == RESULT[found.status]
        assert found.message in said
    assert len({case[:2] for case in cases}) == len(cases)


def test_junit_is_valid_where_ci_systems_check_it(mixed: Report) -> None:
    schema = junit_schema()
    text = as_(Format.JUNIT, mixed)
    schema.validate(text)
    assert not schema.is_valid(text.replace('classname="', 'klass="'))


def test_junit_totals_are_sums(mixed: Report) -> None:
    import xml.etree.ElementTree as ET  # noqa: PLC0415 - only here

    root = ET.fromstring(as_(Format.JUNIT, mixed))  # noqa: S314 - our own output
    for total in ("tests", "failures", "errors"):
        assert int(root.attrib[total]) == sum(int(suite.attrib[total]) for suite in root)


def test_a_scenario_asked_for_twice_is_one_suite_and_one_series() -> None:
    judged = report(host(), "kimi-k3-in-c", "kimi-k3-in-c:laptop")
    assert len(judged.assessments) == 2
    cases = [case[:2] for case in junit_cases(as_(Format.JUNIT, judged))]
    assert len(cases) == len(set(cases)) == 1 + len(judged.assessments[0].findings)


def test_two_findings_on_one_subject_stay_two(mixed: Report) -> None:
    found = mixed.assessments[0].findings[0]
    other = found.model_copy(update={"status": Status.FAIL, "message": "another"})
    doubled = with_findings(mixed, (found, other))
    names = [name for _, name, _, _ in junit_cases(as_(Format.JUNIT, doubled))[1:3]]
    assert names == [f"{found.check} [{found.subject}]", f"{found.check} [{found.subject} (2)]"]
    subjects = {
        sample.labels["subject"]
        for sample in samples(as_(Format.PROMETHEUS, doubled))
        if sample.labels.get("scenario") == doubled.assessments[0].scenario
        and "subject" in sample.labels
    }
    assert subjects == {found.subject, f"{found.subject} (2)"}


def test_prometheus_gives_every_budget_to_the_byte(mixed: Report) -> None:
    read = samples(as_(Format.PROMETHEUS, mixed))
    for item in mixed.assessments:
        for found in item.findings:
            labels = {
                "host": "box",
                "scenario": item.scenario,
                "check": found.check.value,
                "subject": found.subject or "",
            }
            here = {sample.name: sample.value for sample in read if sample.labels == labels}
            budget = found.budget
            expected = {
                "k3preflight_need_bytes": budget and budget.need,
                "k3preflight_have_bytes": budget and budget.have,
                "k3preflight_gap_bytes": budget and budget.gap,
            }
            coverage = here.pop("k3preflight_coverage_ratio", None)
            assert here == {name: value for name, value in expected.items() if value is not None}
            percent = budget.coverage_percent if budget else None
            assert coverage == (None if percent is None else percent / 100)
            states = [
                sample.labels["status"]
                for sample in read
                if sample.name == "k3preflight_check_status"
                and labels.items() <= sample.labels.items()
                and sample.value == 1
            ]
            assert states == [found.status]


def test_an_unknown_number_has_no_sample(mixed: Report) -> None:
    unknown = Budget.of(5, None)
    found = mixed.assessments[0].findings[0].model_copy(update={"budget": unknown})
    names = {
        sample.name
        for sample in samples(as_(Format.PROMETHEUS, with_findings(mixed, (found,))))
        if sample.labels.get("scenario") == mixed.assessments[0].scenario
    }
    assert "k3preflight_need_bytes" in names
    assert not names & {"k3preflight_have_bytes", "k3preflight_gap_bytes"}
    assert "k3preflight_coverage_ratio" not in names


def test_prometheus_names_one_verdict(mixed: Report) -> None:
    verdict = {
        sample.labels["status"]: sample.value
        for sample in samples(as_(Format.PROMETHEUS, mixed))
        if sample.name == "k3preflight_verdict"
    }
    assert verdict == {"pass": 0, "fail": 1, "unknown": 0}


def test_github_annotates_what_is_not_a_pass_the_worst_first(mixed: Report) -> None:
    text = as_(Format.GITHUB, mixed)
    read = annotations(text)
    assert len(read) == text.count("\n")
    assert read[0].level == "error"
    assert read[0].title == "k3preflight verdict"
    assert read[0].message.startswith("FAIL on box (every scenario named must fit).")
    loud = [
        (f"{item.scenario} {found.check}", found)
        for item in mixed.assessments
        for found in item.findings
        if found.status in {Status.WARN, Status.FAIL, Status.UNKNOWN}
    ]
    assert len(read) == 1 + len(loud)
    said = {(title, message.partition("\n")[0]) for _, title, message in read[1:]}
    assert said == {(title, f"{found.status.upper()}: {found.message}") for title, found in loud}
    levels = [annotation.level for annotation in read[1:]]
    assert levels == sorted(levels)
    assert {"error", "warning"} == set(levels)


def test_a_pass_is_one_notice() -> None:
    judged = with_findings(report(host(), "rabbit"), ())
    passed = judged.model_copy(
        update={"verdict": judged.verdict.model_copy(update={"status": Status.PASS})}
    )
    (only,) = annotations(as_(Format.GITHUB, passed))
    assert only.level == "notice"


def test_markdown_shows_the_table_and_every_finding_that_is_not_a_pass(mixed: Report) -> None:
    page = markdown_page(as_(Format.MARKDOWN, mixed))
    assert not page.open
    assert page.tags.count("tr") == 1 + len(mixed.assessments)
    assert page.tags.count("td") == 8 * len(mixed.assessments)
    for item in mixed.assessments:
        for found in item.findings:
            loud = found.status in {Status.WARN, Status.FAIL, Status.UNKNOWN}
            assert (found.message in page.text) == loud or not loud
            if loud and found.remedy:
                assert found.remedy in page.text
    for number in ("1920.28", "1900.00"):
        assert number in page.text


def test_commands_are_pasted_from_markdown_as_they_stand() -> None:
    judged = report(host(free=4000 * GB), "kimi-k3-in-c")
    page = markdown_page(as_(Format.MARKDOWN, judged))
    for command in judged.assessments[0].commands:
        assert command.run + "\n" in page.text


@pytest.mark.parametrize("form", [Format.TABLE, Format.MARKDOWN])
def test_quiet_is_what_is_not_a_pass_and_the_verdict(mixed: Report, form: Format) -> None:
    quiet = " ".join(as_(form, mixed, Detail.QUIET).split())
    assert "disk.capacity" in quiet
    assert "memory.minimum" in quiet
    assert "disk.path" not in quiet
    assert "git clone" not in quiet
    assert "Caveats" not in quiet
    assert "Verdict: FAIL" in quiet


@pytest.mark.parametrize("form", [Format.TABLE, Format.MARKDOWN])
def test_verbose_is_every_finding_with_items_and_sources(mixed: Report, form: Format) -> None:
    verbose = render(mixed, form, Screen(10_000, detail=Detail.VERBOSE)).replace("\\", "")
    for item in mixed.assessments:
        for found in item.findings:
            assert f"{found.check}" in verbose
            assert found.message in verbose
            for part in found.budget.items if found.budget else ():
                assert f"{part.name}: {part.source}" in verbose
                assert f"{part.bytes:,} B" in verbose


@pytest.mark.parametrize(
    "form", [form for form in Format if form not in {Format.TABLE, Format.MARKDOWN}]
)
def test_documents_for_programs_are_always_whole(mixed: Report, form: Format) -> None:
    assert as_(form, mixed, Detail.QUIET) == as_(form, mixed, Detail.VERBOSE)


def test_quiet_and_passing_is_the_verdict_alone() -> None:
    judged = with_findings(report(host(), "rabbit"), ())
    assert as_(Format.TABLE, judged, Detail.QUIET).startswith("Verdict: ")


@pytest.mark.parametrize(
    ("form", "module", "extra"),
    [(Format.JUNIT, "junitparser", "ci"), (Format.PROMETHEUS, "prometheus_client", "ci")],
)
def test_a_missing_extra_is_one_line_with_the_install_command(
    monkeypatch: pytest.MonkeyPatch, mixed: Report, form: Format, module: str, extra: str
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtraError) as caught:
        as_(form, mixed)
    assert caught.value.exit is Exit.USAGE
    assert str(caught.value) == f"--format {form} needs the {extra} extra, which is not installed"
    assert caught.value.hint == f"Install it: python -m pip install 'k3preflight[{extra}]'"


def test_check_ids_are_never_hard_coded_in_a_document(mixed: Report) -> None:
    """A finding of a check the renderers were never told of is shown like any other."""
    found = mixed.assessments[0].findings[0]
    new = found.model_copy(update={"check": CheckId.SPEED_STORAGE, "status": Status.FAIL})
    for form in Format:
        assert "speed.storage" in as_(form, with_findings(mixed, (new,)))
