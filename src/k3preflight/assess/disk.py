"""Disk: does what the scenario needs fit on the volumes its places lie on?"""

from collections.abc import Iterator
from itertools import groupby

from k3preflight.assess.case import Case, Outcome
from k3preflight.models.host import Place, Volume
from k3preflight.models.names import Role, Status
from k3preflight.models.report import Budget, Item
from k3preflight.units import ceil_div, exact, gb

_NOT_TOUCHED = "not looked at: --free-disk says what is free"


def capacity(case: Case) -> Iterator[Outcome]:
    """Every volume can take the artifacts placed on it, with headroom.

    need = ceil(sum of their bytes x (100 + headroom) / 100); have = free to this user. Unknown
    where the free space of a volume could not be read.
    """
    places = case.host.places_of(case.scenario.profile.name)
    for volume_id, group in groupby(sorted(places, key=_by_volume), key=_by_volume):
        volume = case.host.volume(volume_id)
        yield _on_volume(case, volume, tuple(group))
    placed = {place.role for place in places}
    for artifact in case.scenario.profile.artifacts:
        if artifact.role not in placed:
            yield Outcome(
                Status.UNKNOWN,
                f"the host document has no place for the {artifact.role}",
                f"Probe it again: k3preflight probe {case.scenario.profile.name}",
                subject=artifact.role,
            )


def _by_volume(place: Place) -> str:
    return place.volume or ""


def _on_volume(case: Case, volume: Volume | None, places: tuple[Place, ...]) -> Outcome:
    artifacts = [
        artifact
        for artifact in case.scenario.profile.artifacts
        if any(place.role is artifact.role for place in places)
    ]
    bare = sum(artifact.bytes(published=case.published) for artifact in artifacts)
    need = ceil_div(bare * (100 + case.headroom_percent), 100)
    items = [
        Item(
            side="need",
            name=artifact.role,
            bytes=artifact.bytes(published=case.published),
            source=_size_source(case, artifact.role),
        )
        for artifact in artifacts
    ]
    items.append(
        Item(
            side="need",
            name=f"headroom {case.headroom_percent}%",
            bytes=need - bare,
            source=_headroom_source(case),
        )
    )
    roles = " and ".join(artifact.role for artifact in artifacts)
    subject = volume.id if volume else places[0].path
    if volume is None or volume.free is None:
        return Outcome(
            Status.UNKNOWN,
            f"free space for the {roles} at {places[0].path} is unknown: {_why(case, places[0])}",
            "Name a directory that can be read with --dir, or say what is free with --free-disk.",
            Budget.of(need, None, items),
            subject,
        )
    items.append(Item(side="have", name="free", bytes=volume.free, source=_free_source(volume)))
    budget = Budget.of(need, volume.free, items)
    wanted = f"{gb(need)} for {roles} with {case.headroom_percent}% headroom"
    if budget.gap == 0:
        return Outcome(
            Status.PASS,
            f"{gb(volume.free)} free on {volume.id}, {wanted} needed",
            None,
            budget,
            subject,
        )
    return Outcome(
        Status.FAIL,
        f"short by {_short(budget.gap or 0)}: {wanted} needed, "
        f"{gb(volume.free)} free on {volume.id}",
        _remedy(bare, volume.free, budget.gap or 0, volume),
        budget,
        subject,
    )


def _short(gap: int) -> str:
    shown = gb(gap)
    return shown if shown.endswith(" B") else f"{shown} ({exact(gap)})"


def _size_source(case: Case, role: Role) -> str:
    artifact = case.scenario.profile.artifact(role)
    if artifact is None:
        return "profile"
    figure = (
        artifact.published_size if case.published and artifact.published_size else artifact.size
    )
    return f"{figure.source} ({figure.basis})"


def _headroom_source(case: Case) -> str:
    return (
        "--headroom"
        if case.policy.headroom_percent is not None
        else case.scenario.profile.headroom.source
    )


def _free_source(volume: Volume) -> str:
    return (
        "--free-disk" if volume.source == "flag" else f"free to this user on {volume.id}, measured"
    )


def _why(case: Case, place: Place) -> str:
    if place.problem:
        return place.problem
    prefix = f"places.{place.profile}.{place.role}"
    missing = "volume" if place.measured else "measured"
    return case.host.why(f"{prefix}.{missing}")


def _remedy(bare: int, have: int, gap: int, volume: Volume) -> str:
    fitting = have * 100 // bare - 100 if bare else 0
    if fitting >= 0:
        return (
            f"Free {gb(gap)} on {volume.id}, choose another volume with --dir, or accept "
            f"{fitting}% headroom: --headroom {fitting} passes."
        )
    return f"Free {gb(gap)} on {volume.id}, or choose a larger volume with --dir."


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
            behind = (
                f" (really {place.resolved})" if place.resolved not in {place.path, None} else ""
            )
            text = (
                f"{place.path}{behind} is a directory"
                if place.exists
                else f"{place.path}{behind} does not exist yet; {place.measured} is measured"
            )
            yield Outcome(Status.PASS, f"{place.role}: {text}", subject=place.role)


def writable(case: Case) -> Iterator[Outcome]:
    """This user can create files at each place, by its effective ids."""
    for place in case.host.places_of(case.scenario.profile.name):
        if place.source == "flag":
            yield Outcome(Status.SKIP, _NOT_TOUCHED, subject=place.role)
        elif place.problem:
            yield Outcome(Status.SKIP, f"{place.role}: {place.problem}", subject=place.role)
        elif place.writable is None:
            yield Outcome(Status.UNKNOWN, f"{place.role}: {_why(case, place)}", subject=place.role)
        elif place.writable:
            yield Outcome(
                Status.PASS, f"{place.role}: {place.measured} is writable", subject=place.role
            )
        else:
            yield Outcome(
                Status.FAIL,
                f"{place.role}: this user cannot write to {place.measured}",
                "Change its owner or mode, or choose another directory with --dir.",
                subject=place.role,
            )
