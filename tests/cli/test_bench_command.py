"""`k3preflight bench` and `probe --bench`, as a user runs them."""

import json
import tomllib
from pathlib import Path

import pytest

from conftest import Command
from k3preflight.cli import run
from k3preflight.probe import storage
from k3preflight.probe.root import REAL
from k3preflight.probe.sources import Sizes
from k3preflight.probe.storage import Plan


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = Plan(window=0.01, windows=5, sizes=Sizes(48 * 2**20, 16 * 2**20))
    monkeypatch.setattr(storage.probe_storage, "__defaults__", (plan, REAL))


@pytest.mark.parametrize("name", ["missing", "file"])
def test_what_is_no_directory_is_one_line(k3: Command, tmp_path: Path, name: str) -> None:
    (tmp_path / "file").touch()
    found = k3("bench", str(tmp_path / name))
    assert found.exit == 2
    assert found.out == ""
    assert len(found.err.splitlines()) == 1
    assert json.loads(k3("bench", name, "--format", "json").out)["error"]["exit"] == 2


def test_json_has_whole_figures(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code = run(["bench", str(tmp_path), str(tmp_path), "--format", "json"])
    found = json.loads(capsys.readouterr().out)
    (entry,) = found["directories"]
    assert [rate["pattern"] for rate in entry["rates"]] == [
        "random-1", "random-8", "sequential-1", "sequential-8",
    ]  # fmt: skip
    if code == 0:
        assert isinstance(entry["best_bytes_per_second"], int)
        assert all(isinstance(rate["delivered"], int) for rate in entry["rates"])
    else:  # this machine's own disk caches
        assert code == 3
        assert entry["reason"]
    assert list(tmp_path.iterdir()) == []


def test_a_page_for_a_person(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    code = run(["bench"])
    out = capsys.readouterr().out
    assert code in {0, 3}
    assert "experts, random, 8 threads" in out
    assert "\x1b" not in out


def test_an_interrupt_prints_what_there_is_and_exits_130(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("k3preflight.probe.sources._fill", interrupted)
    assert run(["bench", str(tmp_path), "--format", "json"]) == 130
    assert json.loads(capsys.readouterr().out)["complete"] is False


def test_a_probe_with_a_bench_is_judged_by_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "there" / "not-yet"
    code = run(
        ["probe", "kimi-k3-in-c", "--dir", str(target), "--bench", "--skip", "runtime.tools"]
    )
    text = capsys.readouterr().out
    host = json.loads(text)
    assert code == 0
    (entry,) = host["storage"]["directories"]
    assert entry["directory"] == str(tmp_path)
    assert entry["volume"] == host["volumes"][0]["id"]
    (tmp_path / "host.json").write_text(text)
    run(["check", "kimi-k3-in-c:laptop", "--host", str(tmp_path / "host.json"), "--format", "json"])
    report = json.loads(capsys.readouterr().out)
    (speed,) = [
        finding
        for finding in report["assessments"][0]["findings"]
        if finding["check"] == "speed.storage"
    ]
    if entry["best_bytes_per_second"]:
        assert "(measured)" in speed["message"]
    else:
        assert entry["reason"] in speed["message"]


def test_a_record_with_a_bench_has_its_figures(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["record", "rabbit", "--dir", str(tmp_path), "--bench"]) == 0
    (volume,) = tomllib.loads(capsys.readouterr().out)["volumes"]
    if volume["best_bytes_per_second"] == "":  # this machine's own disk caches
        assert run(["bench", str(tmp_path), "--format", "json"]) == 3
    else:
        assert volume["best_bytes_per_second"] >= volume["random_median_bytes_per_second"] > 0
