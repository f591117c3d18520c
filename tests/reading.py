"""The formats read back as their consumers read them, written from those consumers' own rules."""

import re
import xml.etree.ElementTree as ET
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import NamedTuple

import xmlschema
from markdown_it import MarkdownIt
from prometheus_client.parser import text_string_to_metric_families

_VOID = {"br", "hr", "img", "meta", "link", "input"}


class Annotation(NamedTuple):
    """One workflow command as the Actions runner takes it from a log line."""

    level: str
    title: str
    message: str


def annotations(log: str) -> list[Annotation]:
    """Every workflow command in `log`: `::name properties::data` at a line's start after spaces."""
    found = []
    for line in log.split("\n"):
        match = re.match(r"\s*::(\w[\w-]*)(?: ([^\n]*?))?::(.*)\Z", line)
        if match:
            properties = dict(pair.partition("=")[::2] for pair in (match[2] or "").split(","))
            title = _unescaped(properties.get("title", ""), ":,")
            found.append(Annotation(match[1], title, _unescaped(match[3], "")))
    return found


def _unescaped(text: str, more: str) -> str:
    for char in "\r\n" + more + "%":
        text = text.replace(f"%{ord(char):02X}", char)
    return text


def old_commands(log: str) -> list[str]:
    """The older spelling, `##[name]`, which runners take from anywhere in a line."""
    return re.findall(r"##\[[^\]\n]*\]", log)


class Page(HTMLParser):
    """Tags, attributes and text of an HTML document."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self.open: list[str] = []
        self.text = ""
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(name, value or "") for name, value in attrs]
        if tag not in _VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def markdown_page(text: str) -> Page:
    """Markdown as a lenient renderer shows it: CommonMark, tables, and raw HTML let through."""
    rules = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    return Page(rules.render(text))


@cache
def junit_schema() -> xmlschema.XMLSchema10:
    """The schema by which Jenkins' xUnit plugin accepts or refuses a file."""
    return xmlschema.XMLSchema10(Path(__file__).parent / "data" / "junit-10.xsd")


def junit_cases(text: str) -> list[tuple[str, str, str, str]]:
    """(classname, name, result, text) of each test case."""
    cases = []
    for case in ET.fromstring(text).iter("testcase"):  # noqa: S314 - our own output
        (result,) = case
        said = result.get("message") or result.text or ""
        cases.append((case.attrib["classname"], case.attrib["name"], result.tag, said))
    return cases


class Sample(NamedTuple):
    """One line of a metrics file."""

    name: str
    labels: dict[str, str]
    value: float


def samples(text: str) -> list[Sample]:
    """Every sample, by the parser of prometheus_client."""
    return [
        Sample(sample.name, dict(sample.labels), sample.value)
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    ]
