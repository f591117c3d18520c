"""Questions asked in children: both ways of starting one, and one that never answers."""

import os
import signal
import time
from pathlib import Path

import pytest

from k3preflight.models.disk import WantedFile, WantedPlace
from k3preflight.models.names import Role
from k3preflight.probe import child
from k3preflight.probe.child import ask
from k3preflight.probe.sight import Question, Sight, answer

WAYS = pytest.mark.parametrize("fork", [True, False], ids=["forked", "spawned"])


@WAYS
def test_the_same_answer_as_without_a_child(tmp_path: Path, *, fork: bool) -> None:
    (tmp_path / "a.bin").write_bytes(b"x" * 5000)
    want = WantedPlace(
        profile="p",
        role=Role.CHECKPOINT,
        requested=str(tmp_path),
        decided_by="--dir",
        files=(WantedFile(name="a.bin", bytes=5000), WantedFile(name="b.bin", bytes=1)),
    )
    questions = [
        Question(path=str(tmp_path), wants=(want,)),
        Question(path=str(tmp_path / "not" / "there")),
    ]
    told = ask(questions, 60, fork=fork)
    assert [sight and sight.look.measured for sight in told] == [str(tmp_path), str(tmp_path)]
    assert told[0] is not None
    assert told[0].presence is not None
    assert [found.name for found in told[0].presence[want.key].files] == ["a.bin"]


@WAYS
def test_undecodable_paths_arrive(tmp_path: Path, *, fork: bool) -> None:
    folder = os.fsdecode(os.fsencode(tmp_path) + b"/\xff")
    Path(folder).mkdir()
    (told,) = ask([Question(path=folder)], 60, fork=fork)
    assert told is not None
    assert told.look.exists
    assert (told.look.measured or "").endswith(r"\xff")


def _hang(question: Question) -> Sight:
    if question.path.endswith("dead"):
        signal.pause()
    return answer(question)


def test_who_does_not_answer_is_left_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(child, "answer", _hang)  # a stopped file system: see the root tests
    paths = (tmp_path / "dead", tmp_path, tmp_path / "also-dead")
    began = time.monotonic()
    told = ask([Question(path=str(path)) for path in paths], 0.5)
    assert [sight is None for sight in told] == [True, False, True]
    assert time.monotonic() - began < 30


def test_a_spawned_child_that_is_too_late_is_left_behind(tmp_path: Path) -> None:
    assert ask([Question(path=str(tmp_path))], 0.0, fork=False) == (None,)


def _break(question: Question) -> Sight:
    raise KeyError(question.path)


def test_a_mistake_of_our_own_comes_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(child, "answer", _break)
    with pytest.raises(RuntimeError, match="KeyError"):
        ask([Question(path=str(tmp_path))], 60)


def _die(question: Question) -> Sight:
    os.kill(os.getpid(), signal.SIGKILL)
    return answer(question)


def test_a_child_that_dies_is_no_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(child, "answer", _die)
    with pytest.raises(RuntimeError, match="without an answer"):
        ask([Question(path=str(tmp_path))], 60)
