"""What `verify --sha256` shows while it reads, and how it is interrupted."""

import hashlib
import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from disks import small_choice, small_profile

LARGE = 1_500_000_000  # bytes to read: enough to see a rate, and to interrupt


@pytest.fixture(name="command")
def _command(tmp_path: Path) -> list[str]:
    """Verify a download of files that are whole; the digests take a moment."""
    profile = small_choice(tmp_path, divisor=1000).scenarios[0].profile
    folder = tmp_path / "model"
    beside = folder / ".cache" / "huggingface" / "download"
    beside.mkdir(parents=True)
    block = os.urandom(2**20)
    left = LARGE
    for name, size in profile.checkpoint.files.items():
        if left <= 0:
            break
        content = (block * (size // len(block) + 1))[:size]
        (folder / name).write_bytes(content)
        digest = hashlib.sha256(content).hexdigest()
        (beside / f"{name}.metadata").write_text(f"{'c' * 40}\n{digest}\n1760000000.0\n")
        left -= size
    path = small_profile(tmp_path, divisor=1000)
    arguments = ["verify", "small", "--profile-file", str(path), "--dir", str(folder), "--sha256"]
    return [sys.executable, "-m", "k3preflight", *arguments]


def environment() -> dict[str, str]:
    return os.environ | {"TERM": "xterm", "COLUMNS": "120", "LINES": "24"}


def on_a_terminal(
    command: list[str], seen: Callable[[subprocess.Popen[bytes], str], None]
) -> tuple[int, str]:
    """Run with stderr on a terminal; `seen` hears of all it has said so far."""
    ours, theirs = pty.openpty()
    said = ""
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=theirs, env=environment()
    ) as process:
        os.close(theirs)
        end = time.monotonic() + 120
        while select.select([ours], [], [], max(0, end - time.monotonic()))[0]:
            try:
                part = os.read(ours, 1 << 16)
            except OSError:  # the other end is closed
                break
            if not part:
                break
            said += part.decode(errors="replace")
            seen(process, said)
        os.close(ours)
        process.communicate(timeout=60)
    return process.returncode, said


def test_a_terminal_sees_rate_and_time_left(command: list[str]) -> None:
    _, said = on_a_terminal(command, lambda _process, _said: None)
    assert "checkpoint: reading" in said
    assert re.search(r"[0-9.]+ [kMG]B/s", said)
    assert re.search(r"[0-9]:[0-9]{2}:[0-9]{2}", said)


def test_a_pipe_sees_nothing_of_it(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment())
    assert done.stderr == ""
    assert "reading" not in done.stdout


def test_ctrl_c_ends_it_cleanly(command: list[str]) -> None:
    sent: list[int] = []

    def interrupt(process: subprocess.Popen[bytes], said: str) -> None:
        if not sent and "reading" in said:
            sent.append(process.pid)
            process.send_signal(signal.SIGINT)

    code, said = on_a_terminal(command, interrupt)
    assert sent
    assert code == 130
    assert "Traceback" not in said
