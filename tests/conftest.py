"""What every test may use: the real command, and the rule for tests that need root."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from disks import Disks, disks_in

# No deadline: a test never asserts absolute times. The same examples on every machine.
settings.register_profile("gate", deadline=None, derandomize=True, max_examples=60)
settings.load_profile("gate")

ROOT_TESTS = "K3PREFLIGHT_ROOT_TESTS"
CHECKOUT = Path(__file__).parents[1]


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what a bare machine cannot run, unless it is expected to; then it fails."""
    if os.environ.get(ROOT_TESTS):
        if os.geteuid() != 0:
            raise pytest.UsageError(f"{ROOT_TESTS} is set, but this is not root")
        return
    left_out = [
        item
        for item in items
        if item.get_closest_marker("root") or item.get_closest_marker("programs")
    ]
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if item not in left_out]


@pytest.fixture
def disks(tmp_path: Path) -> Iterator[Disks]:
    """Real file systems of a root test's own."""
    with disks_in(tmp_path) as found:
        yield found


@pytest.fixture(autouse=True, scope="session")
def _interruptible() -> Iterator[None]:
    """A shell starts what runs in its background deaf to Ctrl-C, and its children with it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@dataclass(frozen=True)
class Result:
    """What a run of the real command left behind."""

    exit: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Stdout as the one JSON document it must be."""
        return json.loads(self.out)


Command = Callable[..., Result]


@pytest.fixture
def environment() -> dict[str, str]:
    """The environment of a plain user: no colour switches, 80 columns."""
    left_out = (
        "FORCE_COLOR",
        "NO_COLOR",
        "GITHUB_ACTIONS",
        "K3PREFLIGHT_",
        "KIMI_",
        "HF_",
        "LLAMA_",
    )
    kept = {key: value for key, value in os.environ.items() if not key.startswith(left_out)}
    return kept | {"COLUMNS": "80"}


@pytest.fixture
def k3(environment: dict[str, str], tmp_path: Path) -> Command:
    """Run the real `k3preflight` in a process of its own, in an empty directory."""

    def run(*arguments: str, stdin: str = "", cwd: Path = tmp_path, **variables: str) -> Result:
        done = subprocess.run(
            [sys.executable, "-m", "k3preflight", *arguments],
            input=stdin,
            capture_output=True,
            text=True,
            encoding="utf-8",
            errors="surrogateescape",
            env=environment | variables,
            cwd=cwd,
            timeout=120,
            check=False,
        )
        return Result(done.returncode, done.stdout, done.stderr)

    return run
