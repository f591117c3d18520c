"""Which source a runtime was built from, and which revision of the weights lies in a directory."""

import os
import re
import subprocess
from pathlib import Path
from typing import NamedTuple

_LIMIT = 20  # seconds; a status of a large checkout on a slow disk takes a few
_COMMIT = re.compile(r"[0-9a-f]{40,64}\Z")


class Checkout(NamedTuple):
    """The commit at the top of a git checkout; null with the problem where it cannot be told."""

    commit: str | None = None
    modified: bool | None = None
    problem: str | None = None


def read_checkout(directory: Path) -> Checkout:
    """The commit checked out in `directory`, and whether tracked files differ from it.

    Only where `directory` is the top of the checkout: sources unpacked inside another repository
    would otherwise carry that one's commit.
    """
    try:
        top = _git(directory, "rev-parse", "--show-toplevel").strip("\n")
        if not directory.samefile(top):
            return Checkout(problem=f"{directory} is not the top of a git checkout; {top} is")
        commit = _git(directory, "rev-parse", "--verify", "HEAD").strip()
        changed = _git(directory, "status", "--porcelain", "--untracked-files=no")
    except subprocess.CalledProcessError as error:
        said = str(error.stderr).strip().partition("\n")[0]
        return Checkout(problem=f"git cannot read {directory}: {said}")
    except subprocess.TimeoutExpired:
        return Checkout(problem=f"git did not answer in {directory} within {_LIMIT} seconds")
    except OSError as error:
        return Checkout(problem=f"git cannot be run in {directory}: {error.strerror}")
    return Checkout(commit, bool(changed))


def _git(directory: Path, *arguments: str) -> str:
    # Variables such as GIT_DIR would answer for another repository.
    environment = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    # Nothing configured in the checkout is started, and nothing is written to it.
    safe = ("--no-optional-locks", "-c", "core.fsmonitor=false")
    done = subprocess.run(  # noqa: S603 - fixed words and a directory
        ["git", *safe, "-C", str(directory), *arguments],  # noqa: S607 - the user's git
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="surrogateescape",
        env=environment | {"LC_ALL": "C"},
        timeout=_LIMIT,
        check=True,
    )
    return done.stdout


def downloaded_revision(directory: Path) -> str | None:
    """The one revision that `hf download --local-dir` fetched its files from, as it noted it.

    None where it noted none, or several: then no single revision is in `directory`.
    """
    notes = directory / ".cache" / "huggingface" / "download"
    try:
        seen = {_first_line(note) for note in notes.rglob("*.metadata")}
    except OSError:
        return None  # a directory that cannot be read notes nothing
    revision = seen.pop() if len(seen) == 1 else ""
    return revision if _COMMIT.match(revision) else None


def _first_line(note: Path) -> str:
    with note.open(encoding="utf-8", errors="replace") as stream:
        return stream.readline(100).strip()
