"""Questions about paths that may never answer, asked in children that can be abandoned.

A dead mount holds whoever touches it, beyond any signal. So every place is looked at in a process
of its own, all at once, under one limit; who does not answer is killed and not waited for.
"""

import contextlib
import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from k3preflight.probe.sight import Question, Sight, answer

LIMIT = 5.0  # seconds for all questions together
_MOMENT = 0.2  # seconds for a killed child to end
CAN_FORK = sys.platform == "linux"  # 2 ms a child; elsewhere forking is not safe, or not there


class _Child(NamedTuple):
    pid: int
    pipe: int


def ask(
    questions: Sequence[Question], limit: float = LIMIT, *, fork: bool = CAN_FORK
) -> tuple[Sight | None, ...]:
    """The answer to each question, None for each that took longer than `limit` seconds.

    Raises:
        RuntimeError: a child failed by a mistake of our own; its words.
    """
    told = _ask_forks(questions, limit) if fork else _ask_spawned(questions, limit)
    return tuple(None if text is None else _read(text) for text in told)


def _read(text: bytes) -> Sight:
    if not text.startswith(b"{"):
        raise RuntimeError(text.decode(errors="replace") or "a child ended without an answer")
    return Sight.model_validate_json(text)


def _told(question: Question) -> bytes:
    try:
        return answer(question).model_dump_json().encode()
    except Exception as error:  # noqa: BLE001 - carried to the parent, which raises it
        return f"{type(error).__name__}: {error}".encode(errors="replace")


def _ask_forks(questions: Sequence[Question], limit: float) -> list[bytes | None]:
    with _forked(questions) as children:
        deadline = time.monotonic() + limit
        told: dict[int, bytes] = {child.pipe: b"" for child in children}
        with selectors.DefaultSelector() as waiting:
            for child in children:
                waiting.register(child.pipe, selectors.EVENT_READ)
            while waiting.get_map():
                ready = waiting.select(max(0, deadline - time.monotonic()))
                if not ready:
                    break
                for key, _ in ready:
                    part = os.read(key.fd, 1 << 16)
                    told[key.fd] += part
                    if not part:
                        waiting.unregister(key.fd)
            late = set(waiting.get_map())
        return [None if child.pipe in late else told[child.pipe] for child in children]


@contextlib.contextmanager
def _forked(questions: Sequence[Question]) -> Iterator[list[_Child]]:
    children: list[_Child] = []
    try:
        for question in questions:
            children.append(_fork(question))  # noqa: PERF401 - those started are ended if one fails
        yield children
    finally:
        for child in children:
            os.close(child.pipe)
            with contextlib.suppress(ProcessLookupError):  # gone already
                os.kill(child.pid, signal.SIGKILL)
            with contextlib.suppress(ChildProcessError):  # collected already
                os.waitpid(child.pid, os.WNOHANG)


def _fork(question: Question) -> _Child:
    reading, writing = os.pipe()
    pid = os.fork()
    if pid:
        os.close(writing)
        return _Child(pid, reading)
    try:  # the child: its stuck self must not hold our output open, nor print a word
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        nowhere = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(nowhere, stream)
        rest = _told(question)
        while rest:
            rest = rest[os.write(writing, rest) :]
    finally:
        os._exit(0)


def _ask_spawned(questions: Sequence[Question], limit: float) -> list[bytes | None]:
    deadline = time.monotonic() + limit
    children = [
        subprocess.Popen(
            [sys.executable, "-m", "k3preflight.probe.child"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        for _ in questions
    ]
    told: list[bytes | None] = []
    for child, question in zip(children, questions, strict=True):
        try:
            text, _ = child.communicate(
                question.as_json().encode(), timeout=max(0.01, deadline - time.monotonic())
            )
        except subprocess.TimeoutExpired:
            _leave(child)
            told.append(None)
        else:
            told.append(text)
    return told


def _leave(child: subprocess.Popen[bytes]) -> None:
    """Kill the child and close our ends; it is given a moment to go, and never more."""
    child.kill()
    for stream in filter(None, (child.stdin, child.stdout)):
        with contextlib.suppress(OSError):  # what was still to be written has no reader
            stream.close()
    with contextlib.suppress(subprocess.TimeoutExpired):
        child.wait(_MOMENT)


if __name__ == "__main__":
    sys.stdout.buffer.write(_told(Question.from_json(sys.stdin.buffer.read())))
