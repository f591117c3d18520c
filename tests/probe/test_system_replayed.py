"""Systems told apart: distributions, Rosetta, and what a Mac's sysctl answers."""

import platform
from pathlib import Path

import pytest

from k3preflight.probe.root import Root
from k3preflight.probe.system import probe_system, read_sysctl, system_name
from replay import replay

UBUNTU = 'PRETTY_NAME="Ubuntu 24.04"\nID=ubuntu\nID_LIKE=debian\n'
ROCKY = 'ID="rocky"\nID_LIKE="rhel centos fedora"\nbroken line\n'


@pytest.mark.parametrize(
    ("path", "text", "like"),
    [
        ("/etc/os-release", UBUNTU, ("ubuntu", "debian")),
        ("/usr/lib/os-release", ROCKY, ("rocky", "rhel", "centos", "fedora")),
        ("/etc/os-release", "", ()),
        ("/etc/hostname", "box", ()),
    ],
)
def test_a_distribution_and_those_it_is_built_on(
    tmp_path: Path, path: str, text: str, like: tuple[str, ...]
) -> None:
    assert probe_system(replay(tmp_path, {path: text}), "linux", {}).like == like


def test_this_machine() -> None:
    found = probe_system(Root(), system_name(), {})
    assert (found.system, found.bits, found.emulated) == ("linux", 64, None)
    assert found.machine == {"aarch64": "arm64"}.get(platform.machine(), platform.machine())


@pytest.mark.parametrize(
    ("translated", "machine", "emulated"), [("1", "arm64", True), ("0", "x86_64", False)]
)
def test_rosetta_claims_another_processor(
    monkeypatch: pytest.MonkeyPatch, translated: str, machine: str, *, emulated: bool
) -> None:
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    found = probe_system(Root(), "macos", {"sysctl.proc_translated": translated})
    assert (found.machine, found.emulated, found.like) == (machine, emulated, ())


@pytest.mark.parametrize(
    ("claimed", "machine"),
    [("AMD64", "x86_64"), ("aarch64", "arm64"), ("RISCV64", "riscv64"), ("", None)],
)
def test_one_name_for_each_architecture(
    monkeypatch: pytest.MonkeyPatch, claimed: str, machine: str | None
) -> None:
    monkeypatch.setattr(platform, "machine", lambda: claimed)
    assert probe_system(Root(), "windows", {}).machine == machine


MAC_STUDIO = """sysctl.proc_translated: 0
hw.optional.arm64: 1
hw.logicalcpu: 32
machdep.cpu.brand_string: Apple M3 Ultra
iogpu.wired_limit_mb: 0
odd line
"""


def mac(folder: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> dict[str, str]:
    """What is read where `sysctl` is a program that runs `text`."""
    program = folder / "sysctl"
    program.write_text(f"#!/bin/sh\n{text}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:/bin:/usr/bin")
    return read_sysctl("macos")


def test_a_recorded_mac(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    values = mac(tmp_path, monkeypatch, f"cat <<'END'\n{MAC_STUDIO}END")
    assert values == {
        "sysctl.proc_translated": "0",
        "hw.optional.arm64": "1",
        "hw.logicalcpu": "32",
        "machdep.cpu.brand_string": "Apple M3 Ultra",
        "iogpu.wired_limit_mb": "0",
    }


def test_a_sysctl_that_fails_or_hangs_or_is_not_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert mac(tmp_path, monkeypatch, "exit 1") == {}
    monkeypatch.setattr("k3preflight.probe.system._LIMIT", 0.2)
    assert mac(tmp_path, monkeypatch, "exec sleep 30") == {}
    monkeypatch.setenv("PATH", "/nowhere")
    assert read_sysctl("macos") == {}


def test_no_other_system_is_asked() -> None:
    assert read_sysctl("linux") == read_sysctl("windows") == {}
