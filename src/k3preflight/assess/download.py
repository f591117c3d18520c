"""The download: what is there already, what its client demands, how long the rest takes."""

from collections.abc import Iterator

from k3preflight.assess.case import Case, Outcome
from k3preflight.assess.commands import filled, quoted
from k3preflight.assess.here import Here, by_role, here
from k3preflight.assess.places import NOT_TOUCHED
from k3preflight.assess.remedy import delete_command
from k3preflight.models.disk import Place
from k3preflight.models.names import Role, Status
from k3preflight.models.profile import Artifact, ClientDemand
from k3preflight.text import listed
from k3preflight.units import ceil_div, gb, speed

_XET_CACHE = 16 * 10**9  # hf_xet's soft limit of its shard cache: xet-runtime, cache_size_limit
_HIGH_PERFORMANCE = 64 * 10**9  # B of available memory under which its buffers hurt
_MINUTE, _HOUR, _DAY = 60, 3600, 86400


def present(case: Case) -> Iterator[Outcome]:
    """Which files are there already: whole by exact name and size, wrong, partial or missing.

    Source of the sizes: the profile. Skipped where nobody looked. Warns on what is of no use: wrong
    sizes, unwritten parts, orphaned partial files, a git-lfs clone.
    """
    groups = by_role(case.host.places_of(case.scenario.profile.name))
    for role, places in groups.items():
        artifact = case.scenario.profile.artifact(role)
        if artifact is None:
            continue
        if all(place.presence is None for place in places):
            yield Outcome(Status.SKIP, f"{role}: {_unseen(case, places[0])}", subject=role)
        else:
            yield _present(case, artifact, places, here(artifact, places))


def _unseen(case: Case, place: Place) -> str:
    if place.source == "flag":
        return NOT_TOUCHED
    return place.problem or case.host.why(f"places.{place.profile}.{place.role}.presence")


def _present(case: Case, artifact: Artifact, places: list[Place], there: Here) -> Outcome:
    expected = len(artifact.files) + len(artifact.named_files)
    size = sum(item.bytes for item in there.whole)
    parts = [f"{len(there.whole)} of {expected} files are there ({gb(size)})"]
    if there.missing and there.whole:
        parts.append(f"missing: {listed(there.missing, most=3)}")
    if any(not item.verified for item in there.whole):
        parts.append("allocation cannot be verified here")
    if there.live:
        parts.append(f"{len(there.live)} partial files are being written")
    if there.resumable:
        parts.append(f"{len(there.resumable)} partial files will be continued")
    for place in places:
        parts += [
            f"{item.files} whole files ({gb(item.bytes)}) lie in {item.path}: not counted here"
            for item in (place.presence.elsewhere if place.presence else ())
        ]
    odd, remedies = _of_no_use(case, artifact, places, there)
    return Outcome(
        Status.WARN if odd else Status.PASS,
        f"{artifact.role}: {'; '.join([*parts, *odd])}",
        "; ".join(remedies) or None,
        subject=artifact.role,
    )


def _of_no_use(
    case: Case, artifact: Artifact, places: list[Place], there: Here
) -> tuple[list[str], list[str]]:
    """What takes space and is not a file of the artifact, and what to do about it."""
    odd, remedies = list[str](), list[str]()
    if there.wrong:
        names = [
            f"{item.name} ({gb(item.bytes)}"
            + (f", {gb(item.allocated)} of it on disk)" if item.allocated < item.bytes else ")")
            for item in there.wrong
        ]
        odd.append(f"not of the right size: {listed(names, most=3)}")
    if there.orphans:
        size = gb(sum(item.allocated for item in there.orphans))
        odd.append(f"{len(there.orphans)} orphaned partial files hold {size}")
    if there.wrong or there.orphans:
        remedies.append(f"Delete them, they are fetched again: {delete_command(case, places)}")
    unwritten = [item.name for item in there.whole if item.written is False]
    if unwritten:
        odd.append(f"{len(unwritten)} have parts that were never written ({unwritten[0]})")
        named = "".join(
            f" --place {place.role}={quoted(place.path)}"
            for place in places
            if place.decided_by.startswith("--")
        )
        remedies.append(
            f"Compare digests: k3preflight verify {case.scenario.profile.name}{named} --sha256"
        )
    for place in places:
        if place.presence and place.presence.git_lfs:
            odd.append(f"{place.presence.git_lfs} holds every file a second time")
            remedies.append(f"Download with hf download {artifact.repository or ''} instead of git")
    return odd, remedies


def client(case: Case) -> Iterator[Outcome]:
    """What the download client itself demands, and where it writes besides the target.

    Warns where a project's own script would refuse, where its buffers are larger than memory
    allows, and where side files go to a volume that may be too small for them.
    """
    download = case.scenario.profile.download
    outcomes = []
    if download.demand is not None:
        outcomes.append(_demand(case, download.demand))
    if download.client != "llama-cache":
        outcomes += _side_files(case)
    if not outcomes:
        outcomes.append(Outcome(Status.PASS, download.note or f"{download.client} demands nothing"))
    yield from outcomes


def _demand(case: Case, demand: ClientDemand) -> Outcome:
    place = next(iter(case.host.places_of(case.scenario.profile.name, Role.CHECKPOINT)), None)
    volume = case.host.volume(place.volume) if place else None
    instead = f"Download with {filled(case, demand.instead)}"
    sets = ", ".join(demand.environment)
    also = f"; it also turns on {sets}" if sets else ""
    if demand.free is None:
        return Outcome(Status.PASS, f"{demand.name}{also}", instead, subject=demand.name)
    wants = f"{demand.name} wants {gb(demand.free.bytes)} free, however much is there already"
    if volume is None or volume.free is None:
        return Outcome(
            Status.SKIP, f"{wants}; what is free is unknown{also}", instead, subject=demand.name
        )
    if volume.free < demand.free.bytes:
        text = f"{wants}: with {gb(volume.free)} free it would refuse{also}"
        return Outcome(Status.WARN, text, instead, subject=demand.name)
    return Outcome(Status.PASS, f"{wants}; {gb(volume.free)} are{also}", None, subject=demand.name)


def _side_files(case: Case) -> Iterator[Outcome]:
    disk, available = case.host.disk, case.host.memory.available
    if disk.high_performance and available is not None and available < _HIGH_PERFORMANCE:
        yield Outcome(
            Status.WARN,
            f"HF_XET_HIGH_PERFORMANCE is on: its buffers take 16 GB and more, {gb(available)} of "
            "memory are available",
            "Unset it for the download: unset HF_XET_HIGH_PERFORMANCE",
            subject="HF_XET_HIGH_PERFORMANCE",
        )
    scratch = disk.scratch
    places = case.host.places_of(case.scenario.profile.name, Role.CHECKPOINT)
    if scratch is None or scratch.free is None or case.policy.free_disk is not None:
        return
    if scratch.volume in {place.volume for place in places}:
        yield Outcome(Status.PASS, f"side files go to {scratch.path}, on the same volume")
    elif scratch.free < _XET_CACHE:
        yield Outcome(
            Status.WARN,
            f"the Hub client keeps side files in {scratch.path} ({scratch.decided_by}), where only "
            f"{gb(scratch.free)} are free",
            "Point HF_XET_CACHE at a directory with more room.",
            subject="HF_XET_CACHE",
        )
    else:
        yield Outcome(
            Status.PASS, f"side files go to {scratch.path}: {gb(scratch.free)} free there"
        )


def time(case: Case) -> Iterator[Outcome]:
    """How long the download of what is missing takes at the speed of --link."""
    link = case.policy.link
    if link is None:
        yield Outcome(Status.SKIP, "say how fast the connection is: --link '1 Gbit/s'")
        return
    artifact = case.scenario.profile.checkpoint
    there = here(artifact, case.host.places_of(case.scenario.profile.name, Role.CHECKPOINT))
    known = sum(item.bytes for item in there.whole)
    known += sum(item.allocated for item in there.resumable)
    credited = 0 if case.published else known
    missing = max(0, artifact.bytes(published=case.published) - credited)
    yield Outcome(
        Status.PASS,
        f"{gb(missing)} to download: at least {duration(ceil_div(missing, link))} at "
        f"{speed(link)} ({link * 8 // 10**6:,} Mbit/s)",
        subject=artifact.role,
    )


def duration(seconds: int) -> str:
    """The two largest units: `3 d 14 h`, `2 h 5 min`, `40 s`."""
    for unit, name, below, below_name in ((_DAY, "d", _HOUR, "h"), (_HOUR, "h", _MINUTE, "min")):
        if seconds >= unit:
            return f"{seconds // unit} {name} {seconds % unit // below} {below_name}"
    return (
        f"{seconds // _MINUTE} min {seconds % _MINUTE} s" if seconds >= _MINUTE else f"{seconds} s"
    )
