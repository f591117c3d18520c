"""What macOS could clear on APFS: its answer replayed, as only a Mac gives it."""

from pathlib import Path

import pytest

from k3preflight.probe.mounts import Mount
from k3preflight.probe.places import Look, Space
from k3preflight.probe.purgeable import purgeable, purgeable_of
from k3preflight.probe.root import Root
from k3preflight.probe.volumes import Seen, merged, volume_at

FREE = 522_710_000_000  # of statvfs; the same machine told Finder 663.7 GB
DATA = (Mount("/System/Volumes/Data", "apfs", "/dev/disk3s5"), Mount("/", "ext4", "/dev/sda1"))


@pytest.mark.parametrize(
    ("told", "size"),
    [
        ("663700000000\n", 140_990_000_000),
        ("522710000000\n", 0),
        ("500000000000\n", 0),  # a reserve of its own: less than what is free
        ("0\n", None),
        ("undefined\n", None),
        ("", None),
        ("6.637e11\n", None),
        ("-5\n", None),
    ],
)
def test_what_is_printed(told: str, size: int | None) -> None:
    assert purgeable_of(told, FREE) == size


def interpreter(folder: Path, monkeypatch: pytest.MonkeyPatch, line: str) -> None:
    program = folder / "osascript"
    program.write_text(f"#!/bin/sh\n{line}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")


def seen(path: str) -> Seen:
    space = Space(total=10**12, free=FREE)
    return volume_at(Look(path=path, measured=path, space=space), DATA, Root())


def test_it_is_asked_of_apfs_alone_and_of_the_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    line = '[ "$1 $2 $5" = "-l JavaScript /System/Volumes/Data/my k3" ] && echo 663700000000'
    interpreter(tmp_path, monkeypatch, line)
    volume = seen("/System/Volumes/Data/my k3").volume
    assert (volume.free, volume.purgeable) == (FREE, 140_990_000_000)
    assert seen("/my k3").volume.purgeable is None


def test_a_system_that_does_not_say(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    interpreter(tmp_path, monkeypatch, "exit 1")
    assert purgeable("/", FREE) is None
    assert purgeable("/", None) is None
    interpreter(tmp_path, monkeypatch, "exec sleep 60")
    monkeypatch.setattr("k3preflight.probe.purgeable._LIMIT", 0.1)
    assert purgeable("/", FREE) is None
    monkeypatch.setenv("PATH", str(tmp_path / "none"))
    assert purgeable("/", FREE) is None


def test_one_container_seen_twice_has_the_smaller_figure() -> None:
    data = seen("/System/Volumes/Data")
    sizes = (9, None, 5)
    views = [
        data.model_copy(update={"volume": data.volume.model_copy(update={"purgeable": size})})
        for size in sizes
    ]
    assert merged(views)[0][0].purgeable == 5
