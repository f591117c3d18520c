"""Real v1 control groups for one test, and commands run inside them."""

import contextlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

ENTER = 'echo $$ > "$1"/cgroup.procs && shift && exec "$@"'


@contextlib.contextmanager
def groups(controller: str, path: str) -> Iterator[list[Path]]:
    """Groups nested as `path` says, outermost first; removed again, innermost first."""
    top = Path("/sys/fs/cgroup") / controller
    assert top.is_dir(), f"cgroup v1 {controller} is not mounted at {top}"
    made: list[Path] = []
    folder = top
    try:
        for name in path.split("/"):
            folder = folder / f"k3preflight-{os.getpid()}-{name}"
            folder.mkdir()
            made.append(folder)
        yield made
    finally:
        for folder in reversed(made):
            _remove(folder)


def _remove(folder: Path) -> None:
    for _ in range(50):  # a group stays busy for a moment after its last process has ended
        try:
            folder.rmdir()
        except OSError:
            time.sleep(0.1)
        else:
            return
    folder.rmdir()


def inside(group: Path, command: Sequence[str]) -> subprocess.CompletedProcess[str]:
    """Run `command` as a member of `group`."""
    return subprocess.run(
        ["sh", "-c", ENTER, "sh", str(group), *command],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def probed(group: Path, *before: str) -> Any:
    """What `k3preflight probe` says inside `group`, started through the words in `before`."""
    done = inside(group, [*before, sys.executable, "-m", "k3preflight", "probe"])
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
