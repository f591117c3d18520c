"""TOML files: read with one line of what is wrong, and written from plain values.

Written by hand rather than by a library: base installs carry none, and all that is needed is
`key = value` with a comment beside it.
"""

import json
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from k3preflight.errors import UsageError

Value = str | bool | int | float | Sequence[str]


def read_toml(path: Path, *, most: int, kind: str) -> dict[str, Any]:
    """The document in `path`, which is to be a `kind` of at most `most` bytes.

    Raises:
        UsageError: it cannot be read, is too large, or is not TOML.
    """
    try:
        with path.open("rb") as stream:
            raw = stream.read(most + 1)
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror}") from error
    if len(raw) > most:
        raise UsageError(f"{path}: over {most} bytes; this is not a {kind}")
    try:
        return tomllib.loads(raw.decode())
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        raise UsageError(f"{path}: not valid TOML: {error}") from error


def read_first_keys(path: Path) -> dict[str, Any]:
    """The keys before the first table of a document that is known to be whole."""
    return tomllib.loads(path.read_text(encoding="utf-8").partition("\n[")[0])


def line(key: str, value: Value, comment: str | None = None) -> str:
    """`key = value  # comment`; the comment's own line breaks become spaces."""
    text = f"{key} = {written(value)}"
    return f"{text}  # {' '.join(comment.split())}" if comment else text


def written(value: Value) -> str:
    """`value` as TOML.

    Raises:
        ValueError: an infinite number, or a lone surrogate in a string: TOML cannot carry it.
    """
    match value:
        case bool():
            return "true" if value else "false"
        case str():
            return quoted(value)
        case int():
            return str(value)
        case float():
            return json.dumps(value, allow_nan=False)
        case _:
            return f"[{', '.join(quoted(item) for item in value)}]"


def quoted(text: str) -> str:
    """`text` as a basic string: JSON's escapes are TOML's, but TOML escapes DEL too."""
    text.encode()  # a lone surrogate is no Unicode text, in TOML neither
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
