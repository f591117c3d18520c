"""Disk: can the places be used as they are, and what is odd about their volumes?"""

from collections.abc import Iterator

from k3preflight.assess.case import Case, Outcome
from k3preflight.assess.here import by_role, here
from k3preflight.models.disk import Place, Under, Volume
from k3preflight.models.names import Status
from k3preflight.units import LARGEST, gb

_NOT_TOUCHED = "not looked at: --free-disk says what is free"
_ROOTS = ("/", "/System/Volumes/Data")
_REMOVABLE = ("/mnt", "/media", "/run/media", "/Volumes")


def _why(case: Case, place: Place, fact: str = "measured") -> str:
    return place.problem or case.host.why(f"places.{place.profile}.{place.role}.{fact}")


def path(case: Case) -> Iterator[Outcome]:
    """Each place is, or can become, a directory.

    A place that does not exist yet is measured at its nearest existing ancestor, which is named.
    """
    for place in case.host.places_of(case.scenario.profile.name):
        if place.source == "flag":
            yield Outcome(Status.SKIP, _NOT_TOUCHED, subject=place.role)
        elif place.problem:
            yield Outcome(
                Status.FAIL,
                f"{place.role}: {place.problem}",
                f"Name another directory with --dir or --place {place.role}=PATH.",
                subject=place.role,
            )
        elif place.measured is None:
            yield Outcome(
                Status.UNKNOWN,
                f"{place.role}: {_why(case, place)}",
                f"Name a directory this user can look at with --dir or --place {place.role}=PATH.",
                subject=place.role,
            )
        else:
            yield _leads(case, place)


def _leads(case: Case, place: Place) -> Outcome:
    """Where a usable place leads, and what is odd about that."""
    behind = f" (really {place.resolved})" if place.resolved not in {place.path, None} else ""
    text = f"{place.role}: {place.path}{behind} " + (
        "is a directory" if place.exists else f"does not exist yet; {place.measured} is measured"
    )
    decided = f"{text}; decided by {place.decided_by}"
    if place.caution:
        return Outcome(
            Status.WARN,
            f"{decided}: {place.caution}",
            "Set it to an absolute path, or name the directory with --dir.",
            subject=place.role,
        )
    volume = case.host.volume(place.volume)
    mount = volume.mount_point if volume else None
    target = place.resolved or place.path
    if mount in _ROOTS and target.startswith(tuple(f"{folder}/" for folder in _REMOVABLE)):
        return Outcome(
            Status.WARN,
            f"{decided}. It is on the root volume {mount}: is the disk that belongs there mounted?",
            "Mount it first; findmnt -T PATH shows what a path lies on.",
            subject=place.role,
        )
    return Outcome(Status.PASS, decided, subject=place.role)


def writable(case: Case) -> Iterator[Outcome]:
    """This user can create files at each place, by its effective ids."""
    for place in case.host.places_of(case.scenario.profile.name):
        if place.source == "flag":
            yield Outcome(Status.SKIP, _NOT_TOUCHED, subject=place.role)
        elif place.problem:
            yield Outcome(Status.SKIP, f"{place.role}: {place.problem}", subject=place.role)
        elif place.writable is None:
            yield Outcome(
                Status.UNKNOWN, f"{place.role}: {_why(case, place, 'writable')}", subject=place.role
            )
        elif place.writable:
            yield Outcome(
                Status.PASS, f"{place.role}: {place.measured} is writable", subject=place.role
            )
        else:
            yield Outcome(
                Status.FAIL,
                f"{place.role}: this user cannot create files in {place.measured}: "
                f"{place.barrier or 'not permitted'}",
                "Change that, or choose another directory with --dir.",
                subject=place.role,
            )


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
        return Outcome(Status.SKIP, _NOT_TOUCHED)
    why = next((_why(case, place) for place in places), "the host document has no places")
    return Outcome(Status.SKIP, f"no volume could be measured: {why}")


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


def _oddities(volume: Volume) -> Iterator[tuple[str, str | None]]:
    match volume.kind:
        case "overlay":
            yield (
                "is a container's own layer: it goes with the container, and limits such as "
                "Kubernetes' ephemeral storage are not visible from inside",
                "Use a volume that is mounted into the container.",
            )
        case "network":
            yield (
                "is a network or shared file system: capacity is as it says, streaming weights "
                "from it is as slow as the way there",
                "Put the weights on a local disk.",
            )
        case "fuse":
            yield (
                "is a FUSE file system: every read passes through a process, which streaming "
                "weights will feel",
                "Put the weights on a disk with a kernel file system.",
            )
        case "unknown":
            yield ("is a file system this tool does not know: its free space is as it says", None)
        case "local" | "image" | "ram":
            pass
    if volume.mount_root and "kubernetes.io~empty-dir" in volume.mount_root:
        yield ("is an emptyDir: it goes with the pod, and its size limit is not visible here", None)
    for under in volume.under:
        if (text := _under(under)) is not None:
            yield text
    if volume.quota is not None and volume.quota_free is None:
        yield (f"may hold less for this user than it says: {volume.quota}", "Ask for your quota.")
    if volume.unsure:
        yield (f"may be shared: {volume.unsure}", None)


def _under(under: Under) -> tuple[str, str | None] | None:
    free = "unknown" if under.free is None else gb(under.free)
    where = under.mount_point or "an unknown volume"
    match under.kind:
        case "loop file":
            if under.grows == 0:
                return None
            grows = "more" if under.grows is None else gb(under.grows)
            return (
                f"lies in the file {under.path}, which may still take {grows} of {where}, where "
                f"{free} are free",
                f"Keep that much free on {where}, or allocate the file in full.",
            )
        case "thin pool":
            return (
                f"is thinly provisioned from {under.path}: the pool can run out before the volume",
                "Look at the pool: sudo lvs -a -o +data_percent",
            )
        case "Windows drive":
            return (
                "is a virtual disk (ext4.vhdx) that grows on a Windows drive; on "
                f"{under.mount_point or 'the drive'} {free} are free",
                "Keep that much free on the Windows drive that holds the distribution.",
            )


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
        largest = max(
            artifact.largest_file
            for artifact in case.scenario.profile.artifacts
            if artifact.role in by_role(places)
        )
        needs = f"the largest file has {gb(largest)}"
        if limit is not None and limit < largest:
            yield Outcome(
                Status.FAIL,
                f"{needs}, but this process may write files of {gb(limit)} at most",
                "Raise the limit: ulimit -f unlimited",
                subject=volume.id,
            )
        elif volume.largest_file is not None and volume.largest_file < largest:
            yield Outcome(
                Status.FAIL,
                f"{needs}, but {volume.filesystem} on {volume.id} holds files of "
                f"{gb(volume.largest_file)} at most",
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
            len(artifact.files) + len(artifact.named_files) - len(here(artifact, group).whole)
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
