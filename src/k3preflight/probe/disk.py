"""Places and volumes: every wanted path looked at, each in a child that can be abandoned."""

import os
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

from k3preflight.models.disk import (
    Disk,
    Elsewhere,
    Found,
    Place,
    Presence,
    Scratch,
    Volume,
    WantedPlace,
)
from k3preflight.models.host import Unknown, Wanted
from k3preflight.models.names import CheckId, Role
from k3preflight.probe.child import LIMIT, ask
from k3preflight.probe.places import absolute
from k3preflight.probe.resolvers import Decided, decide, hf_cache, llama_cache, xet_cache
from k3preflight.probe.root import REAL, Root
from k3preflight.probe.sight import Question, Sight
from k3preflight.probe.volumes import merged
from k3preflight.units import LARGEST

_TRUE = {"1", "on", "yes", "true"}
_NEED_PLACES = {check for check in CheckId if check.startswith(("disk.", "download."))}
_NEED_FILES = {
    CheckId.DISK_CAPACITY,
    CheckId.DISK_INODES,
    *(check for check in CheckId if check.startswith("download.")),
}

_Views = Mapping[str, Sight | None]
_Pairs = Sequence[tuple[WantedPlace, Decided]]


class DiskFacts(NamedTuple):
    """Places, the volumes they lie on, and what could not be read."""

    places: tuple[Place, ...] = ()
    volumes: tuple[Volume, ...] = ()
    disk: Disk = Disk()
    unknown: tuple[Unknown, ...] = ()


def probe_disk(wanted: Wanted, root: Root = REAL) -> DiskFacts:
    """Look at every wanted place and measure each volume once; what nobody asks for is left out."""
    pairs = [(want, decide(want)) for want in wanted.places]
    if not wanted.touch_disk or wanted.skip >= _NEED_PLACES:
        return DiskFacts(tuple(_named(want, by) for want, by in pairs))
    files = not wanted.skip >= _NEED_FILES
    views = _views(pairs, root, files=files, write=wanted.write_probe)
    volumes, ids = merged(view.seen for view in views.values() if view)
    if wanted.write_probe:
        volumes, ids = _tried(pairs, views, volumes, ids)
    places: list[Place] = []
    unknown: list[Unknown] = []
    for want, by in pairs:
        place, reasons = _place(want, by, views, ids)
        places.append(place)
        unknown += reasons
    used = {place.volume for place in places}
    unknown += [
        Unknown(
            fact=f"volumes.{volume.id}.purgeable", reason="macOS does not say what it could clear"
        )
        for volume in volumes
        if volume.id in used and volume.filesystem == "apfs" and volume.purgeable is None
    ]
    return DiskFacts(
        tuple(places),
        tuple(volume for volume in volumes if volume.id in used),
        Disk(
            file_size_limit=_file_size_limit(),
            high_performance=os.environ.get("HF_XET_HIGH_PERFORMANCE", "").lower() in _TRUE,
            scratch=_scratch(views, ids) if files else None,
        ),
        tuple(unknown),
    )


def _views(pairs: _Pairs, root: Root, *, files: bool, write: bool) -> _Views:
    """Every path once, in the order of the places; then where else their files may lie."""
    wants: dict[str, dict[WantedPlace, None]] = {by.path: {} for _, by in pairs}
    if files:
        for want, by in pairs:
            wants[by.path][want] = None
        for path in _caches():
            for want, _ in pairs:
                if want.role is Role.CHECKPOINT:
                    wants.setdefault(path, {})[want] = None
        wants.setdefault(xet_cache().path, {})
    largest = {by.path: _largest(want) for want, by in pairs} if write else {}
    for want, by in pairs if write else ():
        largest[by.path] = max(largest[by.path], _largest(want))
    questions = [
        Question(path=path, wants=tuple(asked), root=root.folder, write=largest.get(path))
        for path, asked in wants.items()
    ]
    return dict(zip(wants, ask(questions), strict=True))


def _largest(want: WantedPlace) -> int:
    return max((file.bytes or 0 for file in want.files), default=0)


def _tried(
    pairs: _Pairs, views: _Views, volumes: tuple[Volume, ...], ids: Mapping[str, str]
) -> tuple[tuple[Volume, ...], Mapping[str, str]]:
    """Volumes that turn out to be one when room is set aside on the first: told by a trial."""
    paths: dict[str, str] = {}
    for _, by in pairs:
        sight = views[by.path]
        if sight and sight.seen:
            paths.setdefault(ids[sight.seen.storage], by.path)
    by_id = {volume.id: volume for volume in volumes}
    same = dict[str, str]()
    for one, other in combinations(paths, 2):
        if other in same:
            continue
        # One after the other: a trial must not see the room that another sets aside.
        (sight,) = ask([Question(path=paths[one], shares_with=paths[other])])
        if sight and sight.shares:
            kept = same[other] = same.get(one, one)
            text = f"room set aside on {one} was taken from {other}: counted as one volume"
            by_id[kept] = by_id[kept].model_copy(update={"unsure": text})
    joined = {storage: same.get(name, name) for storage, name in ids.items()}
    return tuple(volume for name, volume in by_id.items() if name not in same), joined


def _caches() -> tuple[str, ...]:
    """Where else on this machine the same files may lie: the clients' caches, old and new."""
    old = os.path.join(os.path.expanduser("~"), ".cache", "llama.cpp")  # noqa: PTH111, PTH118 - as they do
    return tuple(dict.fromkeys((hf_cache().path, llama_cache().path, old)))


def _named(want: WantedPlace, by: Decided) -> Place:
    """The place as it is named; nothing is looked at."""
    return Place(
        profile=want.profile,
        role=want.role,
        requested=by.path if want.requested is None else want.requested,
        decided_by=by.by,
        follows=want.follows,
        path=absolute(by.path),
        own_cache=by.own_cache,
        caution=by.caution,
    )


_FACTS: tuple[str, ...] = ("measured", "volume", "writable", "presence")


def _place(
    want: WantedPlace, by: Decided, views: _Views, ids: Mapping[str, str]
) -> tuple[Place, list[Unknown]]:
    """The place with what is known of it, and the reason for each fact that is not."""
    named, sight = _named(want, by), views[by.path]
    missing: dict[str, str] = {}
    if sight is None:
        reason = (
            f"{named.path} did not answer within {LIMIT:.0f} s: is what it is mounted from still "
            "there? findmnt shows it"
        )
        place, missing = named, dict.fromkeys(_FACTS, reason)
    else:
        look = sight.look
        if look.unknown:
            missing = dict.fromkeys(_FACTS, look.unknown)
        if sight.volume_unknown:
            missing["volume"] = sight.volume_unknown
        elif sight.seen and sight.seen.volume.free is None:
            missing["volume"] = f"the file system at {look.measured} does not report its size"
        if sight.presence_unknown:
            missing["presence"] = sight.presence_unknown
        place = named.model_copy(
            update={
                "path": look.path,
                "resolved": look.resolved,
                "measured": look.measured,
                "exists": look.exists,
                "problem": look.problem,
                "writable": look.writable,
                "barrier": look.barrier,
                "read_only": look.space.read_only if look.space else None,
                "volume": ids.get(sight.seen.storage) if sight.seen else None,
                "presence": _presence(want, by.path, views),
                "trial": sight.trial,
            }
        )
    prefix = f"places.{want.profile}.{want.role}"
    return place, [Unknown(fact=f"{prefix}.{key}", reason=why) for key, why in missing.items()]


def _presence(want: WantedPlace, path: str, views: _Views) -> Presence | None:
    """What is at the place, and which whole files of it lie elsewhere."""
    here = _presence_in(views.get(path), want)
    if here is None or want.role is not Role.CHECKPOINT:
        return here
    known = {found.inode for found in here.files}
    elsewhere: list[Elsewhere] = []
    for other in dict.fromkeys((path, *_caches())):
        there, left = _presence_in(views.get(other), want), _strays_in(views.get(other), want)
        files = [*(there.files if there and other != path else ()), *left]
        whole = [item for item in files if item.inode not in known and _is_whole(item, want)]
        if whole:
            size = sum(item.bytes for item in whole)
            # Beside its own files those of another client lie in a folder to be named.
            where = os.path.dirname(whole[0].path) if other == path else other  # noqa: PTH120 - text
            elsewhere.append(Elsewhere(path=where, files=len(whole), bytes=size))
            known |= {item.inode for item in whole}
    return here.model_copy(update={"elsewhere": tuple(elsewhere)})


def _is_whole(item: Found, want: WantedPlace) -> bool:
    expected = next((file.bytes for file in want.files if file.name == item.name), None)
    return item.bytes == expected and item.written is not False


def _presence_in(sight: Sight | None, want: WantedPlace) -> Presence | None:
    if sight is None or sight.presence is None:
        return None
    return sight.presence.get(want.key)


def _strays_in(sight: Sight | None, want: WantedPlace) -> tuple[Found, ...]:
    return sight.strays.get(want.key, ()) if sight else ()


def _scratch(views: _Views, ids: Mapping[str, str]) -> Scratch:
    """The Xet side files of the Hub client: where, and what is free there."""
    by = xet_cache()
    sight = views.get(by.path)
    seen = sight.seen if sight else None
    return Scratch(
        path=by.path,
        decided_by=by.by,
        volume=ids.get(seen.storage) if seen else None,
        free=seen.volume.free if seen else None,
    )


def _file_size_limit() -> int | None:
    """RLIMIT_FSIZE in bytes, 2**63 - 1 where there is none."""
    try:
        import resource  # noqa: PLC0415 - there is none on Windows
    except ImportError:  # pragma: no cover - Windows has no such limit
        return LARGEST
    soft, _ = resource.getrlimit(resource.RLIMIT_FSIZE)
    return LARGEST if soft == resource.RLIM_INFINITY else min(soft, LARGEST)
