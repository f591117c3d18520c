"""Volumes: what is odd about the file systems that the places lie on."""

from collections.abc import Iterator
from typing import assert_never

from k3preflight.assess.case import Case, Outcome
from k3preflight.assess.here import by_role, here
from k3preflight.assess.places import NOT_TOUCHED, why
from k3preflight.models.disk import Place, Under, Volume, VolumeKind
from k3preflight.models.names import Status
from k3preflight.units import LARGEST, gb


def _volumes(case: Case) -> Iterator[tuple[Volume, tuple[Place, ...]]]:
    """Every measured volume of the scenario, with the places on it."""
    places = case.host.places_of(case.scenario.profile.name)
    for volume_id in dict.fromkeys(place.volume for place in places):
        volume = case.host.volume(volume_id)
        if volume is not None and volume.source == "measured":
            yield volume, tuple(place for place in places if place.volume == volume_id)


def _none_measured(case: Case) -> Outcome:
    places = case.host.places_of(case.scenario.profile.name)
    if any(place.source == "flag" for place in places):
        return Outcome(Status.SKIP, NOT_TOUCHED)
    reason = next((why(case, place) for place in places), "the host document has no places")
    return Outcome(Status.SKIP, f"no volume could be measured: {reason}")


def filesystem(case: Case) -> Iterator[Outcome]:
    """The file systems are real, lasting, local disks; memory fails, what is odd is named.

    Fails where it is RAM, warns on network and FUSE file systems, container layers, backing files
    that can run out, quotas that could not be read, and volumes that may be one.
    """
    nothing = True
    for volume, _ in _volumes(case):
        nothing = False
        name = f"{volume.id} ({volume.filesystem or 'unknown file system'})"
        if volume.kind == "ram" or any(under.ram for under in volume.under):
            yield Outcome(
                Status.FAIL,
                f"{name} is in RAM: what is written there takes memory and is gone after a restart",
                "Choose a directory on a disk with --dir.",
                subject=volume.id,
            )
            continue
        odd = list(_oddities(volume))
        for message, way_out in odd:
            yield Outcome(Status.WARN, f"{name} {message}", way_out, subject=volume.id)
        if not odd:
            yield Outcome(Status.PASS, f"{name}{_notes(volume)}", subject=volume.id)
    if nothing:
        yield _none_measured(case)


_KINDS: dict[VolumeKind, tuple[str, str | None]] = {
    "overlay": (
        (
            "is a container's own layer: it goes with the container, and limits such as "
            "Kubernetes' ephemeral storage are not visible from inside"
        ),
        "Use a volume that is mounted into the container.",
    ),
    "network": (
        (
            "is a network or shared file system: capacity is as it says, and streaming weights "
            "from it is as slow as the way there"
        ),
        "Put the weights on a local disk.",
    ),
    "fuse": (
        "is a FUSE file system: every read passes through a process, which streaming will feel",
        "Put the weights on a disk with a kernel file system.",
    ),
    "unknown": ("is a file system this tool does not know: its free space is as it says", None),
}


def _oddities(volume: Volume) -> Iterator[tuple[str, str | None]]:
    """What a person should know before relying on the volume, each with a way out."""
    if volume.kind is not None and volume.kind in _KINDS:
        yield _KINDS[volume.kind]
    if volume.mount_root and "kubernetes.io~empty-dir" in volume.mount_root:
        yield "is an emptyDir: it goes with the pod, and its size limit is not visible here", None
    for under in volume.under:
        if (text := _under(under)) is not None:
            yield text
    if volume.quota is not None and volume.quota_free is None:
        yield f"may hold less for this user than it says: {volume.quota}", "Ask for your quota."
    if volume.unsure:
        yield f"may be shared: {volume.unsure}", None


def _under(under: Under) -> tuple[str, str | None] | None:
    free = "unknown" if under.free is None else gb(under.free)
    where = under.mount_point or "an unknown volume"
    match under.kind:
        case "loop file":
            if under.grows == 0:
                return None
            grows = "more" if under.grows is None else gb(under.grows)
            return (
                (
                    f"lies in the file {under.path}, which may still take {grows} of {where}, "
                    f"where {free} are free"
                ),
                f"Keep that much free on {where}, or allocate the file in full.",
            )
        case "thin pool":
            return (
                f"is thinly provisioned from {under.path}: the pool can run out before the volume",
                "Look at the pool: sudo lvs -a -o +data_percent",
            )
        case "Windows drive":
            return (
                (
                    "is a virtual disk (ext4.vhdx) that grows on a Windows drive; on "
                    f"{under.mount_point or 'the drive'} {free} are free"
                ),
                "Keep that much free on the Windows drive that holds the distribution.",
            )
        case _:
            assert_never(under.kind)


def _notes(volume: Volume) -> str:
    notes = []
    if volume.filesystem == "btrfs":
        notes.append("free space there is an estimate, and compression is not counted on")
    if volume.reserved:
        notes.append(f"{gb(volume.reserved)} are reserved for root and not counted")
    if volume.quota_free is not None:
        notes.append(f"{volume.quota} leaves {gb(volume.quota_free)}")
    return f": {'; '.join(notes)}" if notes else ": a local disk"


def file_size(case: Case) -> Iterator[Outcome]:
    """The largest file may be that large: within this process's limit and the file system's.

    Source: RLIMIT_FSIZE, and the limits of FAT, ext2, ext3 and NFS 2; others have none that counts.
    """
    nothing = True
    limit = case.host.disk.file_size_limit
    for volume, places in _volumes(case):
        nothing = False
        placed = [
            artifact
            for artifact in case.scenario.profile.artifacts
            if artifact.role in by_role(places)
        ]
        least = max(artifact.largest_file_at_least for artifact in placed)
        most = max(artifact.largest_file for artifact in placed)
        span = gb(most) if least == most else f"{gb(least)} to {gb(most)}, which is not published,"
        needs = f"the largest file has {span}"
        refused = next(
            (place for place in places if place.trial and place.trial.sized is False), None
        )
        if limit is not None and limit < most:
            yield Outcome(
                Status.FAIL if limit < least else Status.WARN,
                f"{needs}, but this process may write files of {gb(limit)} at most",
                "Raise the limit: ulimit -f unlimited",
                subject=volume.id,
            )
        elif volume.largest_file is not None and volume.largest_file < most:
            yield Outcome(
                Status.FAIL if volume.largest_file < least else Status.WARN,
                f"{needs}, but {volume.filesystem} on {volume.id} holds files of "
                f"{gb(volume.largest_file)} at most",
                "Use ext4, xfs, btrfs, APFS, NTFS or exFAT.",
                subject=volume.id,
            )
        elif refused is not None and refused.trial is not None:
            yield Outcome(
                Status.FAIL,
                f"{needs}, but a file of that size could not be made in {refused.measured}: "
                f"{refused.trial.error}",
                "Use ext4, xfs, btrfs, APFS, NTFS or exFAT.",
                subject=volume.id,
            )
        else:
            own = (
                ""
                if limit in {None, LARGEST}
                else f", the limit of this process is {gb(limit or 0)}"
            )
            yield Outcome(Status.PASS, f"{needs}{own}", subject=volume.id)
    if nothing:
        yield _none_measured(case)


def inodes(case: Case) -> Iterator[Outcome]:
    """There are inodes left for every file that is not there yet."""
    nothing = True
    for volume, places in _volumes(case):
        nothing = False
        needed = sum(
            (artifact.file_count or len(artifact.files))
            + len(artifact.named_files)
            - len(here(artifact, group).whole)
            for role, group in by_role(places).items()
            if (artifact := case.scenario.profile.artifact(role)) is not None
        )
        if volume.inodes_free is None:
            yield Outcome(
                Status.PASS,
                f"{volume.id} reports no limit on the number of files; {needed} needed",
                subject=volume.id,
            )
        elif volume.inodes_free < needed:
            yield Outcome(
                Status.FAIL,
                f"{needed} files needed, but {volume.id} has {volume.inodes_free} inodes left",
                f"Delete small files there, or choose another volume; df -i {volume.id} shows it.",
                subject=volume.id,
            )
        else:
            yield Outcome(
                Status.PASS,
                f"{needed} files needed, {volume.inodes_free:,} inodes left on {volume.id}",
                subject=volume.id,
            )
    if nothing:
        yield _none_measured(case)
