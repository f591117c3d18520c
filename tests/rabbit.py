"""Rabbit's files on the factory's host, and what the checks find there."""

from factory import choices, host
from k3preflight.assess import assess
from k3preflight.models.disk import (
    Found,
    Partial,
    Place,
    Presence,
    Volume,
)
from k3preflight.models.host import Host
from k3preflight.models.names import CheckId, Role
from k3preflight.models.report import Finding, Policy
from k3preflight.profiles import catalog, choose

RABBIT = choose(["rabbit"], catalog())[0].scenarios[0].profile
FILES = RABBIT.checkpoint.files
NEED = 1_795_148_832_049  # 1,560,998,984,390 with 15%


def judge(
    machine: Host, name: str = "rabbit", **policy: object
) -> dict[CheckId, tuple[Finding, ...]]:
    """What every check found for one scenario."""
    report = assess(choices(name), machine, Policy.model_validate(policy))
    return {check: report.assessments[0].of(check) for check in CheckId}


def one(machine: Host, check: CheckId, name: str = "rabbit", **policy: object) -> Finding:
    """The check's only finding."""
    (found,) = judge(machine, name, **policy)[check]
    return found


def found(name: str, size: int | None = None, **more: object) -> Found:
    """A file of Rabbit's checkpoint, whole unless said otherwise."""
    size = FILES[name] if size is None else size
    facts = {
        "name": name,
        "path": f"/data/k3/{name}",
        "bytes": size,
        "allocated": size,
        "inode": name,
    }
    return Found.model_validate(facts | {"inode": name} | more)


def partial(name: str, size: int, *, live: bool = False, resumes: bool = False) -> Partial:
    """A partial file beside them."""
    return Partial(path=f"/data/k3/{name}", allocated=size, live=live, resumes=resumes, inode=name)


def changed(machine: Host, *, volume: dict[str, object] | None = None, **place: object) -> Host:
    """The host with these facts of every place and every volume."""
    return machine.model_copy(
        update={
            "places": tuple(item.model_copy(update=place) for item in machine.places),
            "volumes": tuple(item.model_copy(update=volume or {}) for item in machine.volumes),
        }
    )


def with_files(free: int, *files: Found, partials: tuple[Partial, ...] = ()) -> Host:
    """A host with these files at Rabbit's place."""
    presence = Presence(files=files, partials=partials)
    return changed(host(free=free), presence=presence)


def spread(*frees: int | None) -> Host:
    """Rabbit's checkpoint over as many volumes as figures are given."""
    volumes = tuple(Volume(id=f"/v{index}", free=free) for index, free in enumerate(frees))
    places = tuple(
        Place(
            profile="rabbit",
            role=Role.CHECKPOINT,
            requested=f"/v{index}/k3",
            decided_by="--place checkpoint",
            path=f"/v{index}/k3",
            resolved=f"/v{index}/k3",
            measured=f"/v{index}",
            writable=True,
            volume=f"/v{index}",
        )
        for index in range(len(frees))
    )
    return host(profiles=("rabbit",)).model_copy(update={"volumes": volumes, "places": places})
