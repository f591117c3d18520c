"""Run records as files: read, validated, and written with what is still to be filled in."""

from collections.abc import Iterator
from pathlib import Path

from pydantic import BaseModel, ValidationError

from k3preflight.errors import UsageError
from k3preflight.models.base import problems
from k3preflight.models.record import Record
from k3preflight.toml import line, read_toml

LARGEST_RECORD = 2**20  # bytes; a record of a hundred volumes takes a fiftieth

_HEAD = """\
# What to write down of a run, so that others can repeat it and compare.
# "" is a field nobody has filled in. Sizes: 8240000000 or "8.24 GB"; rates: "4.6 GB/s".
"""


def read_record(path: Path) -> Record:
    """The run record in `path`.

    Raises:
        UsageError: it cannot be read, is not TOML, or a key is wrong; file, key and reason.
    """
    data = read_toml(path, most=LARGEST_RECORD, kind="run record")
    try:
        return Record.model_validate(data)
    except ValidationError as error:
        raise UsageError(
            f"{path}: not a run record: {problems(error)}",
            "k3preflight record NAME prints one to fill in.",
        ) from error


def record_text(record: Record) -> str:
    """The record as TOML: every field there is, the empty ones as `""`, each with its meaning."""
    return _HEAD + "\n".join(_table(record, None)) + "\n"


def _table(model: BaseModel, header: str | None) -> Iterator[str]:
    """Plain keys first, as TOML demands, then the tables below."""
    if header:
        yield f"\n{header}"
    values = {key: getattr(model, key) for key in type(model).model_fields}
    for key, value in values.items():
        if not _is_table(value):
            comment = type(model).model_fields[key].description
            yield line(key, "" if value is None else value, comment)
    for key, value in values.items():
        if isinstance(value, BaseModel):
            yield from _table(value, f"[{key}]")
        elif _is_table(value):
            for item in value:
                yield from _table(item, f"[[{key}]]")


def _is_table(value: object) -> bool:
    first = value[0] if isinstance(value, tuple) and value else value
    return isinstance(first, BaseModel)
