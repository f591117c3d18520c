"""`k3preflight schema`: the JSON Schema of a document."""

from typing import Annotated

import typer

from k3preflight.cli.out import write_stdout
from k3preflight.models.names import DocumentKind


def schema(
    kind: Annotated[
        DocumentKind, typer.Argument(metavar="profile|host|report", help="Which document.")
    ],
) -> int:
    """Print the JSON Schema of profiles, host documents or reports."""
    from k3preflight.cli.schemas import schema_text  # noqa: PLC0415 - pydantic

    write_stdout(schema_text(kind))
    return 0
