"""Every exit code, through the real command, as table and as JSON."""

import io
import json
import os
import pty
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import Command
from factory import host
from k3preflight.__main__ import main
from k3preflight.cli import run

BIG = ("--free-disk", "2000 GB", "--memory", "128 GB")
RABBIT = Path(__file__).parents[2] / "profiles" / "rabbit.toml"


def test_0_fits(k3: Command) -> None:
    done = k3("check", "rabbit", *BIG, "--skip", "runtime.platform,runtime.cpu,runtime.tools")
    assert (done.exit, done.err) == (0, "")
    assert "Verdict: PASS" in done.out


def test_1_does_not_fit(k3: Command) -> None:
    done = k3("check", "rabbit", "--free-disk", "1 GB", "--format", "json")
    assert done.exit == 1
    verdict = done.json["verdict"]
    assert (verdict["rule"], verdict["status"], verdict["fits"]) == ("all", "fail", [])


USAGE = [
    (("check", "rabit"), "no profile is named 'rabit'"),
    (("check", "--context", "40000"), "kimi-k3-in-c:laptop takes at most 36,864 positions"),
    (("check", "--context", "-1"), "'--context'"),
    (("check", "--context", "many"), "'--context'"),
    (("check", "--dir", ""), "--dir is empty"),
    (("check", "ud-iq1-s", "--context", "1048577"), "ud-iq1-s takes at most 1,048,576 positions"),
    (("check", "--memory", "128"), "'128' is not a size: write a number and a unit"),
    (("check", "--free-disk", "1,560 GB"), "'1,560 GB' is not a size"),
    (("check", "--free-disk", "1 GB", "--write-probe"), "--write-probe with --free-disk"),
    (("check", "--headroom", "1.5"), "'1.5' is not a percent"),
    (("check", "--skip", "disk.capacity,disk.size"), "'disk.size' is not a check"),
    (("check", "--ignore", ""), "'' is not a check"),
    (("check", "--place", "trunk"), "'trunk' is not ROLE=PATH"),
    (("check", "--place", "cache=/x"), "'cache' is not a role; known: checkpoint, trunk"),
    (("check", "rabbit", "--place", "trunk=/x"), "none of rabbit has a trunk"),
    (
        ("check", "kimi-k3-in-c", "--place", "checkpoint=/a", "--place", "checkpoint=/b"),
        "kimi-k3-in-c cannot spread its checkpoint over 2 directories",
    ),
    (("check", "--bandwidth", "3.2"), "'3.2' is not a speed: write a number and a unit a second"),
    (("check", "--bandwidth", "0 GB/s"), "'0 GB/s' is not a usable speed"),
    (("check", "--bandwidth", "cache=1 GB/s"), "'cache' is not a role; known: checkpoint, trunk"),
    (("check", "rabbit", "--bandwidth", "trunk=1 GB/s"), "none of rabbit has a trunk"),
    (
        ("check", "--bandwidth", "1 GB/s", "--bandwidth", "2 GB/s"),
        "--bandwidth: two figures for every volume",
    ),
    (("check", "--max-seconds-per-token", "0"), "'0' is not a number of seconds"),
    (("check", "--host", "/none.json"), "--host /none.json: cannot be read"),
    (("check", "--host", "-"), "stdin: not a host document"),
    (("check", "--host", "-", "--dir", "/x"), "--host with --dir"),
    (("check", "--host", "-", "--place", "checkpoint=/x"), "--host with --place"),
    (("check", "--profile-file", "/none.toml", "none"), "/none.toml: cannot be read"),
    (("check", "--no-such-flag"), "No such option: --no-such-flag"),
    (("probe", "rabit"), "no profile is named 'rabit'"),
    (("profiles", "show", "rabit"), "no profile is named 'rabit'"),
    (("nothing",), "nothing"),
]


@pytest.mark.parametrize(("arguments", "message"), USAGE, ids=str)
def test_2_usage(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    arguments: tuple[str, ...],
    message: str,
) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO()))
    assert run([*arguments]) == 2
    out, err = capsys.readouterr()
    assert message in err
    assert err.count("\n") == 1
    if arguments[0] == "check":
        assert out == ""
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO()))
        assert run([*arguments, "--format=json"]) == 2
        document = json.loads(capsys.readouterr().out)
        assert set(document) == {"schema_version", "error"}
        assert message in document["error"]["message"]
        assert document["error"]["exit"] == 2


def test_2_is_what_the_process_ends_with(k3: Command) -> None:
    done = k3("check", "rabit", "--format", "json")
    assert done.exit == 2
    assert done.json["error"]["exit"] == 2
    assert "Traceback" not in done.err


def test_3_cannot_be_told(k3: Command) -> None:
    machine = host(free=None).model_copy(update={"volumes": ()})
    done = k3("check", "rabbit", "--host", "-", "--format", "json", stdin=machine.model_dump_json())
    assert done.exit == 3
    assert done.json["verdict"]["status"] == "unknown"
    (capacity,) = (
        item for item in done.json["assessments"][0]["findings"] if item["check"] == "disk.capacity"
    )
    assert capacity["budget"]["have"] is None
    assert capacity["budget"]["gap"] is None


BUG = """
import sys
from k3preflight import profiles
def broken(*_): raise ZeroDivisionError("of our own")
profiles.catalog = broken
from k3preflight.cli import run
sys.exit(run(sys.argv[1:]))
"""


def run_with_a_bug(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", BUG, *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_70_is_a_bug_of_ours_in_one_line() -> None:
    done = run_with_a_bug("check")
    assert done.returncode == 70
    assert "a bug of k3preflight's own: ZeroDivisionError: of our own" in done.stderr
    assert "--debug" in done.stderr
    assert done.stderr.count("\n") == 1
    assert "Traceback" in run_with_a_bug("check", "--debug").stderr


@pytest.mark.skipif(sys.platform == "win32", reason="signals are POSIX")
def test_130_interrupted(environment: dict[str, str], tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    process = subprocess.Popen(
        [sys.executable, "-m", "k3preflight", "check", "--host", str(fifo), "--format", "json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
    )
    writer = os.open(fifo, os.O_WRONLY)  # returns once the command has opened the other end
    process.send_signal(signal.SIGINT)
    os.close(writer)  # or a read that begins as the signal arrives would wait on, unaware of it
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert out == b""
    assert b"Traceback" not in err


def test_130_interrupted_while_starting(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt() -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr("k3preflight.cli.run", interrupt)
    assert main() == 130


def test_a_closed_pipe_keeps_the_verdicts_own_exit(
    environment: dict[str, str], tmp_path: Path
) -> None:
    for free, code in (("2000 GB", 0), ("1 GB", 1)):
        command = (
            f"{sys.executable} -m k3preflight check rabbit --memory '128 GB' --free-disk '{free}' "
            "--skip runtime.platform,runtime.cpu,runtime.tools --format json "
            "| head -c 1 >/dev/null; echo ${PIPESTATUS[0]}"
        )
        done = subprocess.run(
            ["bash", "-c", command],
            capture_output=True,
            text=True,
            env=environment,
            cwd=tmp_path,
            timeout=60,
            check=True,
        )
        assert (done.stdout.strip(), done.stderr) == (str(code), "")


def test_a_reader_that_is_gone_before_the_first_byte(environment: dict[str, str]) -> None:
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(
        [sys.executable, "-m", "k3preflight", "check", "--free-disk", "1 GB"],
        stdout=write,
        stderr=subprocess.PIPE,
        env=environment,
        timeout=60,
        check=False,
    )
    os.close(write)
    assert (done.returncode, done.stderr) == (1, b"")


def test_a_full_disk_under_stdout_is_said(environment: dict[str, str]) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "k3preflight", "check", "--free-disk", "1 GB"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            env=environment,
            timeout=60,
            check=False,
        )
    assert done.returncode == 2
    assert "the output cannot be written: No space left on device" in done.stderr
    assert "Traceback" not in done.stderr


def test_closed_standard_streams_are_no_error(environment: dict[str, str]) -> None:
    command = f"{sys.executable} -m k3preflight check --free-disk '1 GB' >&- 2>&-"
    done = subprocess.run(["bash", "-c", command], env=environment, timeout=60, check=False)
    assert done.returncode == 1


def test_a_terminal_gets_colour_and_a_pipe_none(environment: dict[str, str]) -> None:
    def on_terminal(**variables: str) -> bytes:
        leader, follower = pty.openpty()
        subprocess.run(
            [sys.executable, "-m", "k3preflight", "check", "--free-disk", "1 GB"],
            stdout=follower,
            env=environment | {"TERM": "xterm"} | variables,
            timeout=60,
            check=False,
        )
        os.close(follower)
        shown = b""
        while True:
            try:
                chunk = os.read(leader, 65536)
            except OSError:  # Linux says EIO once the other end is closed and all is read
                break
            if not chunk:
                break
            shown += chunk
        os.close(leader)
        return shown

    assert b"\x1b[" in on_terminal()
    assert b"\x1b" not in on_terminal(NO_COLOR="1")
    assert b"\x1b" not in on_terminal(TERM="dumb")


def test_a_pipe_never_gets_an_escape(k3: Command) -> None:
    for variables in ({}, {"FORCE_COLOR": "1"}, {"GITHUB_ACTIONS": "true"}):
        assert "\x1b" not in k3("check", "--free-disk", "1 GB", **variables).out
    assert "\x1b" not in k3("check", "--help", FORCE_COLOR="1").out


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252", "utf-8"])
def test_any_console_encoding(k3: Command, encoding: str, tmp_path: Path) -> None:
    folder = tmp_path / "größe-模型"
    folder.mkdir()
    for form in ("table", "json"):
        done = k3("check", "--dir", str(folder), "--format", form, PYTHONIOENCODING=encoding)
        assert done.exit == 1
        assert done.err == ""


def test_control_characters_in_paths_never_reach_the_terminal(k3: Command, tmp_path: Path) -> None:
    name = os.fsdecode(b"a\x1b[31m\n\xe9")
    (tmp_path / name).mkdir()
    for form in ("table", "json"):
        done = k3("check", "rabbit", "--dir", name, "--format", form, COLUMNS="300")
        assert "\x1b" not in done.out + done.err
        assert r"a\x1b[31m\x0a\xe9" in done.out.replace("\\\\", "\\")


def test_own_profiles_by_file(k3: Command, tmp_path: Path) -> None:
    mine = tmp_path / "mine.toml"
    mine.write_text(RABBIT.read_text())
    done = k3("check", "mine", "--profile-file", str(mine), *BIG, "--format", "json")
    assert done.json["assessments"][0]["scenario"] == "mine"
    mine.write_text("weights = 1")
    refused = k3("check", "mine", "--profile-file", str(mine))
    assert refused.exit == 2
    assert f"{mine}: " in refused.err
    assert "schema_version: Field required" in refused.err
