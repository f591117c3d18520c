"""What the probe is to look at, from the chosen scenarios and the user's places."""

import os
from collections.abc import Iterable, Sequence

from k3preflight.cli.options import PlaceOption
from k3preflight.errors import UsageError
from k3preflight.models.host import Wanted, WantedPlace
from k3preflight.models.names import CheckId, Role
from k3preflight.models.profile import Artifact, Profile
from k3preflight.models.scenario import Choice


def wanted(
    choices: Iterable[Choice],
    directory: str | None,
    places: Sequence[PlaceOption],
    skip: Iterable[CheckId] = (),
    *,
    touch_disk: bool = True,
) -> Wanted:
    """Every chosen profile's roles, each where the user or the runtime puts it.

    Raises:
        UsageError: a role no chosen profile has, or one spread that must stay in one place.
    """
    profiles = {
        scenario.profile.name: scenario.profile
        for choice in choices
        for scenario in choice.scenarios
    }
    _refuse_unused(profiles.values(), places)
    return Wanted(
        profiles=tuple(profiles),
        places=tuple(
            place
            for profile in profiles.values()
            for artifact in profile.artifacts
            for place in _places(profile, artifact, directory, places)
        ),
        touch_disk=touch_disk,
        skip=frozenset(skip),
    )


def _refuse_unused(profiles: Iterable[Profile], places: Sequence[PlaceOption]) -> None:
    profiles = list(profiles)
    for role, path in places:
        if not any(profile.artifact(role) for profile in profiles):
            names = ", ".join(profile.name for profile in profiles)
            raise UsageError(f"--place {role}={path}: none of {names} has a {role}")


def _places(
    profile: Profile, artifact: Artifact, directory: str | None, places: Sequence[PlaceOption]
) -> Iterable[WantedPlace]:
    def place(requested: str, decided_by: str, follows: Role | None = None) -> WantedPlace:
        return WantedPlace(
            profile=profile.name,
            role=artifact.role,
            requested=requested,
            decided_by=decided_by,
            follows=follows,
        )

    named = [path for role, path in places if role is artifact.role]
    if len(named) > 1 and not artifact.may_spread:
        raise UsageError(
            f"--place {artifact.role}: {profile.name} cannot spread its {artifact.role} over "
            f"{len(named)} directories",
            "Name one directory for it, or leave the profile out.",
        )
    if named:
        return [place(path, f"--place {artifact.role}") for path in named]
    home, decided_by = (directory, "--dir") if directory else (".", "current directory")
    if artifact.subfolder:
        checkpoint = next((path for role, path in places if role is Role.CHECKPOINT), home)
        return [
            place(os.path.join(checkpoint, artifact.subfolder), "default", Role.CHECKPOINT)  # noqa: PTH118 - a path as typed, not normalised
        ]
    return [place(home, decided_by)]
