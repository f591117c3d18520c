"""Host documents: what `probe` printed, read back on any machine."""

import sys
from pathlib import Path

from pydantic import ValidationError

from k3preflight.errors import UsageError
from k3preflight.models.base import problems
from k3preflight.models.host import Host

LARGEST_DOCUMENT = 4 * 2**20  # bytes; a probe of a hundred profiles takes a tenth


def read_host(source: str) -> Host:
    """The host document in the file `source`, or on stdin for `-`.

    Raises:
        UsageError: it cannot be read, is over 4 MiB, or is no host document; names file and key.
    """
    raw = _read(source)
    name = "stdin" if source == "-" else source
    if len(raw) > LARGEST_DOCUMENT:
        raise UsageError(f"{name}: over {LARGEST_DOCUMENT} bytes; this is no host document")
    try:
        return Host.model_validate_json(raw)
    except ValidationError as error:
        raise UsageError(
            f"{name}: not a host document: {problems(error)}",
            "k3preflight probe prints one; k3preflight schema host is its format.",
        ) from error


def _read(source: str) -> bytes:
    try:
        if source == "-":
            return sys.stdin.buffer.read(LARGEST_DOCUMENT + 1)
        with Path(source).open("rb") as stream:
            return stream.read(LARGEST_DOCUMENT + 1)
    except OSError as error:
        raise UsageError(f"--host {source}: cannot be read: {error.strerror}") from error
