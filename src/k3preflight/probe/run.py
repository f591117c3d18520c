"""Runs foreign programs for a moment: each in a group of its own, with a limit, and no longer."""

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from threading import Thread
from typing import NamedTuple

_MOST_OUTPUT = 64 * 1024  # bytes; a program that says more is not listened to


class Answer(NamedTuple):
    """What a program printed, both streams as they came, and how it ended.

    `code` is None where it did not end in time, or could not be started: `problem` says which.
    """

    code: int | None
    text: str
    problem: str | None = None


class Runner:
    """Programs run in one folder and environment; all of them can be stopped at once."""

    def __init__(self, folder: Path, environment: Mapping[str, str]) -> None:
        self.folder = folder
        self.environment = dict(environment)
        self._running: set[subprocess.Popen[bytes]] = set()
        self._stopped = False

    def ask(self, command: Sequence[str], limit: float) -> Answer:
        """Run `command` without a shell or an input, for at most `limit` seconds."""
        if self._stopped:
            return Answer(None, "", "stopped")
        try:
            process = subprocess.Popen(  # noqa: S603 - a program on the user's PATH, or in $CC
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                cwd=self.folder,
                env=self.environment,
                start_new_session=os.name == "posix",
            )
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else str(error)
            return Answer(None, "", f"cannot be started: {reason}")
        self._running.add(process)
        said: list[bytes] = []
        end = time.monotonic() + limit
        reader = Thread(target=_listen, args=(process, said), daemon=True)
        reader.start()
        reader.join(limit)
        # What has said enough may go on for the rest of its time, but nobody listens.
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(max(0.0, end - time.monotonic()))
        code = process.poll()
        self._running.discard(process)
        _end(process)
        text = b"".join(said).decode("utf-8", "surrogateescape")
        if code is None:
            return Answer(None, text, f"does not answer within {limit:g} s")
        return Answer(code, text)

    def stop(self) -> None:
        """End what runs, and start nothing more."""
        self._stopped = True
        for process in tuple(self._running):
            _end(process)


def _listen(process: subprocess.Popen[bytes], said: list[bytes]) -> None:
    """Collect output until it ends or is enough, then hang up."""
    if process.stdout is not None:  # pragma: no branch - it is a pipe, as asked for
        with process.stdout as stream:
            said.append(stream.read(_MOST_OUTPUT))


def _end(process: subprocess.Popen[bytes]) -> None:
    """Kill what is left of the program and of all it started."""
    if os.name == "posix":
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    else:  # pragma: no cover - Windows has no process groups of this kind
        process.kill()
    process.wait()
