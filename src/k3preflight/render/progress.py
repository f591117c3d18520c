"""Progress on stderr, with a rate; nothing where that is no terminal."""

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

from k3preflight.text import visible
from k3preflight.units import speed


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


Show = Callable[[str, str, int, int, int | None], None]
"""Where, what, how much of how much is done, bytes a second."""


@contextmanager
def steps() -> Iterator[Show]:
    """One line that says what is going on, with a bar; the value is to be called as it goes on."""
    console = Console(stderr=True, markup=False, emoji=False)
    columns = (TextColumn("{task.description}", markup=False), BarColumn())
    shown = sys.stderr is not None and sys.stderr.isatty()
    with Progress(*columns, console=console, transient=True, disable=not shown) as bar:
        task = bar.add_task("", total=None)

        def show(where: str, what: str, done: int, total: int, rate: int | None) -> None:
            said = f"{visible(where)}: {what}" + (f", {speed(rate)}" if rate else "")
            bar.update(task, description=said, completed=done, total=total)

        yield show
