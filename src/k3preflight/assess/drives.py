"""Which volumes a scenario's tokens are read from, and what each is known to deliver."""

from collections.abc import Iterator
from typing import NamedTuple

from k3preflight.assess.case import Case
from k3preflight.assess.traffic import Drive, Kind, Rates
from k3preflight.models.names import Role
from k3preflight.models.pace import PaceInput
from k3preflight.models.storage import DirectoryRates, Pattern
from k3preflight.units import speed


class Drives(NamedTuple):
    """The drives, what they are stated to deliver, and what to know about that.

    `refuse_direct` says that a measured volume took no direct I/O, so that the page cache serves
    reads there. `why` is the reason nothing was measured, where a bench gave one.
    """

    all: tuple[Drive, ...]
    stated: str
    inputs: tuple[PaceInput, ...]
    caveats: tuple[str, ...]
    refuse_direct: bool
    why: str


class _Known(NamedTuple):
    """What is known of one role on one volume."""

    best: int
    sequential: Rates
    random: Rates
    source: str


def drives_of(case: Case) -> Drives:
    """Roles on one volume add up; a role spread over several reads from all of them at once."""
    groups = _groups(case)
    drives, inputs = [], []
    for volumes, roles in groups:
        known = _group(case, volumes, roles)
        name = " and ".join(volumes)
        holds: tuple[Kind, ...] = tuple(kind for role in roles for kind in _kinds(case, role))
        nothing = Rates(0, 0, 0)
        drives.append(
            Drive(name, holds, known.best, known.sequential, known.random)
            if known
            else Drive(name, holds, 0, nothing, nothing)
        )
        if known:
            inputs.append(
                PaceInput(name=f"best of {name}", value=known.best, unit="B/s", source=known.source)
            )
    measured = [
        found
        for volumes, _ in groups
        for volume in volumes
        if (found := _measured(case, volume)) is not None
    ]
    return Drives(
        all=tuple(drives),
        stated=", ".join(
            f"{drive.name} delivers {speed(drive.best)}" if drive.best else f"{drive.name} unknown"
            for drive in drives
        )
        + "".join(f" ({source})" for source in sorted({entry.source for entry in inputs})),
        inputs=tuple(inputs),
        caveats=tuple(dict.fromkeys(caveat for found in measured for caveat in found.caveats)),
        refuse_direct=any(found.mode != "direct" for found in measured),
        why="".join(f": {reason}" for reason in _reasons(case, groups)),
    )


_Group = tuple[tuple[str, ...], tuple[Role, ...]]


def _groups(case: Case) -> list[_Group]:
    """Volumes with the roles on them; those a role is spread over are one group."""
    groups: list[_Group] = []
    for artifact in case.scenario.profile.artifacts:
        volumes = _volumes(case, artifact.role)
        roles: tuple[Role, ...] = (artifact.role,)
        apart: list[_Group] = []
        for others, held in groups:
            if set(others) & set(volumes):
                volumes, roles = tuple(dict.fromkeys((*others, *volumes))), (*held, *roles)
            else:
                apart.append((others, held))
        groups = [*apart, (volumes, roles)]
    return groups


def _kinds(case: Case, role: Role) -> tuple[Kind, ...]:
    """What is read of a role: dense weights from the trunk where there is one, experts else."""
    if role is Role.TRUNK:
        return ("sequential",)
    return ("random",) if case.scenario.profile.artifact(Role.TRUNK) else ("sequential", "random")


def _volumes(case: Case, role: Role) -> tuple[str, ...]:
    """The volumes of a role. One nobody could identify is named by the path that leads there."""
    places = case.host.places_of(case.scenario.profile.name, role)
    if not places:
        return ("the volume",)
    volumes: list[str] = []
    for place in places:
        if place.volume is None and place.follows is not None:
            volumes += _volumes(case, place.follows)
        else:
            volumes.append(place.volume or place.path)
    return tuple(dict.fromkeys(volumes))


def _group(case: Case, volumes: tuple[str, ...], roles: tuple[Role, ...]) -> _Known | None:
    """What a group delivers: the most any of its roles is known to get."""
    found = [known for role in roles if (known := _role(case, volumes, role)) is not None]
    if not found:
        return None
    by_kind = {
        kind: known
        for role in roles
        if (known := _role(case, volumes, role)) is not None
        for kind in _kinds(case, role)
    }
    fallback = found[0]
    return _Known(
        max(known.best for known in found),
        by_kind.get("sequential", fallback).sequential,
        by_kind.get("random", fallback).random,
        "; ".join(dict.fromkeys(known.source for known in found)),
    )


def _role(case: Case, volumes: tuple[str, ...], role: Role) -> _Known | None:
    """Said of the role, said of every volume, or measured on all of them."""
    for wanted, count in ((role, 1), (None, len(volumes))):
        for said in case.policy.bandwidth:
            if said.role == wanted:
                total = said.bytes_per_second * count
                rates = Rates(total, total, total)
                return _Known(total, rates, rates, "--bandwidth")
    measured = [found for volume in volumes if (found := _measured(case, volume)) is not None]
    if len(measured) < len(volumes):
        return None
    return _Known(
        sum(found.best_bytes_per_second or 0 for found in measured),
        _added(list(_rates(measured, "sequential"))),
        _added(list(_rates(measured, "random"))),
        "measured",
    )


def _measured(case: Case, volume: str) -> DirectoryRates | None:
    return case.host.storage.of(volume) if case.host.storage else None


_PATTERNS: dict[Kind, tuple[Pattern, ...]] = {
    "sequential": ("sequential-8", "sequential-1"),
    "random": ("random-8", "random-1"),
}


def _rates(measured: list[DirectoryRates], kind: Kind) -> Iterator[Rates]:
    """Each volume's rates with 8 threads, or with one; its best where that pattern gave none."""
    for found in measured:
        best = found.best_bytes_per_second or 0
        rate = next(filter(None, map(found.rate, _PATTERNS[kind])), None)
        if rate is None:
            yield Rates(best, best, best)
        else:
            yield Rates(
                rate.best_bytes_per_second or best,
                rate.median_bytes_per_second or best,
                rate.min_bytes_per_second or best,
            )


def _added(rates: list[Rates]) -> Rates:
    return Rates(
        sum(rate.best for rate in rates),
        sum(rate.median for rate in rates),
        sum(rate.minimum for rate in rates),
    )


def _reasons(case: Case, groups: list[_Group]) -> Iterator[str]:
    if case.host.storage is None:
        return
    volumes = {volume for held, _ in groups for volume in held}
    for found in case.host.storage.directories:
        if found.volume in volumes and found.reason:
            yield f"{found.directory}: {found.reason}"
