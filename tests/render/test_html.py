"""The page: whole in one file, nothing fetched, nothing run, every finding with bar and remedy."""

import re
import sys

import pytest

from factory import GB, host, report
from k3preflight.errors import MissingExtraError
from k3preflight.models.report import Budget, Report
from k3preflight.render import Format, Screen, render
from reading import Page


def page_of(judged: Report) -> str:
    return render(judged, Format.HTML, Screen())


@pytest.fixture(name="mixed")
def _mixed() -> Report:
    return report(host(free=1900 * GB, usable=None), "kimi-k3-in-c", "rabbit", "ud-iq1-s")


def test_every_finding_is_there_with_its_remedy_and_sources(mixed: Report) -> None:
    page = Page(page_of(mixed))
    assert page.open == []
    for item in mixed.assessments:
        assert item.title in page.text
        for found in item.findings:
            assert found.message in page.text
            assert (found.remedy or "") in page.text
            for part in found.budget.items if found.budget else ():
                assert f"{part.name}: {part.source}" in page.text
    assert mixed.verdict.obstacles
    for obstacle in mixed.verdict.obstacles:
        assert f"{obstacle.scenario}: " in page.text


def test_commands_of_what_fits_are_there_to_paste() -> None:
    judged = report(host(free=4000 * GB, usable=900 * GB), "ud-iq1-s")
    text = Page(page_of(judged)).text
    for command in judged.assessments[0].commands:
        assert command.run in text


def test_nothing_is_fetched_and_nothing_runs(mixed: Report) -> None:
    text = page_of(mixed)
    page = Page(text)
    assert not {"script", "iframe", "object", "embed", "form", "base"} & set(page.tags)
    for name, value in page.attributes:
        assert not name.startswith("on")
        if name in {"src", "href", "action"}:
            assert value.startswith(("#way-", "data:,"))
    policies = [value for name, value in page.attributes if name == "content"]
    assert any(value.startswith("default-src 'none'; ") for value in policies)
    assert not re.search(r"url\(|@import", text)


def first_bars(budget: Budget) -> tuple[list[str], str]:
    """Widths of the bars of one finding with this budget, and what is read out for them."""
    judged = report(host(), "rabbit")
    found = judged.assessments[0].findings[0].model_copy(update={"budget": budget})
    only = judged.assessments[0].model_copy(update={"findings": (found,)})
    text = page_of(judged.model_copy(update={"assessments": (only,)}))
    label = re.search(r'aria-label="([^"]*)"', text)
    assert label
    return re.findall(r'<rect class="(?:need|have)" width="(\d+)"', text), label[1]


@pytest.mark.parametrize(
    ("need", "have", "widths"),
    [
        (1000, 500, ["1000", "500"]),
        (500, 1000, ["500", "1000"]),
        (7, 7, ["1000", "1000"]),
        (2**63 - 1, 1, ["1000", "2"]),
        (5, 0, ["1000", "0"]),
        (0, 0, ["0", "0"]),
        (5, None, ["1000"]),
    ],
)
def test_bars_are_drawn_on_one_scale(need: int, have: int | None, widths: list[str]) -> None:
    drawn, label = first_bars(Budget.of(need, have))
    assert drawn == widths
    assert label.startswith("need ")
    assert ("have unknown, covered unknown" in label) == (have is None)


def test_a_page_without_a_host_or_scenarios_says_so_much() -> None:
    judged = report(host(), "rabbit").model_copy(update={"host": None, "assessments": ()})
    page = Page(page_of(judged))
    assert page.open == []
    assert not any(value.startswith("way-") for name, value in page.attributes if name == "id")
    assert "unnamed" in page.text


def test_the_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch, mixed: Report) -> None:
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(MissingExtraError) as caught:
        page_of(mixed)
    assert caught.value.hint == "Install it: python -m pip install 'k3preflight[html]'"
