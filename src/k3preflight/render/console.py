"""A rich console that draws into a string: plain text unless the screen may hold colour."""

import re
from io import StringIO

from rich.cells import cell_len
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from k3preflight.models.names import Status
from k3preflight.render import Screen

STYLES = {
    Status.PASS: "green",
    Status.WARN: "yellow",
    Status.FAIL: "bold red",
    Status.UNKNOWN: "magenta",
    Status.SKIP: "dim",
}


# A log line that begins with this, spaces before it or not, is a command to GitHub Actions.
_WORKFLOW_COMMAND = re.compile(r"^(\s*):(?=:)", re.MULTILINE)


class Page:
    """Lines of text, wrapped at the screen's width; what is to be pasted is never wrapped."""

    def __init__(self, screen: Screen) -> None:
        self._out = StringIO()
        self.width = screen.width
        # color_system None writes no escape at all; no_color alone would keep bold and dim.
        self._console = Console(
            file=self._out,
            width=screen.width,
            force_terminal=screen.color,
            color_system="standard" if screen.color else None,
            highlight=False,
            markup=False,
            emoji=False,
            legacy_windows=False,
            safe_box=True,
        )

    def line(
        self, *parts: str | Text | tuple[str, str], indent: int = 0, whole: bool = False
    ) -> None:
        """One paragraph, wrapped with a hanging indent; left `whole`, or where a word is wider.

        Such a word is a path, and it may stand in a command: broken, it could not be pasted.
        """
        text = Text.assemble(*parts)
        text.overflow = "fold"
        if whole or max(map(cell_len, text.plain.split()), default=0) > self.width - indent:
            self._console.print(Text(" " * indent) + text, soft_wrap=True)
            return
        self._console.print(Padding(text, (0, 0, 0, indent)) if indent else text)

    def field(self, name: str, *parts: str, width: int = 11) -> None:
        """A named fact, its continuation lines under its own text."""
        grid = Table.grid(padding=0)
        grid.add_column(width=width, no_wrap=True)
        grid.add_column(overflow="fold")
        grid.add_row(name, "".join(parts))
        self._console.print(grid)

    def paste(self, command: str, indent: int = 2) -> None:
        """A line to paste: left whole, however narrow the screen."""
        self._console.print(" " * indent + command, soft_wrap=True, style=None)

    def blank(self) -> None:
        """An empty line between what is above and what follows."""
        if self._out.tell():
            self._console.print()

    def draw(self, thing: object) -> None:
        """Any rich renderable."""
        self._console.print(thing)

    def fits(self, table: object) -> bool:
        """Whether `table` can be drawn without wrapping or cutting a cell."""
        wide = self._console.options.update(width=10_000)
        return self._console.measure(table, options=wide).maximum <= self.width  # type: ignore[arg-type]  # any renderable

    @property
    def text(self) -> str:
        """What was drawn, trailing spaces removed; no wrapped text starts a line with `::`."""
        text = "".join(line.rstrip() + "\n" for line in self._out.getvalue().splitlines())
        return _WORKFLOW_COMMAND.sub(r"\1\\x3a", text)


def word(status: Status) -> tuple[str, str]:
    """A status as it is shown: a plain word, so that colour is never the only carrier."""
    return status.upper(), STYLES[status]
