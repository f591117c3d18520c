"""Text from an untrusted machine stays text, in every format."""

import json
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from factory import choices, host
from k3preflight.assess import assess
from k3preflight.models.host import Host
from k3preflight.models.names import Status
from k3preflight.models.report import Policy, Report
from k3preflight.render import Detail, Format, Screen, render
from k3preflight.text import visible
from reading import annotations, junit_cases, junit_schema, markdown_page, old_commands, samples

HOSTILE = (
    "::error::pwned <script>alert(1)</script> <b>&amp;\"' \n::error title=x::y\r\n##[error]z "
    "[a](http://b) [bold red]c[/] \x1b[31m\x1b]8;;http://d\x07 \x9b2J `e` | f @everyone #1 "
    'é漢字 \u202egnp ]]> <!-- \\ "} 1\nk3preflight_verdict{status="pass"} 1 %0A::error::g ~~h~~ $i$'
    " \udcff\ufffe\x00{{ 7*7 }} {% raw %} :smile: *j* _k_ &lt; \\x1b -- ```"
)
SHOWN = visible(HOSTILE)
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
MARKDOWN_TAGS = {
    "h2", "h3", "p", "strong", "table", "thead", "tbody", "tr", "th", "td", "ul", "li", "pre",
    "code",
}  # fmt: skip


def hostile_report(text: str, *names: str) -> Report:
    """A report on a host document in which every text that can be is `text`."""
    facts = json.loads(host(usable=None, free=None).model_dump_json())
    for place in facts["places"]:
        place |= {"path": text, "requested": text, "decided_by": text, "resolved": text}
        place |= {"measured": text, "volume": text}
    for volume in facts["volumes"]:
        volume |= {"id": text, "mount_point": text, "device": text, "filesystem": text}
    facts |= {"name": text, "unknown": [{"fact": "memory.usable", "reason": text}]}
    facts["system"] = {"system": text, "machine": text, "release": text}
    facts["memory"] |= {"usable_from": text}
    return assess(choices(*names), Host.model_validate(facts), Policy(), named=bool(names))


def many(number: int) -> Report:
    """A hostile report with this many scenarios."""
    judged = hostile_report(HOSTILE)
    first = judged.assessments[0]
    items = tuple(first.model_copy(update={"scenario": f"way-{index}"}) for index in range(number))
    verdict = judged.verdict
    if not items:
        verdict = verdict.model_copy(update={"status": Status.UNKNOWN, "nearest_miss": None})
    return judged.model_copy(update={"assessments": items, "verdict": verdict})


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
