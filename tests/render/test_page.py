"""The page opened in a real browser: quiet, whole, readable on a desktop and on a phone."""

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import pytest

from chromium import Tab, chromium
from factory import host, report
from hostile import SHOWN, many
from k3preflight.models.host import Host
from k3preflight.render import Format, Screen, render

pytestmark = pytest.mark.root
DATA = Path(__file__).parents[1] / "data"

# Elements whose content is wider than their own box, or that reach beyond the window.
CUT = """
[...document.querySelectorAll("body *")].filter(element =>
  !(element instanceof SVGElement) && (element.scrollWidth > element.clientWidth + 1
    && getComputedStyle(element).display !== "inline"
    || element.getBoundingClientRect().right > document.documentElement.clientWidth + 1
    || element.getBoundingClientRect().left < -1)
).map(element => element.outerHTML.slice(0, 120))
"""
# The lowest contrast of any text against what is painted behind it, by WCAG's formula.
CONTRAST = """
(() => {
  const light = colour => {
    const part = colour.match(/[\\d.]+/g).slice(0, 3).map(Number)
      .map(v => v / 255).map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * part[0] + 0.7152 * part[1] + 0.0722 * part[2];
  };
  const behind = element => {
    for (let at = element; at; at = at.parentElement) {
      const colour = getComputedStyle(at).backgroundColor;
      if (!/, 0\\)$/.test(colour)) return colour;
    }
    return "rgb(255, 255, 255)";
  };
  return Math.min(...[...document.querySelectorAll("body *")]
    .filter(element => [...element.childNodes].some(n => n.nodeType === 3 && n.data.trim()))
    .map(element => {
      const a = light(getComputedStyle(element).color), b = light(behind(element));
      return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    }));
})()
"""


@pytest.fixture(name="tab", scope="module")
def _tab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tab]:
    with chromium(tmp_path_factory.mktemp("browser")) as tab:
        yield tab


def pages(folder: Path) -> Iterator[Path]:
    machines = {
        path.stem: report(Host.model_validate_json(path.read_bytes()))
        for path in DATA.glob("host-*.json")
    }
    for name, judged in {**machines, "hostile": many(2), "none": many(0)}.items():
        path = folder / f"{name}.html"
        path.write_text(render(judged, Format.HTML, Screen()), encoding="utf-8")
        yield path


@pytest.mark.parametrize("width", [1280, 360])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_it_opens_quietly_and_nothing_is_cut(
    tab: Tab, tmp_path: Path, width: int, theme: Literal["light", "dark"]
) -> None:
    tab.complaints.clear()
    backgrounds = set()
    for path in pages(tmp_path):
        tab.open(path, width=width, theme=theme)
        assert tab.requests == [path.as_uri()]
        assert tab.value("document.documentElement.scrollWidth") <= width
        assert tab.value(CUT) == []
        assert tab.value(CONTRAST) >= 4.5  # WCAG AA
        assert tab.value("parseFloat(getComputedStyle(document.body).fontSize)") >= 16
        backgrounds.add(tab.value("getComputedStyle(document.body).backgroundColor"))
    assert tab.complaints == []
    assert backgrounds == {"rgb(255, 255, 255)" if theme == "light" else "rgb(20, 23, 27)"}


def test_the_complaints_would_be_seen(tab: Tab, tmp_path: Path) -> None:
    """What the tests above hold would fail on a page that is wrong."""
    path = tmp_path / "wrong.html"
    path.write_text(
        "<body><script>console.error('seen')</script><img src='none.png'>"
        "<p style='color:#999'>pale</p><div style='width:2000px'>wide</div>"
    )
    tab.complaints.clear()
    tab.open(path)
    assert any("seen" in text for text in tab.complaints)
    assert len(tab.requests) == 2
    assert tab.value(CUT)
    assert tab.value(CONTRAST) < 4.5
    tab.complaints.clear()


def test_bars_are_as_long_as_they_say(tab: Tab, tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_text(render(report(host()), Format.HTML, Screen()), encoding="utf-8")
    for width in (1280, 360):
        tab.open(path, width=width)
        drawn = tab.value(
            '[...document.querySelectorAll("rect.need, rect.have")].map(bar => ['
            "Number(bar.getAttribute('width')) / 1000, bar.getBoundingClientRect().width /"
            " bar.parentElement.getBoundingClientRect().width])"
        )
        assert drawn
        assert all(abs(said - seen) < 0.01 for said, seen in drawn)


def test_hostile_text_is_shown_and_does_nothing(tab: Tab, tmp_path: Path) -> None:
    path = tmp_path / "hostile.html"
    path.write_text(render(many(1), Format.HTML, Screen()), encoding="utf-8")
    tab.complaints.clear()
    tab.open(path)
    assert SHOWN in tab.value("document.body.textContent")
    assert tab.value("document.scripts.length") == 0
    assert tab.complaints == []


def test_it_prints_in_ink_on_white(tab: Tab, tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_text(render(report(host()), Format.HTML, Screen()), encoding="utf-8")
    tab.open(path, theme="dark")
    tab.print(tmp_path / "page.pdf")
    assert (tmp_path / "page.pdf").read_bytes().startswith(b"%PDF-")
    tab.open(path, theme="dark", media="print")
    assert tab.value("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert tab.value("getComputedStyle(document.body).color") == "rgb(0, 0, 0)"
    assert tab.value(CONTRAST) >= 4.5
