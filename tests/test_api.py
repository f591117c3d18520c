"""The Python API as its user sees it: a program in a file of its own, checked and run."""

import subprocess
import sys
from pathlib import Path

import pytest

from conftest import CHECKOUT
from factory import GB, host
from k3preflight import api

PROGRAM = '''
"""A provisioning tool that asks before it downloads."""

from pathlib import Path
from typing import assert_type

from k3preflight.api import (
    CheckId, Host, Policy, Profile, Report, Role, Status, UsageError, assess, load_profiles, probe,
)

profiles = load_profiles()
assert_type(profiles, dict[str, Profile])
assert_type(profiles["rabbit"].checkpoint.size.bytes, int)

host = probe("kimi-k3-in-c", directory=Path.cwd(), places={Role.TRUNK: [Path.cwd() / "fast"]})
assert_type(host, Host)
assert_type(host.memory.usable, int | None)
assert [place.requested for place in host.places] == [str(Path.cwd()), str(Path.cwd() / "fast")]

report = assess(host, "kimi-k3-in-c:laptop", policy=Policy(free_disk=2_000_000_000_000))
assert_type(report, Report)
assert_type(report.verdict.fits, tuple[str, ...])
capacity = report.assessments[0].of(CheckId.DISK_CAPACITY)[0]
assert capacity.status is Status.PASS
assert capacity.budget is not None
assert_type(capacity.budget.need, int)
assert Report.model_validate_json(report.model_dump_json()) == report
assert Host.model_validate_json(host.model_dump_json()) == host

try:
    assess(host, "kimi")
except UsageError as error:
    assert_type(error.message, str)
    assert_type(error.hint, str | None)
    print(error.message)
'''


@pytest.fixture(name="program")
def _program(tmp_path: Path) -> Path:
    path = tmp_path / "tool.py"
    path.write_text(PROGRAM)
    return path


def test_a_program_runs(program: Path) -> None:
    done = subprocess.run(
        [sys.executable, program], capture_output=True, text=True, check=False,
        cwd=program.parent, timeout=120,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("no profile is named 'kimi'; known: ")


def test_a_program_is_typed(program: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--cache-dir", "cache", program],
        capture_output=True, text=True, check=False, cwd=program.parent, timeout=300,
        env={"MYPYPATH": str(CHECKOUT / "src"), "PATH": "/usr/bin:/bin"},
    )  # fmt: skip
    assert done.stdout == "Success: no issues found in 1 source file\n"


def test_every_name_is_there() -> None:
    assert all(hasattr(api, name) for name in api.__all__)
    assert api.__doc__
    for name in ("assess", "load_profiles", "probe"):
        assert getattr(api, name).__doc__


def test_named_scenarios_must_all_fit_and_unnamed_ones_may() -> None:
    machine = host(free=700 * GB)
    named = api.assess(machine, "kimi-k3-in-c", "ud-iq1-s")
    assert (named.verdict.rule, named.verdict.status) == ("all", "fail")
    assert api.assess(machine).verdict.rule == "any"


def test_own_profiles_are_taken_by_name(tmp_path: Path) -> None:
    mine = tmp_path / "mine.toml"
    mine.write_bytes((CHECKOUT / "profiles" / "rabbit.toml").read_bytes())
    assert "mine" in api.load_profiles([mine])
    assert api.assess(host(), "mine", profile_files=[str(mine)]).assessments[0].scenario == "mine"
    assert api.probe("mine", directory=tmp_path, profile_files=[mine]).profiles == ("mine",)


def test_a_context_nobody_can_take_is_refused() -> None:
    with pytest.raises(api.UsageError, match="takes at most"):
        api.assess(host(), "kimi-k3-in-c", policy=api.Policy(context=40_000))
