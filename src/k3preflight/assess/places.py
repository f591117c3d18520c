"""Places: where they really lead, and whether this user can write there."""

from collections.abc import Iterator

from k3preflight.assess.case import Case, Outcome
from k3preflight.models.disk import Place
from k3preflight.models.names import Status

NOT_TOUCHED = "not looked at: --free-disk says what is free"
_ROOTS = ("/", "/System/Volumes/Data")
_REMOVABLE = ("/mnt", "/media", "/run/media", "/Volumes")


def why(case: Case, place: Place, fact: str = "measured") -> str:
    """The reason a fact of `place` is not known."""
    return place.problem or case.host.why(f"places.{place.profile}.{place.role}.{fact}")


def path(case: Case) -> Iterator[Outcome]:
    """Each place is, or can become, a directory.

    A place that does not exist yet is measured at its nearest existing ancestor, which is named.
    """
    for place in case.host.places_of(case.scenario.profile.name):
        if place.source == "flag":
            yield Outcome(Status.SKIP, NOT_TOUCHED, subject=place.role)
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
                f"{place.role}: {why(case, place)}",
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
    if mount in _ROOTS and f"{target}/".startswith(tuple(f"{folder}/" for folder in _REMOVABLE)):
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
            yield Outcome(Status.SKIP, NOT_TOUCHED, subject=place.role)
        elif place.problem:
            yield Outcome(Status.SKIP, f"{place.role}: {place.problem}", subject=place.role)
        elif place.writable is None:
            yield Outcome(
                Status.UNKNOWN, f"{place.role}: {why(case, place, 'writable')}", subject=place.role
            )
        elif place.trial and not place.trial.created:
            yield Outcome(
                Status.FAIL,
                f"{place.role}: no file could be created in {place.measured}: {place.trial.error}",
                "Choose another directory with --dir.",
                subject=place.role,
            )
        elif place.writable:
            yield Outcome(
                Status.PASS,
                f"{place.role}: {place.measured} is writable{', tried' if place.trial else ''}",
                subject=place.role,
            )
        else:
            yield Outcome(
                Status.FAIL,
                f"{place.role}: this user cannot create files in {place.measured}: "
                f"{place.barrier or 'not permitted'}",
                "Change that, or choose another directory with --dir.",
                subject=place.role,
            )
