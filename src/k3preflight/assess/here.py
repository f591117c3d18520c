"""What of an artifact is already there, sorted: whole, wrong, missing, partial; and its bytes."""

from collections.abc import Collection, Iterable
from typing import NamedTuple

from k3preflight.assess.case import Case
from k3preflight.models.disk import Found, Partial, Place
from k3preflight.models.names import Role
from k3preflight.models.profile import Artifact

DERIVED_TOLERANCE = 1000  # a derived file may differ from its derived size by a thousandth


class Here(NamedTuple):
    """One artifact at its places. `wrong` has the right name and another size, or holes."""

    whole: tuple[Found, ...]
    wrong: tuple[Found, ...]
    missing: tuple[str, ...]
    partials: tuple[Partial, ...]

    @property
    def live(self) -> tuple[Partial, ...]:
        """Partial files that a running download is writing."""
        return tuple(item for item in self.partials if item.live)

    @property
    def resumable(self) -> tuple[Partial, ...]:
        """Partial files that the client goes on from when it is started again."""
        return tuple(item for item in self.partials if item.resumes and not item.live)

    @property
    def orphans(self) -> tuple[Partial, ...]:
        """Partial files that nobody writes and no client goes on from: dead weight."""
        return tuple(item for item in self.partials if not item.resumes and not item.live)


def here(artifact: Artifact, places: Iterable[Place]) -> Here:
    """What of `artifact` is at `places`, each file where it is whole, if it is anywhere."""
    places = tuple(places)
    found: dict[str, list[Found]] = {}
    for place in places:
        for item in place.presence.files if place.presence else ():
            found.setdefault(item.name, []).append(item)
    partials = [item for place in places if place.presence for item in place.presence.partials]
    expected = {**artifact.files, **dict.fromkeys(artifact.named_files)}
    if not found:  # the commonest answer, and asked a dozen times a host
        return Here((), (), tuple(expected), tuple(partials))
    whole, wrong, missing = list[Found](), list[Found](), list[str]()
    for name, size in expected.items():
        items = found.get(name, [])
        good = [item for item in items if is_whole(item, size, artifact)]
        whole += good[:1]
        wrong += [] if good else items
        if not items:
            missing.append(name)
    return Here(tuple(whole), tuple(wrong), tuple(missing), tuple(partials))


def is_whole(item: Found, size: int | None, artifact: Artifact) -> bool:
    """Whether a file has the bytes it should have, and they are really on disk."""
    if size is None:
        return item.bytes > 0
    if item.allocated < item.bytes:
        return False
    if artifact.obtained == "derive":
        return abs(item.bytes - size) * DERIVED_TOLERANCE <= size
    return item.bytes == size


class Credit(NamedTuple):
    """Bytes on one volume that belong to the scenario already, each inode once."""

    whole: int = 0
    live: int = 0  # partial files that become files
    deletable: int = 0  # orphaned partials and wrong files: space once they are gone

    @property
    def total(self) -> int:
        """All of it: the verdict must not change while a download turns one into the other."""
        return self.whole + self.live + self.deletable


def credit_of(case: Case, places: Iterable[Place], copies: Collection[str] = frozenset()) -> Credit:
    """What is already there at `places`, which lie on one volume.

    `copies` are files that count on another volume of a spread artifact: a second one is no credit.
    """
    if case.published:
        return Credit()
    grouped = by_role(places)
    seen = set[str]()
    whole = live = deletable = 0
    for artifact in case.scenario.profile.artifacts:
        there = here(artifact, grouped.get(artifact.role, []))
        whole += _bytes((item for item in there.whole if item.name not in copies), seen)
        live += _bytes((*there.live, *there.resumable), seen)
        deletable += _bytes(there.orphans, seen) + _freed(there.wrong, seen)
    return Credit(whole, live, deletable)


def _bytes(items: Iterable[Found | Partial], seen: set[str]) -> int:
    total = 0
    for item in items:
        if item.inode not in seen:
            seen.add(item.inode)
            total += item.allocated
    return total


def _freed(items: Iterable[Found], seen: set[str]) -> int:
    """What deleting gives back: nothing of a file on another volume or with a second name."""
    fresh = {item.inode: item for item in items if item.inode not in seen}
    seen |= fresh.keys()
    return sum(item.allocated if item.frees is None else item.frees for item in fresh.values())


def by_role(places: Iterable[Place]) -> dict[Role, list[Place]]:
    """The places of each role, in order."""
    grouped: dict[Role, list[Place]] = {}
    for place in places:
        grouped.setdefault(place.role, []).append(place)
    return grouped
