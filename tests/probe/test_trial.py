"""Trials that write: what they find out, and that nothing is left of them."""

import os
import select
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from k3preflight.probe import trial
from k3preflight.probe.sight import Question, answer
from k3preflight.probe.trial import try_sharing, try_writing

_HELD = """
import os, sys, time
from k3preflight.probe import trial
real = os.pwrite
def held(*arguments):
    written = real(*arguments)
    print(os.fstat(arguments[0]).st_nlink, flush=True)
    time.sleep(60)
    return written
os.pwrite = held
trial.try_writing(sys.argv[1], 2**20, "ext4")
"""


def test_the_largest_file_takes_no_room_and_is_gone(tmp_path: Path) -> None:
    told = try_writing(str(tmp_path), 10**9, "ext4")
    assert (told.created, told.sized, told.error) == (True, True, None)
    assert list(tmp_path.iterdir()) == []


def test_a_kill_in_the_middle_leaves_nothing(tmp_path: Path) -> None:
    process = subprocess.Popen([sys.executable, "-c", _HELD, str(tmp_path)], stdout=subprocess.PIPE)
    try:
        assert process.stdout is not None
        assert select.select([process.stdout], [], [], 60)[0]
        assert process.stdout.readline() == b"0\n"  # written to, and without a name
    finally:
        process.kill()
        process.communicate()
    assert process.returncode == -signal.SIGKILL
    assert list(tmp_path.iterdir()) == []


def test_without_nameless_files_the_name_is_gone_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(os, "O_TMPFILE")
    with trial.scratch_file(str(tmp_path)) as opened:
        assert os.fstat(opened).st_nlink == 0
        assert list(tmp_path.iterdir()) == []
    assert try_writing(str(tmp_path), 10**6, None).sized


def test_file_systems_that_fill_are_not_grown(tmp_path: Path) -> None:
    for filesystem, largest in (("vfat", 10**9), ("ext4", 3)):
        told = try_writing(str(tmp_path), largest, filesystem)
        assert (told.created, told.sized) == (True, None)


def test_no_file_and_no_file_so_large(tmp_path: Path) -> None:
    told = try_writing(str(tmp_path / "none"), 10**6, "ext4")
    assert (told.created, told.error) == (False, "No such file or directory")
    told = try_writing(str(tmp_path), 2**63 - 1, "ext4")
    assert (told.created, told.sized) == (True, False)
    assert told.error


def test_two_directories_that_are_not_there_share_nothing(tmp_path: Path) -> None:
    assert try_sharing(str(tmp_path / "one"), str(tmp_path)) is None


def test_what_reports_no_room_cannot_be_compared(tmp_path: Path) -> None:
    assert try_sharing(str(tmp_path), "/proc") is None
    assert list(tmp_path.iterdir()) == []


def test_a_question_asks_for_trials(tmp_path: Path) -> None:
    told = answer(Question(path=str(tmp_path / "new"), write=10**6)).trial
    assert told is not None
    assert told.created
    asked = Question(path=str(tmp_path), shares_with=str(tmp_path / "new"))
    assert answer(asked).shares in {True, False}  # others may write there meanwhile
    assert list(tmp_path.iterdir()) == []
