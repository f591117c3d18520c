"""What would make a volume that is too small large enough: the nearest thing first."""

import shlex
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from k3preflight.assess.case import Case
from k3preflight.assess.commands import quoted
from k3preflight.assess.here import by_role, here
from k3preflight.assess.layout import Layout, Share
from k3preflight.models.disk import Place, Volume
from k3preflight.models.names import Role
from k3preflight.units import ceil_div, gb

_MOST_NAMES = 20  # files in one command to paste
_MOST_FILES = 1000  # with the folders and side files of any client; no checkpoint has as many


class Shortfall(NamedTuple):
    """A volume on which `bare` bytes with headroom do not fit: `have` is `gap` short."""

    case: Case
    layout: Layout
    volume: Volume
    shares: tuple[Share, ...]
    bare: int
    have: int
    gap: int

    def need(self, size: int) -> int:
        """`size` with the headroom."""
        return ceil_div(size * (100 + self.case.headroom_percent), 100)


def remedy(short: Shortfall) -> str:
    """Every way out there is, in the order of how near it is."""
    ways = [
        *_another_volume(short),
        *_reserved(short),
        *_trunk_elsewhere(short),
        *_smaller_headroom(short),
        _more_room(short),
    ]
    first, *others = ways
    text = first[0].upper() + first[1:]
    return "; or ".join([text, *others]) + "."


def _more_room(short: Shortfall) -> str:
    """Space to make on the volume, or a larger one where it could never hold as much."""
    volume, need = short.volume, short.need(short.bare)
    most = None if volume.total is None else volume.total - (volume.reserved or 0)
    if most is None or most >= need:
        return f"free {gb(short.gap)} on {volume.id}"
    return (
        f"use a volume of at least {gb(need)}, as all of {volume.id} holds {gb(most)}: "
        f"{_moved(short, 'PATH')}"
    )


def _another_volume(short: Shortfall) -> Iterator[str]:
    """A local volume on which everything would pass."""
    best = _roomiest(short.case, short.need(short.bare), short.shares)
    if best is not None and not short.layout.spread:
        yield f"use {best.id}, where {gb(best.free or 0)} are free: {_moved(short, best.id)}"


def _moved(short: Shortfall, path: str) -> str:
    """The options that put what is here elsewhere: a place that was named goes before --dir."""
    named = [
        share.artifact.role
        for share in short.shares
        if any(place.decided_by.startswith("--place") for place in share.places)
    ]
    if not named:
        return f"--dir {quoted(path)}"
    return " ".join(f"--place {role}={quoted(path)}" for role in named)


def _roomiest(case: Case, need: int, shares: Sequence[Share]) -> Volume | None:
    """The local volume with most room, of those that have `need` free and take files so large."""
    largest = max(share.artifact.largest_file_at_least for share in shares)
    fitting = [
        volume
        for volume in case.host.disk.alternatives
        if (volume.free or 0) >= need
        and (volume.largest_file is None or volume.largest_file >= largest)
        and (volume.inodes_free is None or volume.inodes_free >= _MOST_FILES)
    ]
    return max(fitting, key=lambda volume: volume.free or 0, default=None)


def _reserved(short: Shortfall) -> Iterator[str]:
    """Blocks that ext keeps for root, where they cover what is missing."""
    volume = short.volume
    if (
        (volume.filesystem or "").startswith("ext")
        and volume.device
        and (volume.reserved or 0) >= short.gap
    ):
        yield (
            f"give back the {gb(volume.reserved or 0)} reserved for root: "
            f"sudo tune2fs -m 0 {shlex.quote(volume.device)}"
        )


def _trunk_elsewhere(short: Shortfall) -> Iterator[str]:
    """The trunk on another volume, where the rest fits without it."""
    trunk = next((share for share in short.shares if share.artifact.role is Role.TRUNK), None)
    if trunk is None or len(short.shares) == 1:
        return
    if short.need(short.bare - trunk.bytes) > short.have:
        return
    best = _roomiest(short.case, short.need(trunk.bytes), (trunk,))
    where = quoted(f"{best.id.rstrip('/')}/trunk") if best else "PATH on another volume"
    yield f"put the trunk ({gb(short.need(trunk.bytes))}) elsewhere: --place trunk={where}"


def _smaller_headroom(short: Shortfall) -> Iterator[str]:
    """The largest whole percent of headroom with which it fits."""
    percent = short.have * 100 // short.bare - 100 if short.bare else 0
    if percent >= 0 and not short.layout.spread:
        yield f"accept {percent}% headroom: --headroom {percent} passes"


def delete_command(case: Case, places: Iterable[Place]) -> str:
    """The line that deletes orphaned partials and wrong files at `places`; never live ones."""
    grouped = by_role(places)
    paths: list[str] = []
    for artifact in case.scenario.profile.artifacts:
        there = here(artifact, grouped.get(artifact.role, []))
        paths += [item.path for item in there.orphans]
        paths += [item.target or item.path for item in there.wrong]
    return rm(list(dict.fromkeys(paths)))


def rm(paths: list[str]) -> str:
    """`rm --` with `paths` quoted; of very many the first ones, and how many are left."""
    shown = " ".join(quoted(path) for path in paths[:_MOST_NAMES])
    more = len(paths) - _MOST_NAMES
    return f"rm -- {shown}" + (
        f"  # and {more} more, which the next check names" if more > 0 else ""
    )
