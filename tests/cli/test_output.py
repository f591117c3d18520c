"""--format, --output, --quiet, --verbose and the environment, through the real command."""

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest

from conftest import Command, Result
from factory import GB, host
from k3preflight.cli import run
from k3preflight.cli.out import write_file
from k3preflight.errors import UsageError
from k3preflight.render import Format
from reading import annotations, junit_cases, old_commands, samples

CHECK = ("check", "rabbit", "--memory", "128 GB", "--skip", "runtime.platform,runtime.cpu")
FITS = (*CHECK, "--free-disk", "2000 GB")
FAILS = (*CHECK, "--free-disk", "1 GB")


@pytest.fixture(name="unknown")
def _unknown(tmp_path: Path) -> tuple[str, ...]:
    """A check of a host whose memory is unknown."""
    path = tmp_path / "unknown.json"
    path.write_text(host(usable=None).model_dump_json())
    skipped = "runtime.platform,runtime.cpu,disk.path,disk.writable"
    return ("check", "rabbit", "--host", str(path), "--skip", skipped)


@pytest.mark.parametrize("form", Format)
def test_the_exit_does_not_depend_on_the_format(
    capsys: pytest.CaptureFixture[str], unknown: tuple[str, ...], form: Format
) -> None:
    def k3(*arguments: str) -> Result:
        exit_code = run(list(arguments))
        return Result(exit_code, *capsys.readouterr())

    chosen = ("--format", form.value)
    passed = k3(*FITS, *chosen)
    assert (passed.exit, passed.err) == (0, "")
    assert passed.out.endswith("\n")
    assert k3(*FAILS, *chosen).exit == 1
    assert k3(*FAILS, *chosen, "--fail-on", "never").exit == 0
    assert k3(*unknown, *chosen).exit == 3
    wrong = k3("check", "rabit", *chosen)
    assert wrong.exit == 2
    assert wrong.err.count("\n") == 1
    if form in {Format.JSON, Format.NDJSON}:
        assert wrong.out.count("\n") == 1
        assert wrong.json["error"]["exit"] == 2
    else:
        assert wrong.out == ""


def test_one_run_feeds_log_ci_and_metrics(k3: Command, tmp_path: Path) -> None:
    done = k3(
        *FAILS, "--format", "github", "--output", "junit=k3.xml", "--output", "prometheus=k3.prom",
        "--output", "report.txt", "--output", "json=a=b.json",
    )  # fmt: skip
    assert done.exit == 1
    assert annotations(done.out)[0].level == "error"
    assert junit_cases((tmp_path / "k3.xml").read_text())[0][2] == "failure"
    assert samples((tmp_path / "k3.prom").read_text())
    assert (tmp_path / "report.txt").read_text() == done.out  # a bare FILE takes --format
    assert json.loads((tmp_path / "a=b.json").read_text())["verdict"]["status"] == "fail"
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "a=b.json", "k3.prom", "k3.xml", "report.txt",
    ]  # fmt: skip


def test_the_part_before_the_sign_is_a_format_only_if_it_is_one(
    k3: Command, tmp_path: Path
) -> None:
    assert k3(*FITS, "--output", "name=x.json", "--output", "=y").exit == 0
    assert (tmp_path / "name=x.json").exists()
    assert (tmp_path / "=y").exists()
    for nothing in ("", "json="):
        done = k3(*FITS, "--output", nothing)
        assert done.exit == 2
        assert f"{nothing!r} names no file; write FILE or FORMAT=FILE" in done.err


def test_two_outputs_to_one_file_are_refused(k3: Command, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("report")
    done = k3(*FITS, "--output", "report", "--output", "json=link")
    assert done.exit == 2
    assert "--output link: named twice" in done.err
    assert not (tmp_path / "report").exists()


def test_a_file_has_the_mode_and_the_place_of_the_one_it_replaces(
    k3: Command, tmp_path: Path
) -> None:
    (tmp_path / "real").write_text("old")
    (tmp_path / "real").chmod(0o640)
    (tmp_path / "link").symlink_to("real")
    assert k3(*FITS, "--output", "json=link").exit == 0
    assert (tmp_path / "link").is_symlink()
    assert json.loads((tmp_path / "real").read_text())["schema_version"] == 1
    assert (tmp_path / "real").stat().st_mode & 0o777 == 0o640
    k3(*FITS, "--output", "json=new")
    mask = os.umask(0)
    os.umask(mask)
    assert (tmp_path / "new").stat().st_mode & 0o777 == 0o666 & ~mask


def test_a_file_holds_no_colour(tmp_path: Path, environment: dict[str, str]) -> None:
    leader, follower = os.openpty()
    subprocess.run(
        [sys.executable, "-m", "k3preflight", *FITS, "--output", "table=report"],
        stdout=follower, env=environment | {"TERM": "xterm"}, cwd=tmp_path, check=True, timeout=60,
    )  # fmt: skip
    os.close(follower)
    shown = b""
    while b"Verdict" not in shown:
        shown += os.read(leader, 65536)
    os.close(leader)
    assert b"\x1b[" in shown
    assert "\x1b" not in (tmp_path / "report").read_text()


def test_standard_streams_are_written_to_not_replaced(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    before = Path("/dev/stdout").readlink()
    with (tmp_path / "log").open("w") as log:
        subprocess.run(
            [sys.executable, "-m", "k3preflight", *FITS, "-q", "--output", "github=/dev/stderr"],
            stdout=subprocess.DEVNULL, stderr=log, env=environment, check=True, timeout=60,
        )  # fmt: skip
    assert annotations((tmp_path / "log").read_text())
    assert Path("/dev/stdout").readlink() == before


def test_a_named_pipe_is_written_to(k3: Command, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with ThreadPoolExecutor(1) as pool:
        reading = pool.submit((tmp_path / "pipe").read_text)
        assert k3(*FITS, "--output", "json=pipe").exit == 0
        assert json.loads(reading.result(60))["schema_version"] == 1
    assert (tmp_path / "pipe").is_fifo()


@pytest.mark.parametrize("path", ["none/report", ".", "report/below", "/proc/report", "x" * 300])
def test_an_output_that_cannot_be_written_is_usage(k3: Command, tmp_path: Path, path: str) -> None:
    (tmp_path / "report").write_text("old")
    done = k3(*FITS, "--format", "json", "--output", path)
    assert done.exit == 2
    assert f"--output {path}: cannot be written: " in done.err
    assert done.json["error"]["exit"] == 2
    assert [entry.name for entry in tmp_path.iterdir()] == ["report"]
    assert (tmp_path / "report").read_text() == "old"


def test_what_cannot_be_made_leaves_no_file(k3: Command, tmp_path: Path) -> None:
    (tmp_path / "hidden" / "junitparser").mkdir(parents=True)
    (tmp_path / "hidden" / "junitparser" / "__init__.py").write_text(
        "raise ModuleNotFoundError('junitparser')"
    )
    done = k3(
        *FITS, "--output", "json=report", "--output", "junit=k3.xml",
        PYTHONPATH=str(tmp_path / "hidden"),
    )  # fmt: skip
    assert done.exit == 2
    assert done.err == (
        "k3preflight: --format junit needs the ci extra, which is not installed. "
        "Install it: python -m pip install 'k3preflight[ci]'\n"
    )
    assert sorted(path.name for path in tmp_path.iterdir()) == ["hidden"]


def test_two_runs_may_write_one_file_at_once(k3: Command, tmp_path: Path) -> None:
    def written(free: str) -> int:
        return k3(*CHECK, "--free-disk", free, "--output", "prometheus=k3.prom").exit

    sizes = ["2000 GB", "1 GB", "3000 GB", "2 GB"]
    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(written, sizes)) == [0, 1, 0, 1]
    assert [path.name for path in tmp_path.iterdir()] == ["k3.prom"]
    have = {
        sample.value
        for sample in samples((tmp_path / "k3.prom").read_text())
        if sample.name == "k3preflight_have_bytes" and sample.labels["check"] == "disk.capacity"
    }
    assert len(have) == 1  # one run's file, whole
    assert have < {2000 * GB, GB, 3000 * GB, 2 * GB}


def test_a_reader_never_sees_half_a_file(tmp_path: Path) -> None:
    path = tmp_path / "report"
    write_file(path, "a" * 1_000_000)
    seen = set()

    def write() -> None:
        for letter in "bcdefgh":
            write_file(path, letter * 1_000_000)

    with ThreadPoolExecutor(1) as pool:
        writing = pool.submit(write)
        while not writing.done():
            seen.add(path.read_text())
    writing.result()
    assert {len(text) for text in seen} == {1_000_000}
    assert all(len(set(text)) == 1 for text in seen)


def test_a_temporary_file_is_not_taken_for_a_result(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[str] = []
    monkeypatch.setattr(os, "fsync", lambda _: seen.extend(p.name for p in tmp_path.iterdir()))
    write_file(tmp_path / "k3.prom", "text")
    (temporary,) = seen
    assert temporary.startswith(".")
    assert not temporary.endswith(".prom")


@pytest.mark.parametrize("form", Format)
def test_a_closed_pipe_is_quiet_and_keeps_the_exit(
    environment: dict[str, str], tmp_path: Path, form: Format
) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "k3preflight", *FAILS, "--format", form, "--output", "json=report"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment, cwd=tmp_path,
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    said = process.stderr.read()
    process.stderr.close()
    assert process.wait(60) == 1
    assert said == b""
    assert (tmp_path / "report").exists()


def test_stdout_on_a_full_disk_is_usage(environment: dict[str, str]) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "k3preflight", *FITS],
            stdout=full, stderr=subprocess.PIPE, text=True, env=environment, check=False,
            timeout=60,
        )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr == ("k3preflight: the output cannot be written: No space left on device\n")


def test_an_error_that_cannot_be_printed_either_is_still_its_own_exit(
    environment: dict[str, str],
) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "k3preflight", "check", "rabit", "--format", "json"],
            stdout=full, stderr=subprocess.PIPE, text=True, env=environment, check=False,
            timeout=60,
        )  # fmt: skip
    assert done.returncode == 2
    first, second = done.stderr.splitlines()
    assert "no profile is named 'rabit'" in first
    assert second == "k3preflight: the output cannot be written: No space left on device"


def test_real_paths_of_any_spelling_are_checked(k3: Command, tmp_path: Path) -> None:
    """Directories on this disk, not documents: probed, judged and shown in every format."""
    name = "<a href='x'>&amp;\"\n::error::[b]##[error]\x1b[31mé漢\udcff"
    (tmp_path / name).mkdir()
    for form in Format:
        done = k3("check", "rabbit", "--dir", name, "--format", form.value)
        assert done.exit in {0, 1}
        assert done.err == ""
        assert "\x1b" not in done.out
        assert old_commands(done.out) == []
        if form is not Format.GITHUB:
            assert annotations(done.out) == []
    assert [path.name for path in tmp_path.iterdir()] == [name]


@pytest.mark.root
@pytest.mark.parametrize("form", [Format.JSON, Format.JUNIT])
def test_a_full_disk_keeps_the_old_file(k3: Command, tmp_path: Path, form: Format) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "k3preflight-full", disk], check=True)
    try:
        (disk / "report").write_text("old")
        fill = b"x" * 4096
        with (disk / "filler").open("wb", buffering=0) as stream, suppress(OSError):
            while True:  # until nothing is free
                stream.write(fill)
        done = k3(*FITS, "--output", f"{form}={disk}/report")
        assert done.exit == 2
        assert f"--output {disk}/report: cannot be written: No space left on device" in done.err
        assert (disk / "report").read_text() == "old"
        assert sorted(path.name for path in disk.iterdir()) == ["filler", "report"]
    finally:
        subprocess.run(["umount", disk], check=True)


def test_quiet_and_verbose(k3: Command) -> None:
    quiet, verbose = k3(*FAILS, "-q"), k3(*FAILS, "--verbose")
    assert "FAIL disk.capacity" in quiet.out
    assert "memory.minimum" not in quiet.out
    assert "Verdict: FAIL" in quiet.out
    assert len(quiet.out) < len(verbose.out) / 3
    assert "PASS memory.minimum" in verbose.out
    both = k3(*FAILS, "-qv")
    assert both.exit == 2
    assert "--quiet with --verbose" in both.err


ENVIRONMENT = {
    "K3PREFLIGHT_DIR": "/srv/k3",
    "K3PREFLIGHT_MEMORY": "64 GB",
    "K3PREFLIGHT_HEADROOM": "7",
    "K3PREFLIGHT_FORMAT": "json",
    "K3PREFLIGHT_FAIL_ON": "never",
}


def test_the_environment_stands_for_flags(k3: Command) -> None:
    done = k3("check", "rabbit", "--free-disk", "1 GB", **ENVIRONMENT)
    assert done.exit == 0
    assert done.json["host"]["places"][0]["requested"] == "/srv/k3"
    assert done.json["policy"]["memory"] == 64 * GB
    assert done.json["policy"]["headroom_percent"] == 7
    assert done.json["verdict"]["status"] == "fail"


def test_a_flag_wins_over_the_environment(k3: Command) -> None:
    done = k3(
        "check", "rabbit", "--free-disk", "1 GB", "--dir", "/here", "--memory", "32 GB",
        "--headroom", "3", "--fail-on", "fail", "--format", "ndjson", **ENVIRONMENT,
    )  # fmt: skip
    assert done.exit == 1
    assert done.out.count("\n") == 1
    assert done.json["host"]["places"][0]["requested"] == "/here"
    assert (done.json["policy"]["memory"], done.json["policy"]["headroom_percent"]) == (32 * GB, 3)


def test_an_empty_variable_is_none(k3: Command) -> None:
    done = k3(*FITS, **dict.fromkeys(ENVIRONMENT, ""))
    assert done.exit == 0
    assert "Verdict: PASS" in done.out


def test_help_shows_the_environment(k3: Command) -> None:
    shown = " ".join(k3("check", "--help").out.split())
    for name in ENVIRONMENT:
        assert f"[env var: {name}" in shown


def test_the_directory_of_the_environment_is_ignored_with_a_host_document(
    k3: Command, unknown: tuple[str, ...]
) -> None:
    assert k3(*unknown, K3PREFLIGHT_DIR="/srv/k3").exit == 3
    assert k3(*unknown, "--dir", "/srv/k3", K3PREFLIGHT_DIR="/srv/k3").exit == 2


@pytest.mark.parametrize("name", [*ENVIRONMENT][1:])
def test_a_wrong_variable_is_usage_and_named(k3: Command, name: str) -> None:
    done = k3(*("check", "rabbit", "--free-disk", "1 GB"), **{name: "wrong"})
    assert done.exit == 2
    assert name in done.err


@pytest.mark.parametrize(
    ("arguments", "variables", "document"),
    [
        (("check", "rabit"), {"K3PREFLIGHT_FORMAT": "json"}, True),
        (("check", "rabit"), {"K3PREFLIGHT_FORMAT": "ndjson"}, True),
        (("check", "rabit", "--format", "table"), {"K3PREFLIGHT_FORMAT": "json"}, False),
        (("check", "--format=json", "rabit"), {}, True),
        (("check", "--format", "json", "--format", "table", "rabit"), {}, False),
        (("check", "rabit", "--", "--format=json"), {}, False),
        (("probe", "rabit"), {"K3PREFLIGHT_FORMAT": "table"}, True),
        (("profiles", "show", "rabit"), {"K3PREFLIGHT_FORMAT": "json"}, False),
        (("--wrong", "probe"), {}, True),
        (("--wrong", "check", "--format", "json"), {}, True),
        (("check", "--format"), {}, False),
    ],
)
def test_an_error_is_a_document_where_json_is_wanted(
    k3: Command, arguments: tuple[str, ...], variables: dict[str, str], document: bool
) -> None:
    done = k3(*arguments, **variables)
    assert done.exit == 2
    assert bool(done.out) == document
    if document:
        assert done.json["error"]["exit"] == 2


def test_a_link_loop_is_replaced_or_refused_but_never_a_crash(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to("loop")
    try:
        write_file(tmp_path / "loop", "text")
    except UsageError as error:
        assert "cannot be written" in error.message  # noqa: PT017 - either answer is right
    else:
        assert (tmp_path / "loop").read_text() == "text"
