"""What if the machine had this much: facts from flags in place of measured ones."""

from collections.abc import Iterable

from k3preflight.assess.vram import vram_of
from k3preflight.models.disk import Place, Volume
from k3preflight.models.host import Host
from k3preflight.models.machine import Memory
from k3preflight.models.names import Pool, Role
from k3preflight.models.report import Policy
from k3preflight.models.scenario import Scenario
from k3preflight.units import ram


def what_if(host: Host, policy: Policy, scenarios: Iterable[Scenario]) -> tuple[Host, Policy]:
    """The host with the policy's --memory and --free-disk in place, and the notes they call for."""
    size = policy.memory
    if size is not None:
        measured = host.memory.total
        if measured is not None and size > measured:
            note = (
                f"--memory {ram(size)} is more than the {ram(measured)} of this host: "
                "aggregate capacity, not a promise that devices can be combined"
            )
            policy = _with_note(policy, note)
        host = host.model_copy(update={"memory": _memory(size, host.memory)})
    if policy.pool is Pool.VRAM:
        policy = _with_note(policy, _about_vram(host, policy, scenarios))
    if policy.free_disk is not None:
        host = _with_free_disk(host, policy.free_disk, scenarios)
    return host, policy


def _with_note(policy: Policy, note: str) -> Policy:
    return policy.model_copy(update={"notes": (*policy.notes, note)})


def _about_vram(host: Host, policy: Policy, scenarios: Iterable[Scenario]) -> str:
    """What --pool vram adds for runtimes that offload, or why it adds nothing."""
    if policy.memory is not None:
        return "--pool vram adds nothing: --memory says how much there is"
    if not any(scenario.profile.needs.offloads_to_gpu for scenario in scenarios):
        return "--pool vram adds nothing: none of these runtimes offloads to a GPU"
    vram = vram_of(host)
    if not vram.devices:
        return f"--pool vram adds nothing: {vram.why}"
    left_out = f" ({vram.why})" if vram.why else ""
    return (
        f"--pool vram adds {ram(vram.total)} of VRAM where the runtime offloads{left_out}: "
        "aggregate capacity, not a promise that devices can be combined"
    )


def _memory(size: int, measured: Memory) -> Memory:
    return Memory(
        total=size,
        usable=size,
        available=size,
        swap_total=measured.swap_total,
        usable_from="--memory",
        source="flag",
    )


def _with_free_disk(host: Host, free: int, scenarios: Iterable[Scenario]) -> Host:
    """Each distinct path is a volume of its own with `free` bytes; a default trunk shares one."""
    places = [*host.places, *_missing_places(host, scenarios)]
    homes: dict[tuple[str, Role], str] = {}  # of a spread one the first, as what follows it does
    for place in places:
        if place.follows is None:
            homes.setdefault((place.profile, place.role), place.path)
    moved = tuple(
        Place(
            profile=place.profile,
            role=place.role,
            requested=place.requested,
            decided_by=place.decided_by,
            follows=place.follows,
            path=place.path,
            volume=place.path
            if place.follows is None
            else homes.get((place.profile, place.follows), place.path),
            source="flag",
        )
        for place in places
    )
    volumes = tuple(
        Volume(id=volume_id, free=free, source="flag")
        for volume_id in dict.fromkeys(place.volume for place in moved)
        if volume_id is not None
    )
    return host.model_copy(update={"places": moved, "volumes": volumes})


def _missing_places(host: Host, scenarios: Iterable[Scenario]) -> Iterable[Place]:
    """Places for profiles the host was not probed for: no path is needed to say what is free."""
    for profile in {scenario.profile.name: scenario.profile for scenario in scenarios}.values():
        if host.places_of(profile.name):
            continue
        for artifact in profile.artifacts:
            follows = None if artifact.role is Role.CHECKPOINT else Role.CHECKPOINT
            yield Place(
                profile=profile.name,
                role=artifact.role,
                requested="--free-disk",
                decided_by="--free-disk",
                follows=follows,
                path="(any volume)",
                source="flag",
            )
