"""`k3preflight bench`: what drives deliver when they are read as the runtimes will read them."""

import sys
from enum import StrEnum
from typing import Annotated

import typer

from k3preflight.cli import options
from k3preflight.cli.out import screen, write_stdout
from k3preflight.errors import Exit


class BenchFormat(StrEnum):
    """What the measurements can be written as."""

    TABLE = "table"
    JSON = "json"


def bench(
    directories: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="DIR",
            help="Where the weights are or will be; several are measured apart and all at once. "
            "[default: .]",
        ),
    ] = None,
    form: Annotated[
        BenchFormat, typer.Option("--format", help="What stdout gets.")
    ] = BenchFormat.TABLE,
    debug: options.Debug = False,
) -> int:
    """Measure what drives deliver, read as the runtimes will read them; about half a minute each.

    Whole shards that are there are read; else a fresh file without a name is written, of 5% of what
    is free and 4 GiB at most. Exits 3 where a directory gave no figure, 130 when interrupted.
    """
    del debug
    from k3preflight.cli.benching import document, measured  # noqa: PLC0415 - pydantic, psutil

    found = measured(directories or ["."], refuse=True)
    if form is BenchFormat.JSON:
        write_stdout(document(found))
    else:
        from k3preflight.render.bench import page  # noqa: PLC0415 - rich

        terminal = sys.stdout is not None and sys.stdout.isatty()
        write_stdout(page(found, screen(), paste=terminal))
    if not found.complete:
        return Exit.INTERRUPTED
    without = any(entry.best_bytes_per_second is None for entry in found.directories)
    return Exit.UNKNOWN if without else Exit.PASS
