"""Text from an untrusted machine stays text, in every format."""

import json
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hostile import SHOWN, hostile_report, many
from k3preflight.models.names import Status
from k3preflight.models.report import Report
from k3preflight.render import Detail, Format, Screen, render
from k3preflight.text import visible
from reading import (
    Page,
    annotations,
    junit_cases,
    junit_schema,
    markdown_page,
    old_commands,
    samples,
)

CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
HTML_TAGS = {
    "html", "head", "meta", "link", "title", "style", "body", "header", "main", "footer", "section",
    "h1", "h2", "p", "dl", "dt", "dd", "ul", "li", "a", "span", "b", "div", "svg", "rect", "pre",
}  # fmt: skip
MARKDOWN_TAGS = {
    "h2", "h3", "p", "strong", "table", "thead", "tbody", "tr", "th", "td", "ul", "li", "pre",
    "code",
}  # fmt: skip


def every_rendering(judged: Report, form: Format) -> list[str]:
    screens = {
        Format.TABLE: [
            Screen(20, detail=Detail.VERBOSE),
            Screen(60, color=True),
            Screen(200, detail=Detail.QUIET),
        ],
        Format.MARKDOWN: [Screen(detail=Detail.VERBOSE), Screen(detail=Detail.QUIET)],
    }
    return [render(judged, form, screen) for screen in screens.get(form, [Screen()])]


def assert_harmless(text: str, form: Format) -> None:
    assert text.endswith("\n")
    text.encode()
    assert old_commands(text) == []
    plain = re.sub(r"\x1b\[[0-9;]*m", "", text) if form is Format.TABLE else text
    assert not CONTROL.search(plain)
    if form is not Format.GITHUB:
        assert annotations(plain) == []


@pytest.mark.parametrize("number", [0, 1, 50])
@pytest.mark.parametrize("form", Format)
def test_nothing_is_injected_in_any_number_of_scenarios(form: Format, number: int) -> None:
    for text in every_rendering(many(number), form):
        assert_harmless(text, form)


@pytest.mark.parametrize("number", [0, 1, 50])
def test_markdown_shows_it_letter_by_letter(number: int) -> None:
    page = markdown_page(render(many(number), Format.MARKDOWN, Screen(detail=Detail.VERBOSE)))
    assert set(page.tags) <= MARKDOWN_TAGS
    assert {name for name, _ in page.attributes} <= {"style", "class"}
    text = page.text.replace("\u200b", "")
    assert f"k3preflight: {many(number).verdict.status.upper()} on {SHOWN}" in text
    assert page.tags.count("tr") == (number + 1 if number else 0)
    assert "@everyone" not in page.text


@pytest.mark.parametrize("number", [0, 1, 50])
def test_junit_holds_it_as_text(number: int) -> None:
    judged = many(number)
    text = render(judged, Format.JUNIT, Screen())
    junit_schema().validate(text)
    cases = junit_cases(text)
    assert len(cases) == 1 + sum(len(item.findings) for item in judged.assessments)
    if number:
        assert any(SHOWN in said for _, _, _, said in cases[1:])
        assert any(f"[{SHOWN}]" in name for _, name, _, _ in cases[1:])


@pytest.mark.parametrize("number", [0, 1, 50])
def test_prometheus_holds_it_as_a_label(number: int) -> None:
    judged = many(number)
    read = samples(render(judged, Format.PROMETHEUS, Screen()))
    assert {sample.labels["host"] for sample in read} == {SHOWN}
    verdicts = [sample.value for sample in read if sample.name == "k3preflight_verdict"]
    assert len(verdicts) == 3
    assert sum(verdicts) == 1
    findings = sum(len(item.findings) for item in judged.assessments)
    states = [sample for sample in read if sample.name == "k3preflight_check_status"]
    assert len(states) == 5 * findings


@pytest.mark.parametrize("number", [0, 1, 50])
def test_github_holds_it_inside_its_own_annotations(number: int) -> None:
    judged = many(number)
    text = render(judged, Format.GITHUB, Screen())
    read = annotations(text)
    loud = [
        found
        for item in judged.assessments
        for found in item.findings
        if found.status in {Status.WARN, Status.FAIL, Status.UNKNOWN}
    ]
    assert len(read) == text.count("\n") == 1 + len(loud)
    assert f"on {SHOWN} (" in read[0].message
    assert {found.message for found in loud} == {
        annotation.message.partition("\n")[0].partition(": ")[2] for annotation in read[1:]
    }


@pytest.mark.parametrize("number", [0, 1, 50])
def test_html_shows_it_letter_by_letter(number: int) -> None:
    page = Page(render(many(number), Format.HTML, Screen()))
    assert page.open == []
    assert set(page.tags) <= HTML_TAGS
    assert f"Kimi K3 on {SHOWN}" in page.text
    # one a scenario, the caveats, and what would let the others fit where there are others
    assert page.tags.count("section") == number + (number > 0) + (number > 1)
    assert not any(name.startswith("on") for name, _ in page.attributes)


def test_json_holds_it_as_a_string() -> None:
    for form in (Format.JSON, Format.NDJSON):
        assert json.loads(render(many(1), form, Screen()))["host"]["name"] == SHOWN


@given(st.text(max_size=60))
@settings(max_examples=25, deadline=None)
def test_no_text_breaks_a_document(text: str) -> None:
    judged = hostile_report(text, "rabbit")
    shown = visible(text)
    for form in Format:
        assert_harmless(render(judged, form, Screen(40)), form)
    assert json.loads(render(judged, Format.JSON, Screen()))["host"]["name"] == shown
    read = samples(render(judged, Format.PROMETHEUS, Screen()))
    assert {sample.labels["host"] for sample in read} == {shown or "unnamed"}
    junit_schema().validate(render(judged, Format.JUNIT, Screen()))
    page = markdown_page(render(judged, Format.MARKDOWN, Screen()))
    assert set(page.tags) <= MARKDOWN_TAGS
    page = Page(render(judged, Format.HTML, Screen()))
    assert set(page.tags) <= HTML_TAGS
    assert page.open == []
