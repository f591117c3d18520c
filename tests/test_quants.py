"""Unsloth's quants: their published figures, when they are judged, and what they may promise."""

import json
from pathlib import Path

import pytest

from conftest import Command
from factory import host, report
from k3preflight.errors import UsageError
from k3preflight.models.disk import Disk
from k3preflight.models.names import CheckId, Status
from k3preflight.models.profile import Profile
from k3preflight.models.report import Report
from k3preflight.profiles import catalog, read_profile

DEFAULT = {"kimi-k3-in-c", "rabbit", "ud-iq1-s"}
GB = 10**9
# Bytes, gigabytes of memory the publisher asks for, top-1 agreement in percent.
PUBLISHED = {
    "ud-q1-0": (466_369_456_320, None, None),
    "ud-tq1-0": (508_912_281_952, None, None),
    "ud-tq2-0": (551_455_107_488, None, None),
    "ud-iq1-s": (594_040_923_616, 610, "78.875%"),
    "ud-iq1-m": (648_872_012_448, 665, "81.219%"),
    "ud-iq2-xxs": (711_067_773_664, 726, "84.127%"),
    "ud-q2-k-xl": (861_277_858_912, 880, "90.390%"),
    "ud-q4-k-xl": (1_508_668_683_104, None, None),
    "ud-q8-k-xl": (1_561_157_884_384, 1600, None),
}
UNSLOTH_BUILD = {"ud-q1-0", "ud-tq1-0", "ud-tq2-0"}


def quant(name: str) -> Profile:
    return read_profile(catalog()[name])


def test_every_published_quant_is_a_profile_and_nothing_else_is_one() -> None:
    assert {name for name in catalog() if name.startswith("ud-")} == set(PUBLISHED)


@pytest.mark.parametrize("name", PUBLISHED)
def test_its_figures_are_the_published_ones(name: str) -> None:
    size, asked, agreement = PUBLISHED[name]
    profile = quant(name)
    assert profile.checkpoint.size.bytes == size
    recommended = profile.memory.recommended
    assert (recommended and recommended.bytes) == (asked and asked * GB)
    assert [agreement in caveat for caveat in profile.caveats[:1]] == [True] if agreement else True
    assert ("top-1" in " ".join(profile.caveats)) == bool(agreement)


@pytest.mark.parametrize("name", PUBLISHED)
def test_its_build_is_one_that_loads_it(name: str) -> None:
    commands = " ".join(command.run for command in quant(name).commands)
    assert ("github.com/unslothai/llama.cpp" in commands) == (name in UNSLOTH_BUILD)
    assert ("github.com/ggml-org/llama.cpp" in commands) == (name not in UNSLOTH_BUILD)
    label = quant(name).checkpoint.include[0].partition("/")[0]
    assert label.lower().replace("_", "-") == name
    assert f"-hf unsloth/Kimi-K3-GGUF:{label} " in commands


@pytest.mark.parametrize(
    ("memory", "status"),
    [
        (648_872_012_448 + 452_984_832 + 464_633_856, "pass"),
        (648_872_012_448 + 452_984_832 + 464_633_856 - 1, "unknown"),
        (452_984_832 + 464_633_856, "unknown"),
        (452_984_832 + 464_633_856 - 1, "fail"),
    ],
)
def test_a_minimum_between_two_figures_decides_outside_them_only(
    k3: Command, memory: int, status: str
) -> None:
    arguments = ("--free-disk", "9 TB", "--memory", f"{memory} B", "--format", "json")
    report = k3("check", "ud-iq1-m", *arguments).json
    findings = report["assessments"][0]["findings"]
    assert [i["status"] for i in findings if i["check"] == "memory.minimum"] == [status]


def test_a_bare_check_judges_three_and_all_judges_every_profile(k3: Command) -> None:
    arguments = ("--free-disk", "2000 GB", "--memory", "128 GB", "--format", "json")
    for extra, names in (((), DEFAULT), (("--all",), set(catalog()))):
        report = k3("check", *extra, *arguments).json
        judged = {item["scenario"].partition(":")[0] for item in report["assessments"]}
        assert judged == names
        assert report["verdict"]["rule"] == "any"


def test_a_probe_of_all_serves_a_check_of_all(k3: Command, tmp_path: Path) -> None:
    host = tmp_path / "host.json"
    host.write_text(k3("probe", "--all").out)
    assert set(json.loads(host.read_text())["profiles"]) == set(catalog())
    report = Report.model_validate_json(
        k3("check", "--all", "--host", str(host), "--format", "json").out
    )
    messages = [item.message for one in report.assessments for item in one.findings]
    assert not [text for text in messages if "not probed" in text]


@pytest.mark.parametrize("command", ["check", "probe"])
def test_all_with_a_name_is_a_mistake(k3: Command, command: str) -> None:
    result = k3(command, "rabbit", "--all")
    assert result.exit == 2
    assert "--all with 'rabbit'" in result.err


@pytest.mark.parametrize(
    ("limit", "status"),
    [
        (466_369_456_320, Status.PASS),  # one file of the whole size would still go
        (466_369_456_319, Status.WARN),
        (42_397_223_302, Status.WARN),  # 11 equal files
        (42_397_223_301, Status.FAIL),
    ],
)
@pytest.mark.parametrize("whose", ["process", "volume"])
def test_files_known_by_number_alone_fail_only_where_none_of_their_sizes_goes(
    whose: str, limit: int, status: Status
) -> None:
    machine = host(profiles=("ud-q1-0",))
    if whose == "process":
        machine = machine.model_copy(update={"disk": Disk(file_size_limit=limit)})
    else:
        volume = machine.volumes[0].model_copy(update={"largest_file": limit})
        machine = machine.model_copy(update={"volumes": (volume,)})
    (finding,) = report(machine, "ud-q1-0").assessments[0].of(CheckId.DISK_FILE_SIZE)
    assert finding.status is status
    assert "42.40 GB to 466.37 GB, which is not published," in finding.message


def test_files_known_by_number_alone_need_as_many_inodes() -> None:
    machine = host(profiles=("ud-q1-0",))
    for left, status in ((11, Status.PASS), (10, Status.FAIL)):
        volume = machine.volumes[0].model_copy(update={"inodes_free": left})
        few = machine.model_copy(update={"volumes": (volume,)})
        (finding,) = report(few, "ud-q1-0").assessments[0].of(CheckId.DISK_INODES)
        assert finding.status is status
        assert "11 files needed" in finding.message


def test_files_are_listed_or_counted(tmp_path: Path) -> None:
    file = tmp_path / "both.toml"
    text = catalog()["ud-iq1-s"].read_text()
    file.write_text(text.replace("[artifacts.files]", "file_count = 14\n\n[artifacts.files]"))
    with pytest.raises(UsageError, match="file_count is for files that are not listed"):
        read_profile(file)
