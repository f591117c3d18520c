"""Exact output for three machines; REGENERATE=1 writes it again, to be read in the diff."""

import os
from pathlib import Path

import pytest

from factory import choices
from k3preflight.assess import assess
from k3preflight.models.host import Host
from k3preflight.models.report import Policy, Report
from k3preflight.render import Detail, Format, Screen, render

DATA = Path(__file__).parent / "data"
GOLDEN = Path(__file__).parent / "golden"
HOSTS = ("laptop-8gb", "workstation-128gb", "server-640gb")
SUFFIX = {
    Format.TABLE: "txt",
    Format.JSON: "json",
    Format.MARKDOWN: "md",
    Format.JUNIT: "xml",
    Format.GITHUB: "github.txt",
    Format.PROMETHEUS: "prom",
    Format.HTML: "html",
}


def report_on(name: str) -> Report:
    host = Host.model_validate_json((DATA / f"host-{name}.json").read_bytes())
    return assess(choices(), host, Policy(), named=False)


def compare(name: str, text: str) -> None:
    path = GOLDEN / name
    if os.environ.get("REGENERATE"):
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", HOSTS)
@pytest.mark.parametrize("width", [60, 80, 200])
def test_table(name: str, width: int) -> None:
    compare(f"{name}-{width}.txt", render(report_on(name), Format.TABLE, Screen(width)))


@pytest.mark.parametrize("detail", [Detail.QUIET, Detail.VERBOSE])
@pytest.mark.parametrize("form", [Format.TABLE, Format.MARKDOWN])
def test_detail(form: Format, detail: Detail) -> None:
    text = render(report_on("laptop-8gb"), form, Screen(80, detail=detail))
    compare(f"laptop-8gb-{detail}.{SUFFIX[form]}", text)


@pytest.mark.parametrize("form", [form for form in SUFFIX if form is not Format.TABLE])
def test_format(form: Format) -> None:
    compare(f"laptop-8gb.{SUFFIX[form]}", render(report_on("laptop-8gb"), form, Screen()))


def test_every_golden_file_is_compared() -> None:
    tables = {f"{name}-{width}.txt" for name in HOSTS for width in (60, 80, 200)}
    details = {
        f"laptop-8gb-{level}.{end}" for level in ("quiet", "verbose") for end in ("txt", "md")
    }
    forms = {f"laptop-8gb.{end}" for end in SUFFIX.values() if end != "txt"}
    assert {path.name for path in GOLDEN.iterdir()} == tables | details | forms
