"""Volumes: which one a place lies on, and how many bytes this user can still fill there."""

import os
from collections.abc import Iterable
from typing import NamedTuple

import psutil

from k3preflight.models.host import Place, Unknown, Volume, WantedPlace
from k3preflight.probe.places import absolute, look


class DiskFacts(NamedTuple):
    """Places, the volumes they lie on, and what could not be read."""

    places: tuple[Place, ...]
    volumes: tuple[Volume, ...]
    unknown: tuple[Unknown, ...]


def probe_disk(wanted: Iterable[WantedPlace]) -> DiskFacts:
    """Look at every wanted place and measure each volume once."""
    places: list[Place] = []
    volumes: dict[str, Volume] = {}
    unknown: list[Unknown] = []
    for want in wanted:
        seen = look(want.requested)
        fact = f"places.{want.profile}.{want.role}"
        volume_id = None
        if seen.measured is not None:
            volume_id, reason = _measure(seen.measured, volumes)
            if reason:
                unknown.append(Unknown(fact=f"{fact}.volume", reason=reason))
        elif seen.unknown:
            unknown.append(Unknown(fact=f"{fact}.measured", reason=seen.unknown))
        unknown.append(Unknown(fact=f"{fact}.present", reason="not looked at"))
        places.append(
            Place(
                profile=want.profile,
                role=want.role,
                requested=want.requested,
                decided_by=want.decided_by,
                follows=want.follows,
                path=seen.path,
                resolved=seen.resolved,
                measured=seen.measured,
                exists=seen.exists,
                problem=seen.problem,
                writable=seen.writable,
                volume=volume_id,
            )
        )
    return DiskFacts(tuple(places), tuple(volumes.values()), tuple(unknown))


def untouched(wanted: Iterable[WantedPlace]) -> DiskFacts:
    """The wanted places as they are named; nothing is looked at."""
    places = tuple(
        Place(
            profile=want.profile,
            role=want.role,
            requested=want.requested,
            decided_by=want.decided_by,
            follows=want.follows,
            path=absolute(want.requested),
        )
        for want in wanted
    )
    return DiskFacts(places, (), ())


def _measure(directory: str, volumes: dict[str, Volume]) -> tuple[str | None, str | None]:
    """The volume id of `directory`, added to `volumes` where it is new, or None and the reason."""
    try:
        usage = psutil.disk_usage(directory)
        partitions = psutil.disk_partitions(all=True)
    except OSError as error:
        return None, f"{directory} cannot be measured: {error.strerror}"
    inside = [
        part
        for part in partitions
        if os.path.commonpath([part.mountpoint, directory]) == part.mountpoint
    ]
    mount = max(inside, key=lambda part: len(part.mountpoint), default=None)
    volume_id = mount.mountpoint if mount else directory
    if volume_id not in volumes:
        volumes[volume_id] = Volume(
            id=volume_id,
            mount_point=mount.mountpoint if mount else None,
            device=mount.device if mount else None,
            filesystem=mount.fstype if mount else None,
            total=usage.total,
            free=usage.free,
        )
    return volume_id, None
