"""A profile that does not say what must be held in memory: never zero, never a pass."""

from pathlib import Path

import pytest

from conftest import Command
from k3preflight.profiles import catalog


@pytest.fixture
def unstated(tmp_path: Path) -> Path:
    """UD-IQ1_S without its memory parts and context limit, and without experts."""
    left_out = ("max_context", "context = ", "experts = ", "experts_per_token = 16")
    kept = []
    inside = False
    for line in catalog()["ud-iq1-s"].read_text().splitlines():
        inside = inside or line == "parts = ["
        if not inside and not line.startswith(left_out):
            kept.append(line)
        inside = inside and line != "]"
    file = tmp_path / "mine.toml"
    file.write_text("\n".join(kept))
    return file


WHAT_IF = ("--free-disk", "9 TB", "--memory", "9 TB")


def test_the_minimum_is_undetermined_however_much_memory_there_is(
    k3: Command, unstated: Path
) -> None:
    result = k3("check", "mine", "--profile-file", str(unstated), *WHAT_IF, "--format", "json")
    assert result.exit == 3
    by_check = {item["check"]: item for item in result.json["assessments"][0]["findings"]}
    assert by_check["memory.minimum"]["status"] == "unknown"
    assert "does not say what mine must hold" in by_check["memory.minimum"]["message"]
    assert "memory.parts" in by_check["memory.minimum"]["remedy"]
    assert by_check["memory.residency"]["status"] == "pass"  # the weights are known
    assert by_check["disk.capacity"]["status"] == "pass"


def test_the_rest_is_judged_where_the_minimum_is_left_out(k3: Command, unstated: Path) -> None:
    arguments = ("check", "mine", "--profile-file", str(unstated), "--skip", "memory.minimum")
    assert k3(*arguments, *WHAT_IF).exit == 0
    assert k3(*arguments, "--free-disk", "1 GB", "--memory", "9 TB").exit == 1


def test_no_sparsity_and_no_context_limit_are_claimed(k3: Command, unstated: Path) -> None:
    many = ("--context", "99000000")
    result = k3("check", "mine", "--profile-file", str(unstated), *WHAT_IF, *many)
    assert result.exit == 3
    assert "Routed experts" not in result.out
    assert k3("check", "ud-iq1-s", *WHAT_IF, *many).exit == 2


def test_the_largest_preset_is_not_one_whose_minimum_nobody_stated(
    k3: Command, tmp_path: Path
) -> None:
    text = catalog()["kimi-k3-in-c"].read_text()
    start = text.index("parts = [\n", text.index("[memory]"))
    file = tmp_path / "mine.toml"
    file.write_text(text[:start] + text[text.index("state = ", start) :])
    result = k3("check", "mine:largest", "--profile-file", str(file), *WHAT_IF, "--format", "json")
    assert result.exit == 3
    assert result.json["assessments"][0]["scenario"] == "mine:laptop"
