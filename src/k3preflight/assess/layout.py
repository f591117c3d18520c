"""Which artifact's bytes go to which volume; a spread one is laid whole file by whole file."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from k3preflight.assess.case import Case
from k3preflight.assess.here import by_role, credit_of, here
from k3preflight.models.disk import Place
from k3preflight.models.profile import Artifact

REST = "the other files"


class Share(NamedTuple):
    """What one volume is to hold of one artifact; `files` where it is spread."""

    artifact: Artifact
    bytes: int
    places: tuple[Place, ...]
    files: tuple[str, ...] = ()


class Layout(NamedTuple):
    """Shares by volume id; `unlaid` are the files of a spread artifact that found no room.

    `copies` are its files that are on a volume and count on another one.
    """

    shares: Mapping[str, tuple[Share, ...]]
    unlaid: Mapping[str, int]
    spread: tuple[Place, ...] = ()
    copies: Mapping[str, frozenset[str]] = MappingProxyType({})


def lay(case: Case) -> Layout:
    """Put every artifact on its volume, and spread what lies in several places last."""
    shares: dict[str, list[Share]] = {}
    spread: tuple[Artifact, tuple[Place, ...]] | None = None
    for role, places in by_role(case.host.places_of(case.scenario.profile.name)).items():
        artifact = case.scenario.profile.artifact(role)
        if artifact is None:
            continue
        if len({place.path for place in places}) > 1:
            spread = artifact, tuple(places)
            continue
        size = artifact.bytes(published=case.published)
        share = Share(artifact, size, tuple(places))
        shares.setdefault(places[0].volume or "", []).append(share)
    if spread is None:
        return Layout({volume: tuple(items) for volume, items in shares.items()}, {})
    copies = _copies(case, *spread)
    unlaid = _spread(case, *spread, shares, copies)
    laid = {volume: tuple(items) for volume, items in shares.items()}
    return Layout(laid, unlaid, spread[1], copies)


def _copies(case: Case, artifact: Artifact, places: Sequence[Place]) -> dict[str, frozenset[str]]:
    """Of each volume the whole files that an earlier one has too."""
    seen, copies = set[str](), dict[str, frozenset[str]]()
    for volume, group in _by_volume(places).items():
        names = _whole(case, artifact, group)
        copies[volume] = names & seen
        seen |= names
    return copies


def _by_volume(places: Sequence[Place]) -> dict[str, list[Place]]:
    volumes: dict[str, list[Place]] = {}
    for place in places:
        volumes.setdefault(place.volume or "", []).append(place)
    return volumes


def _whole(case: Case, artifact: Artifact, group: Sequence[Place]) -> frozenset[str]:
    if case.published:
        return frozenset()
    return frozenset(found.name for found in here(artifact, group).whole)


def _spread(
    case: Case,
    artifact: Artifact,
    places: Sequence[Place],
    shares: dict[str, list[Share]],
    copies: Mapping[str, frozenset[str]],
) -> dict[str, int]:
    """Whole files: those already there stay, the others are laid largest first."""
    volumes = _by_volume(places)
    room = {
        volume: room
        for volume, group in volumes.items()
        if (room := _room(case, volume, group, shares.get(volume, []), copies[volume])) is not None
    }
    files = dict(artifact.files)
    if artifact.size.bytes > sum(files.values()):
        files[REST] = artifact.size.bytes - sum(files.values())
    kept = dict[str, str]()
    for volume, group in volumes.items():
        for name in _whole(case, artifact, group) - copies[volume]:
            if name in files and volume in room:
                kept[name] = volume
    for name, volume in kept.items():
        room[volume] -= files[name]
    rest = sorted((name for name in files if name not in kept), key=lambda name: -files[name])
    # Evenly, so that all drives read at once; where that leaves a file out, drive after drive.
    laid = min(
        (_laid(rest, files, room, evenly=evenly) for evenly in (True, False)),
        key=lambda laid: sum(files[name] for name in rest if name not in laid),
    )
    laid |= kept
    for volume, group in volumes.items():
        names = tuple(name for name in files if laid.get(name) == volume)
        share = Share(artifact, sum(files[name] for name in names), tuple(group), names)
        shares.setdefault(volume, []).append(share)
    return {name: files[name] for name in rest if name not in laid}


def _room(
    case: Case,
    volume: str,
    group: Sequence[Place],
    others: Sequence[Share],
    copies: frozenset[str],
) -> int | None:
    """The largest sum of files whose need, headroom included, the volume has; None if unknown."""
    facts = case.host.volume(volume)
    if facts is None or facts.free is None:
        return None
    along = [place for share in others for place in share.places]
    have = facts.free + credit_of(case, [*group, *along], copies).total
    return have * 100 // (100 + case.headroom_percent) - sum(share.bytes for share in others)


def _laid(
    names: Sequence[str], files: Mapping[str, int], room: Mapping[str, int], *, evenly: bool
) -> dict[str, str]:
    """Which volume each file goes to; those that fit nowhere are left out."""
    left, laid = dict(room), dict[str, str]()
    for name in names:
        fitting = [volume for volume in left if left[volume] >= files[name]]
        if fitting:
            volume = max(fitting, key=lambda item: left[item]) if evenly else fitting[0]
            laid[name] = volume
            left[volume] -= files[name]
    return laid
