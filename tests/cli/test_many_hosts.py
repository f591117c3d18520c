"""Many host documents through the real command: rows, exits, streams, and hostile documents."""

import json
import os
import re
import select
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from conftest import Command
from factory import GB, host
from k3preflight.models.names import CheckId
from k3preflight.render import Format

# Disk and memory decide here; what else these hosts have is another test's subject.
OTHERS = ",".join(check for check in CheckId if not check.startswith(("disk.cap", "memory.")))
CHECK = ("check", "rabbit", "--skip", OTHERS)
HOSTS = {
    "pass": host(2000 * GB, 128 * GB),
    "warn": host(2000 * GB, 40 * GB),
    "fail": host(1 * GB, 128 * GB),
    "unknown": host(None, 128 * GB),
}


def document(kind: str, name: str = "box") -> str:
    return HOSTS[kind].model_copy(update={"name": name}).model_dump_json() + "\n"


def reports(out: str) -> list[Any]:
    return [json.loads(line) for line in out.splitlines()]


@pytest.mark.parametrize(
    ("kinds", "fail_on", "code"),
    [
        ("pass pass", "fail", 0),
        ("pass warn", "fail", 0),
        ("pass fail", "fail", 1),
        ("pass unknown", "fail", 3),
        ("unknown fail pass", "fail", 1),
        ("pass broken", "fail", 3),
        ("broken fail", "fail", 1),
        ("broken broken", "fail", 3),
        ("pass warn", "warn", 1),
        ("pass pass", "warn", 0),
        ("warn unknown", "warn", 1),
        ("pass fail", "never", 0),
        ("pass broken", "never", 3),
        ("fail broken", "never", 0),
    ],
)
@pytest.mark.parametrize("form", ["table", "ndjson"])
def test_every_host_must_pass(k3: Command, kinds: str, fail_on: str, code: int, form: str) -> None:
    broken = '{"no": "host"}\n'
    stream = "".join(broken if kind == "broken" else document(kind) for kind in kinds.split())
    done = k3(*CHECK, "--host", "-", "--fail-on", fail_on, "--format", form, stdin=stream)
    assert (done.exit, done.err) == (code, "")


def test_ndjson_is_the_report_of_each_host(k3: Command, tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(document("pass", "a"))
    (tmp_path / "b.json").write_text(document("fail", "b"))
    several = k3(
        *CHECK, "--host", "b.json", "--host", "a.json", "--host", "nope.json", "--format", "ndjson"
    )
    b, a, nope = reports(several.out)
    for name, report in (("a", a), ("b", b)):
        alone = k3(*CHECK, "--host", f"{name}.json", "--format", "json").json
        assert report == alone
        assert report["document"] == f"{name}.json"
    assert nope["host"] is None
    assert nope["document"] == "nope.json"
    assert nope["problem"] == "nope.json: cannot be read: No such file or directory"
    assert nope["verdict"]["status"] == "unknown"


def test_no_scenario_named_is_any_way_on_each_host(k3: Command) -> None:
    stream = document("pass", "a") + document("fail", "b")
    done = k3("check", *CHECK[2:], "--host", "-", "--format", "ndjson", stdin=stream)
    assert [report["verdict"]["rule"] for report in reports(done.out)] == ["any", "any"]
    assert [report["verdict"]["status"] for report in reports(done.out)] == ["pass", "fail"]
    assert done.exit == 1


def test_what_if_holds_for_every_host(k3: Command) -> None:
    stream = document("fail", "a") + document("unknown", "b")
    done = k3(*CHECK, "--host", "-", "--free-disk", "2000 GB", "--memory", "1 TB", stdin=stream)
    assert done.exit == 0
    assert done.out.count("Note: --memory 1,000.00 GB") == 2


ONE_REPORT = [form for form in Format if form not in {Format.TABLE, Format.NDJSON}]


@pytest.mark.parametrize("form", ONE_REPORT)
def test_a_format_of_one_report_refuses_several(k3: Command, form: str, tmp_path: Path) -> None:
    stream = document("pass", "a") + document("pass", "b")
    done = k3(*CHECK, "--host", "-", "--format", form, stdin=stream)
    assert done.exit == 2
    assert "Use --format ndjson, one report a line." in done.err
    if form == Format.JSON:
        assert done.json["error"]["exit"] == 2
    done = k3(*CHECK, "--host", "-", "--output", f"{form}=out", stdin=stream)
    assert (done.exit, done.out) == (2, "")
    assert not list(tmp_path.iterdir())


def test_a_single_document_is_one_report_in_any_format(k3: Command) -> None:
    done = k3(*CHECK, "--host", "-", "--format", "json", stdin=document("pass"))
    assert done.exit == 0
    assert done.json["document"] == "stdin"


def test_files_beside_stdout_get_all_hosts(k3: Command, tmp_path: Path) -> None:
    stream = document("pass", "a") + document("fail", "b")
    several = ("--output", "ndjson=all.ndjson", "--output", "table.txt")
    done = k3(*CHECK, "--host", "-", *several, stdin=stream, FORCE_COLOR="1")
    assert done.exit == 1
    assert (tmp_path / "table.txt").read_text() == done.out
    lines = k3(*CHECK, "--host", "-", "--format", "ndjson", stdin=stream).out
    assert (tmp_path / "all.ndjson").read_text() == lines
    assert sorted(path.name for path in tmp_path.iterdir()) == ["all.ndjson", "table.txt"]


def test_a_file_that_cannot_be_written_ends_the_run_before_it_begins(
    k3: Command, tmp_path: Path
) -> None:
    stream = document("pass") * 2
    kept = ("--output", "ndjson=kept.ndjson")
    (tmp_path / "kept.ndjson").write_text("from before")
    done = k3(*CHECK, "--host", "-", *kept, "--output", "nowhere/table.txt", stdin=stream)
    assert (done.exit, done.out) == (2, "")
    assert "--output nowhere/table.txt: cannot be written: No such file" in done.err
    assert (tmp_path / "kept.ndjson").read_text() == "from before"
    assert [path.name for path in tmp_path.iterdir()] == ["kept.ndjson"]
    twice = k3(*CHECK, "--host", "-", *kept, *kept, stdin=stream)
    assert twice.exit == 2
    assert "named twice" in twice.err


def test_a_report_does_not_wait_for_the_next_document(environment: dict[str, str]) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "k3preflight", *CHECK, "--host", "-", "--format", "ndjson"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environment,
    )
    assert process.stdin
    assert process.stdout
    # Whether there are several is known with the second.
    process.stdin.write(document("pass", "a").encode() + document("pass", "b").encode())
    process.stdin.flush()
    for name in ("a", "b", "c"):
        if name == "c":
            process.stdin.write(document("fail", "c").encode())
            process.stdin.flush()
        ready, _, _ = select.select([process.stdout], [], [], 60)
        assert ready, f"nothing was printed of {name} while the stream was open"
        assert json.loads(process.stdout.readline())["host"]["name"] == name
    process.stdin.close()
    assert process.stdout.read() == b""
    process.stdout.close()
    assert process.wait(60) == 1


def test_a_closed_pipe_keeps_the_exit_of_all_hosts(environment: dict[str, str]) -> None:
    reader, writer = os.pipe()
    process = subprocess.Popen(
        [sys.executable, "-m", "k3preflight", *CHECK, "--host", "-"],
        stdin=subprocess.PIPE,
        stdout=writer,
        stderr=subprocess.PIPE,
        env=environment,
    )
    os.close(writer)
    os.close(reader)
    stream = document("pass") * 500 + document("fail")
    _, errors = process.communicate(stream.encode(), timeout=120)
    assert (process.returncode, errors) == (1, b"")


HOSTILE = "\x1b[2J\x1b]0;owned\x07\x9b31m\r\n\u202e::error::x ##[error]y <script>&amp;\"'"


def hostile(value: object) -> object:
    """`value` with every string made hostile."""
    if isinstance(value, str):
        return value + HOSTILE
    if isinstance(value, list):
        return [hostile(item) for item in value]
    if isinstance(value, dict):
        return {key: hostile(item) for key, item in value.items()}
    return value


@pytest.mark.parametrize("width", ["20", "80", "200"])
@pytest.mark.parametrize("form", ["table", "ndjson"])
def test_a_document_cannot_reach_the_terminal(
    k3: Command, tmp_path: Path, form: str, width: str
) -> None:
    machine = json.loads(document("fail"))
    bad = hostile(machine)
    assert isinstance(bad, dict)
    # What must be one of a few words stays so, or the document would be refused.
    bad["memory"]["source"] = "measured"
    for volume in bad["volumes"]:
        volume["source"] = "measured"
    for place, good in zip(bad["places"], machine["places"], strict=True):
        for key in ("role", "follows", "source", "profile"):
            place[key] = good[key]
    bad["profiles"] = machine["profiles"]
    broken = {"tool_version": 1, "memory": {HOSTILE: HOSTILE, "total": HOSTILE.encode().hex()}}
    (tmp_path / "a.json").write_text(json.dumps(bad))
    (tmp_path / "b.json").write_text(json.dumps(broken))
    (tmp_path / os.fsdecode(b"c\x1b[31m\n\xff.json")).write_text("{")
    done = k3(*CHECK, "--host", ".", "--format", form, COLUMNS=width)
    assert done.exit == 1
    assert done.err == ""
    shown = done.out.replace("\n", "")
    assert not re.search("[\x00-\x1f\x7f-\x9f\u202e\ud800-\udfff]", shown)
    assert "x1b[2J" in shown  # spelled out, not left out
    if form == "ndjson":
        assert [report["host"] is None for report in reports(done.out)] == [False, True, True]


def run(stream: Path, form: str, environment: dict[str, str]) -> tuple[int, list[str], int]:
    """Exit, lines of output and peak resident bytes of a whole run over `stream`."""
    with stream.open("rb") as source, (stream.parent / "out").open("w+") as out:
        process = subprocess.Popen(
            [sys.executable, "-m", "k3preflight", *CHECK, "--host", "-", "--format", form],
            stdin=source,
            stdout=out,
            env=environment,
        )
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        return process.returncode, out.read().splitlines(), usage.ru_maxrss * 1024


@pytest.mark.parametrize("form", ["table", "ndjson"])
def test_ten_thousand_documents_with_a_hundredth_broken_in_flat_memory(
    form: str, tmp_path: Path, environment: dict[str, str]
) -> None:
    few, many = tmp_path / "few.ndjson", tmp_path / "many.ndjson"
    lines = [
        document("fail" if number % 3 == 0 else "pass", f"node{number}") for number in range(10_000)
    ]
    for number in range(7, 10_000, 100):
        lines[number] = lines[number][: 40 + number % 300].rstrip() + "\n"
    few.write_text("".join(lines[:100]))
    many.write_text("".join(lines))
    code, shown, peak = run(many, form, environment)
    assert code == 1
    named = f"stdin, line {{}}{': ' if form == 'table' else ''}"
    if form == "ndjson":
        found = [json.loads(line) for line in shown]
        assert len(found) == 10_000
        broken = [report["document"] for report in found if report["host"] is None]
        judged = [report["host"]["name"] for report in found if report["host"]]
    else:
        broken = [line[8:] for line in shown if line.startswith("UNKNOWN ")]
        broken = [line[: line.index(": ") + 2] for line in broken]
        judged = [line.split()[6] for line in shown if re.match("(PASS|FAIL) +rabbit", line)]
        total = "10,000 hosts: 6,599 pass, 3,301 fail, 100 unknown (100 broken documents)."
        assert total in " ".join(shown)
    assert broken == [named.format(number + 1) for number in range(7, 10_000, 100)]
    assert judged == [f"node{number}" for number in range(10_000) if number % 100 != 7]
    _, _, least = run(few, form, environment)
    assert many.stat().st_size > 10 * 10**6
    assert peak - least < many.stat().st_size / 3


def test_host_names_of_one_directory_are_rows_in_order(k3: Command, tmp_path: Path) -> None:
    for kind, named in HOSTS.items():
        machine = named.model_copy(update={"name": kind if kind != "warn" else None})
        (tmp_path / f"{kind}.json").write_text(machine.model_dump_json(indent=2))
    done = k3(*CHECK, "--host", ".")
    rows = [line.split()[:2] + line.split()[6:7] for line in done.out.splitlines()[1:5]]
    assert rows == [
        ["FAIL", "rabbit", "fail"],
        ["PASS", "rabbit", "pass"],
        ["UNKNOWN", "rabbit", "unknown"],
        ["WARN", "rabbit", "./warn.json"],
    ]
