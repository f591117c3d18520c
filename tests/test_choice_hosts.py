"""The choice on machines people have: what they are told at the end of a bare check."""

import os
from pathlib import Path

import pytest

from factory import choices
from k3preflight.assess import assess
from k3preflight.models.host import Host
from k3preflight.models.report import Policy, Report
from k3preflight.profiles import catalog, unchosen
from k3preflight.render import Format, Screen, render

HOSTS = Path(__file__).parent / "data" / "choice"
FITS = {
    "laptop-8gb-2tb": [],
    "laptop-16gb-500gb": [],
    "workstation-two-drives": ["kimi-k3-in-c:laptop", "rabbit", "ud-iq1-s"],
    "mac-512gb": ["rabbit", "ud-iq1-s"],
    "container-64gb": ["kimi-k3-in-c:laptop", "rabbit", "ud-iq1-s"],
    "vm-without-avx2": ["rabbit", "ud-iq1-s"],
    "windows-128gb": ["ud-iq1-s"],
    "read-only-disk": [],
    "everything-fits": ["kimi-k3-in-c:laptop", "rabbit", "ud-iq1-s"],
    "nothing-fits": [],
    "two-tb-less-ext4-reserve": ["rabbit", "ud-iq1-s"],
    "download-at-90-percent": ["rabbit"],
}


def judged(name: str) -> Report:
    host = Host.model_validate_json((HOSTS / f"{name}.json").read_bytes())
    others = unchosen(choices(), catalog())
    return assess(choices(), host, Policy(), named=False, others=others)


@pytest.mark.parametrize("name", sorted(FITS))
def test_what_fits(name: str) -> None:
    assert sorted(judged(name).verdict.fits) == sorted(FITS[name])


@pytest.mark.parametrize("name", sorted(FITS))
def test_what_is_said(name: str) -> None:
    text = render(judged(name), Format.TABLE, Screen(100))
    golden = HOSTS / f"{name}.txt"
    if os.environ.get("REGENERATE"):
        golden.write_text(text, encoding="utf-8")
    assert text == golden.read_text(encoding="utf-8")


def test_every_recorded_machine_is_judged() -> None:
    assert {path.stem for path in HOSTS.glob("*.json")} == set(FITS)
    assert {path.stem for path in HOSTS.glob("*.txt")} == set(FITS)
