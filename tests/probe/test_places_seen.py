"""Where a path leads and whether one may write there, on the directories of this machine."""

import fcntl
import os
from pathlib import Path

import pytest

from k3preflight.probe.places import absolute, look
from k3preflight.text import visible
from powerless import powerless


def test_what_may_not_be_passed_is_unknown(tmp_path: Path) -> None:
    locked = tmp_path / "locked"
    locked.mkdir(mode=0o000)
    with powerless():
        seen = look(str(locked / "deep"))
    assert seen.unknown == f"{locked}/deep cannot be looked at: Permission denied"
    assert (seen.measured, seen.exists, seen.problem, seen.writable) == (None, None, None, None)


def test_links_in_a_circle_and_names_that_cannot_be_are_problems(tmp_path: Path) -> None:
    loop = tmp_path / "loop"
    loop.symlink_to("loop")
    for path, why in (
        (f"{loop}/k3", "its links lead in a circle"),
        (f"{tmp_path}/{'k' * 300}", "a name in it is too long for the file system"),
        (f"{tmp_path}/k\0", "embedded null"),  # Python's own words, which change
    ):
        seen = look(path)
        assert (seen.unknown, seen.measured) == (None, None)
        assert (seen.problem or "").startswith(f"{visible(path)} cannot be used: ")
        assert why in (seen.problem or "")


def test_a_directory_of_someone_else_is_a_barrier(tmp_path: Path) -> None:
    for name, mode, barrier in (
        ("open", 0o700, None),
        ("unwritable", 0o500, "this user has no permission"),
        ("unlisted", 0o300, None),  # its flags cannot be asked for
    ):
        folder = tmp_path / name
        folder.mkdir(mode=mode)
        with powerless():
            seen = look(str(folder))
        assert (seen.barrier, seen.writable) == (barrier, barrier is None)


def test_a_file_system_of_no_size_says_nothing_of_room() -> None:
    seen = look("/proc")  # which knows no flags either
    assert seen.space is not None
    assert (seen.space.total, seen.space.free, seen.space.inodes_free) == (None, None, None)
    assert seen.space.read_only is not None


# What the kernel says of an ext4 image mounted read-only, and of directories after chattr.
READ_ONLY = os.statvfs_result((1024, 1024, 6588, 6574, 6002, 2048, 2037, 2037, 4097, 255))
FLAGS = [
    ("1000080000000000", "it is immutable (chattr +i)"),
    ("2000080000000000", "it is append-only (chattr +a): a finished file could not be renamed"),
    ("0000080000000000", None),
]


def test_read_only_is_a_barrier(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "statvfs", lambda _path: READ_ONLY)
    seen = look(str(tmp_path))
    assert seen.barrier == "it is mounted read-only"
    assert seen.space is not None
    assert (seen.space.free, seen.space.reserved) == (6002 * 1024, 572 * 1024)


@pytest.mark.parametrize(("told", "barrier"), FLAGS)
def test_flags_are_barriers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, told: str, barrier: str | None
) -> None:
    def answer(_descriptor: int, request: int, into: bytearray) -> int:
        assert request == 0x80086601
        into[:] = bytes.fromhex(told)
        return 0

    monkeypatch.setattr(fcntl, "ioctl", answer)
    seen = look(str(tmp_path))
    assert (seen.barrier, seen.writable) == (barrier, barrier is None)


def test_without_a_current_directory_a_path_stands_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert absolute("k3") == "k3"


def test_the_home_of_an_unknown_user_stands_as_it_is() -> None:
    assert absolute("~nobody-of-this-name/k3") == "~nobody-of-this-name/k3"
