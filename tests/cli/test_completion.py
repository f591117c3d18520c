"""What the shell offers behind `check`: profile names, and presets behind a colon."""

import subprocess
import sys
from pathlib import Path

import pytest

from k3preflight.profiles import catalog

COMMAND = Path(sys.executable).parent / "k3preflight"  # what the shell's function calls


def offered(environment: dict[str, str], shell: str, typed: str) -> list[str]:
    """The words Typer's completion of `shell` offers for the last word typed."""
    words = f"k3preflight check {typed}"
    asked = {
        "_K3PREFLIGHT_COMPLETE": f"complete_{shell}",
        "COMP_WORDS": words,
        "COMP_CWORD": "2",
        "_TYPER_COMPLETE_ARGS": words,
        "_TYPER_COMPLETE_FISH_ACTION": "get-args",
    }
    done = subprocess.run(
        [COMMAND], env=environment | asked, capture_output=True, text=True, timeout=60, check=False
    )
    return done.stdout.split()


def test_bash_offers_profiles(environment: dict[str, str]) -> None:
    assert offered(environment, "bash", "ra") == ["rabbit"]
    assert offered(environment, "bash", "") == list(catalog())
    assert offered(environment, "bash", "zz") == []


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        ("kimi-k3-in-c:la", ["kimi-k3-in-c:laptop", "kimi-k3-in-c:largest"]),
        ("rabbit:", []),
        ("nobody:", []),
    ],
)
def test_fish_offers_presets_behind_a_colon(
    environment: dict[str, str], typed: str, words: list[str]
) -> None:
    assert offered(environment, "fish", typed) == words
