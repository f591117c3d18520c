"""A progress bar on stderr with rate and time left; nothing where that is no terminal."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    Progress,
    TextColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)
from rich.text import Text


@contextmanager
def progress(title: str, total: int) -> Iterator[Callable[[int], None]]:
    """A bar of `total` bytes; the value is to be called with the bytes of every step."""
    console = Console(stderr=True, markup=False, emoji=False)
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
        TimeRemainingColumn(),
    )
    shown = sys.stderr is not None and sys.stderr.isatty()
    with Progress(*columns, console=console, transient=True, disable=not shown) as bar:
        task = bar.add_task(Text(title).plain, total=total)
        yield lambda step: bar.advance(task, step)
