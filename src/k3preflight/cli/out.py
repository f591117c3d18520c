"""Where output goes: the document to stdout, everything else to stderr."""

import json
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise, takewhile
from pathlib import Path
from typing import TextIO

from k3preflight.errors import Exit, UsageError
from k3preflight.render import Screen
from k3preflight.text import visible

SCHEMA_VERSION = 1


def screen() -> Screen:
    """Width and colour of stdout: colour only on a terminal, and never with NO_COLOR."""
    stream = sys.stdout
    terminal = stream is not None and stream.isatty() and os.environ.get("TERM") != "dumb"
    return Screen(
        width=max(20, shutil.get_terminal_size().columns),
        color=terminal and not os.environ.get("NO_COLOR"),
    )


def write_stdout(text: str) -> None:
    """Write a whole document to stdout, in any console encoding.

    A reader that has gone away is not an error: the command keeps its own exit code.

    Raises:
        UsageError: stdout cannot be written, as on a full disk.
    """
    _write(sys.stdout, text)


def complain(text: str) -> None:
    """Write one line to stderr."""
    _write(sys.stderr, visible(text) + "\n")


def explain(text: str) -> None:
    """Write help nobody asked for to stderr, line by line."""
    _write(sys.stderr, f"{text}\n")


def _write(stream: TextIO | None, text: str) -> None:
    if stream is None:  # closed by whoever started us
        return
    encoding = stream.encoding or "ascii"
    try:
        stream.write(text.encode(encoding, "backslashreplace").decode(encoding))
        stream.flush()
    except BrokenPipeError:
        _silence(stream)
    except OSError as error:
        _silence(stream)
        raise UsageError(f"the output cannot be written: {error.strerror}") from error


def _silence(stream: TextIO) -> None:
    """Point the stream at nothing, or the interpreter would complain about it as it exits."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


def write_new_file(path: Path, text: str) -> None:
    """Write `path` whole or not at all, where nothing is yet: it is to be filled in by hand.

    Raises:
        UsageError: it is there already, or cannot be written.
    """
    refuse_existing(path)
    write_file(path, text)


def refuse_existing(path: Path) -> None:
    """Refuse to write over a file that a person may have worked on.

    Raises:
        UsageError: it is there.
    """
    if path.is_file():
        raise UsageError(
            f"--output {path}: is there already, and may hold what was filled in by hand",
            "Name another file, or remove it.",
        )


def write_file(path: Path, text: str, option: str = "--output") -> None:
    """Write `path` whole or not at all; see `whole_file`.

    Raises:
        UsageError: it cannot be written; what was there before is kept.
    """
    with whole_file(path, option) as stream:
        stream.write(text)


@contextmanager
def whole_file(path: Path, option: str = "--output") -> Iterator[TextIO]:
    """A stream that becomes `path` when all is written, by a temporary file beside it and a rename.

    Behind a link its target is written; a device or a pipe is written to as it is.

    Raises:
        UsageError: it cannot be written; what was there before is kept.
    """
    temporary: Path | None = None
    try:
        target = Path(os.path.realpath(path))
        if _is_stream(path, target):
            with path.open("a", encoding="utf-8") as stream:
                yield stream
            return
        # The name does not end like the target's: a collector of *.prom must not see it.
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name[:80]}.")
        temporary = Path(name)
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        temporary.chmod(target.stat().st_mode & 0o7777 if target.exists() else _default_mode())
        temporary.replace(target)
    except OSError as error:
        raise UsageError(
            f"{option} {path}: cannot be written: {error.strerror}",
            "Nothing was changed there; name a file in a directory this user can write to.",
        ) from error
    finally:
        if temporary is not None:
            temporary.unlink(missing_ok=True)


_STREAM_FOLDERS = {Path("/dev"), Path("/dev/fd")}  # not all below: /dev/shm holds files


def _is_stream(path: Path, target: Path) -> bool:
    """Whether this is no file to rename over: /dev/stdout also where it leads to a file."""
    folder = path.absolute().parent
    if folder in _STREAM_FOLDERS or folder.parts[1:2] == ("proc",):
        return True
    return target.exists() and not target.is_file()


def _default_mode() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def write_error(arguments: Sequence[str], message: str, hint: str | None, code: Exit) -> None:
    """One line on stderr, and where JSON was asked for a whole JSON document on stdout."""
    stop = "" if message.endswith((".", "?", "!")) else "."
    complain(f"k3preflight: {message}" + (f"{stop} {hint}" if hint else ""))
    if _wants_json(arguments):
        error = {"message": visible(message), "hint": hint and visible(hint), "exit": int(code)}
        try:
            write_stdout(json.dumps({"schema_version": SCHEMA_VERSION, "error": error}) + "\n")
        except UsageError as broken:
            complain(f"k3preflight: {broken.message}")


def _wants_json(arguments: Sequence[str]) -> bool:
    """Whether the command line asks for JSON, also where it cannot be parsed otherwise."""
    options = list(takewhile(lambda argument: argument != "--", arguments))
    command = next((argument for argument in options if not argument.startswith("-")), None)
    if command == "probe":
        return True
    formats = [os.environ.get("K3PREFLIGHT_FORMAT", "")] if command == "check" else []
    formats += [value for option, value in pairwise(options) if option == "--format"]
    formats += [item.partition("=")[2] for item in options if item.startswith("--format=")]
    return bool({"json", "ndjson"} & set(formats[-1:]))
