"""Where /proc, /sys and /etc are read from: the real root, or any machine's files replayed."""

from pathlib import Path
from typing import NamedTuple


class Root(NamedTuple):
    """A file root. Paths are given as on the real machine: `root.read("/proc/meminfo")`."""

    folder: Path = Path("/")

    def at(self, path: str) -> Path:
        """Where `path` of the replayed machine lies on this one."""
        return self.folder / path.lstrip("/")

    def read(self, path: str) -> str:
        """The text of a file; undecodable bytes as lone surrogates.

        Raises:
            OSError: as the system says it.
        """
        return self.at(path).read_text(encoding="utf-8", errors="surrogateescape")


REAL = Root()
