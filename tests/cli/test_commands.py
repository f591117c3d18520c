"""The other commands: probe, profiles, schema, checks, version and help."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import CHECKOUT, Command
from k3preflight import __version__
from k3preflight.assess import CHECKS
from k3preflight.cli.out import write_file
from k3preflight.errors import UsageError


def test_version_and_help(k3: Command) -> None:
    assert k3("--version").out == f"k3preflight {__version__}\n"
    assert k3("--version").exit == 0
    shown = k3("--help")
    assert shown.exit == 0
    for command in ("check", "probe", "profiles", "schema", "checks"):
        assert command in shown.out
    assert k3("check", "-h").out.startswith("Usage: ")


@pytest.mark.parametrize("arguments", [(), ("profiles",)])
def test_without_a_command_the_help_is_shown_line_by_line(
    k3: Command, arguments: tuple[str, ...]
) -> None:
    done = k3(*arguments)
    assert done.exit == 2
    assert done.out == ""
    assert done.err.startswith("Usage: ")
    assert "\nCommands:\n" in done.err
    assert "Traceback" not in done.err


def test_probe_prints_one_host_document(k3: Command, tmp_path: Path) -> None:
    done = k3("probe", "kimi-k3-in-c", "--dir", "new/deep")
    assert done.exit == 0
    assert done.out.count("\n") == 1
    checkpoint, trunk = done.json["places"]
    assert checkpoint["requested"] == "new/deep"
    assert checkpoint["path"] == str(tmp_path / "new/deep")
    assert checkpoint["measured"] == str(tmp_path)
    assert checkpoint["exists"] is False
    assert trunk["path"] == str(tmp_path / "new/deep/trunk")
    assert not (tmp_path / "new").exists()
    usage = os.statvfs(tmp_path)
    (volume,) = done.json["volumes"]
    assert volume["total"] == usage.f_blocks * usage.f_frsize
    assert abs(volume["free"] - usage.f_bavail * usage.f_frsize) < 10**9


def test_a_host_document_is_judged_anywhere(k3: Command) -> None:
    probed = k3("probe", "rabbit")
    here = k3("check", "rabbit", "--format", "json")
    there = k3("check", "rabbit", "--host", "-", "--format", "json", stdin=probed.out)
    assert there.exit == here.exit
    assert there.json["verdict"]["status"] == here.json["verdict"]["status"]


def test_what_if_works_on_a_host_document(k3: Command) -> None:
    probed = k3("probe", "rabbit").out
    done = k3(
        "check", "rabbit", "--host", "-", "--memory", "128 GB", "--free-disk", "1 GB",
        "--format", "json", stdin=probed,
    )  # fmt: skip
    (only,) = done.json["assessments"]
    (capacity,) = (item for item in only["findings"] if item["check"] == "disk.capacity")
    assert capacity["budget"]["have"] == 10**9
    assert done.exit == 1


def test_probe_is_indented_on_a_terminal_only(environment: dict[str, str]) -> None:
    leader, follower = os.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "k3preflight", "probe", "rabbit"], stdout=follower, env=environment
    )
    os.close(follower)
    shown = b""
    while True:
        try:
            chunk = os.read(leader, 65536)
        except OSError:  # EIO: the other end is closed and all is read
            break
        shown += chunk
    os.close(leader)
    assert process.wait(60) == 0
    assert shown.startswith(b'{\r\n  "schema_version": 1')
    json.loads(shown)


def test_probe_errors_are_json_too(k3: Command) -> None:
    assert k3("probe", "rabit").json["error"]["hint"] == "Did you mean 'rabbit'?"


def test_a_file_for_a_directory_fails_the_path(k3: Command, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for path in ("file", "file/below"):
        done = k3("check", "rabbit", "--dir", path, "--format", "json")
        assert done.exit == 1
        findings = {item["check"]: item for item in done.json["assessments"][0]["findings"]}
        assert findings["disk.path"]["status"] == "fail"
        assert "is a file, not a directory" in findings["disk.path"]["message"]


def test_circles_and_long_names_fail_the_path(k3: Command, tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    for path, reason in (("a/x", "circle"), ("n" * 300, "too long")):
        done = k3("check", "rabbit", "--dir", path, "--format", "json")
        assert done.exit == 1
        (finding,) = (
            item for item in done.json["assessments"][0]["findings"] if item["check"] == "disk.path"
        )
        assert reason in finding["message"]


def test_profiles_list_and_show(k3: Command) -> None:
    for columns in ("60", "80", "200"):
        listed = k3("profiles", "list", COLUMNS=columns)
        assert listed.exit == 0
        assert all(name in listed.out for name in ("kimi-k3-in-c", "rabbit", "ud-iq1-s"))
    shown = k3("profiles", "show", "kimi-k3-in-c")
    assert "1,560,998,984,390 B" in shown.out
    assert "project-reported" in shown.out
    as_json = k3("profiles", "show", "kimi-k3-in-c", "--format", "json").json
    assert as_json["artifacts"][0]["size"]["bytes"] == 1_560_998_984_390
    assert k3("profiles", "show", "ud-iq1-s").exit == 0


def test_profiles_validate(k3: Command, tmp_path: Path) -> None:
    good = CHECKOUT / "profiles" / "rabbit.toml"
    bad = tmp_path / "bad.toml"
    bad.write_text("x = 1")
    assert k3("profiles", "validate", str(good)).out == f"{good}: valid, profile rabbit\n"
    refused = k3("profiles", "validate", str(good), str(bad))
    assert refused.exit == 2
    assert f"{bad}: " in refused.err
    assert "1 of 2 profile files refused" in refused.err


def test_checks_lists_what_is_judged(k3: Command) -> None:
    lines = k3("checks").out.splitlines()
    assert [line.split()[0] for line in lines] == [check.id for check in CHECKS]
    assert all(len(line.split()) > 3 for line in lines)


def test_output_is_written_whole_beside_stdout(k3: Command, tmp_path: Path) -> None:
    target = tmp_path / "report.json"
    done = k3("check", "rabbit", "--format", "json", "--output", str(target))
    assert json.loads(target.read_text())["verdict"] == done.json["verdict"]
    assert [path.name for path in tmp_path.iterdir()] == ["report.json"]


def test_output_that_cannot_be_written_changes_nothing(k3: Command, tmp_path: Path) -> None:
    done = k3("check", "rabbit", "--output", str(tmp_path / "none" / "report.json"))
    assert done.exit == 2
    assert "cannot be written: No such file or directory" in done.err
    done = k3("check", "rabbit", "--output", "/dev/full")
    assert done.exit == 2
    assert "No space left on device" in done.err


def test_a_file_that_was_there_keeps_its_mode(tmp_path: Path) -> None:
    target = tmp_path / "report"
    target.write_text("old")
    target.chmod(0o640)
    write_file(target, "new")
    assert target.read_text() == "new"
    assert target.stat().st_mode & 0o777 == 0o640
    (tmp_path / "folder").mkdir()
    with pytest.raises(UsageError, match="cannot be written"):
        write_file(tmp_path / "folder", "text")
    fresh = tmp_path / "fresh"
    write_file(fresh, "text")
    assert fresh.stat().st_mode & 0o777 == 0o644 & ~_umask()


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
