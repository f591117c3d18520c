"""The mount table, as /proc/self/mountinfo gives it."""

import re
from typing import NamedTuple

from k3preflight.probe.root import Root

_ESCAPED = re.compile(r"\\([0-7]{3})")


class Mount(NamedTuple):
    """One mount: what of its file system is seen (`root`), where (`point`), and what it is."""

    root: str
    point: str
    kind: str
    source: str
    options: str


def mounts(root: Root) -> list[Mount]:
    """Every mount, in the order they were made.

    Raises:
        OSError: the table cannot be read.
    """
    return [
        mount
        for line in root.read("/proc/self/mountinfo").splitlines()
        if (mount := _mount(line)) is not None
    ]


def _mount(line: str) -> Mount | None:
    left, dash, right = line.partition(" - ")
    before, after = left.split(" "), right.split(" ")
    if not dash or len(before) < 6 or len(after) < 3:  # noqa: PLR2004 - see proc_pid_mountinfo(5)
        return None
    kind, source, options = after[:3]
    return Mount(_plain(before[3]), _plain(before[4]), kind, _plain(source), options)


def _plain(text: str) -> str:
    return _ESCAPED.sub(lambda match: chr(int(match[1], 8)), text)
