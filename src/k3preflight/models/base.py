"""What all models share: frozen, whole bytes, and text that is safe to show."""

from copy import copy
from dataclasses import dataclass
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError, WithJsonSchema
from pydantic_core import CoreSchema, core_schema

from k3preflight.text import listed, visible
from k3preflight.units import LARGEST, SIZE_PATTERN, Size, Speed


class Document(BaseModel):
    """Part of a host or a report: keys a newer minor version added are ignored."""

    # defer_build: a model nested in another is compiled once, with it (a third of start-up).
    model_config = ConfigDict(frozen=True, extra="ignore", defer_build=True)


class Strict(BaseModel):
    """Part of a profile, written by hand: a key nobody knows is a mistake."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


@dataclass(frozen=True, eq=False)  # by identity: a schema cannot be hashed, and annotations are
class _Checked:
    """How a type of many fields is checked, said once: composing it for each takes longer."""

    schema: CoreSchema

    def __get_pydantic_core_schema__(self, _source: object, _handler: object) -> CoreSchema:
        return copy(self.schema)  # which pydantic writes its own notes into


def _visible(least: int = 0) -> _Checked:
    return _Checked(
        core_schema.no_info_after_validator_function(
            visible, core_schema.str_schema(min_length=least or None)
        )
    )


Text = Annotated[str, _visible()]
"""A string with control characters and undecodable bytes spelled out."""

SomeText = Annotated[str, _visible(least=1)]
"""The same, and not empty."""

Bytes = Annotated[int, _Checked(core_schema.int_schema(strict=True, ge=0, le=LARGEST))]
"""Whole bytes in a host or a report."""

Count = Annotated[int, _Checked(core_schema.int_schema(strict=True, ge=0))]
Percent = Annotated[int, _Checked(core_schema.int_schema(strict=True, ge=0, le=1000))]

WrittenSize = Annotated[
    int,
    BeforeValidator(Size.of),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "integer", "minimum": 0, "maximum": LARGEST},
                {"type": "string", "pattern": SIZE_PATTERN},
            ],
            "description": 'Bytes as a whole number, or text with a unit such as "128 GB".',
        }
    ),
]
"""Bytes as a person writes them in a profile: `1560998984390` or `"1560 GB"`."""

WrittenSpeed = Annotated[int, BeforeValidator(Speed.of)]
"""Bytes a second as a person writes them: `3200000000` or `"3.2 GB/s"`."""


def problems(error: ValidationError) -> str:
    """Key and reason of each problem, the first three of them, in one line."""
    found = [
        f"{'.'.join(map(str, entry['loc'])) or 'the document'}: "
        + entry["msg"].removeprefix("Value error, ")
        for entry in error.errors(include_url=False, include_input=False, include_context=False)
    ]
    return visible(listed(found, most=3, separator="; "))
