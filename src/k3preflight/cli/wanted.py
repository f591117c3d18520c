"""What the probe is to look at, from the chosen scenarios and the user's places."""

import os
from collections.abc import Iterable, Sequence

from k3preflight.cli.options import PlaceOption
from k3preflight.errors import UsageError
from k3preflight.models.disk import WantedFile, WantedPlace
from k3preflight.models.host import Wanted
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
    """Every chosen profile's roles, each where the user or the download client puts it.

    Raises:
        UsageError: an empty --dir, a role no chosen profile has, or one spread that must stay in
            one place.
    """
    if directory == "":
        raise UsageError("--dir is empty", "Name a directory, such as --dir /data/k3.")
    profiles = {
        scenario.profile.name: scenario.profile
        for choice in choices
        for scenario in choice.scenarios
    }
    _refuse_unused(profiles.values(), places)
    left_out = frozenset(skip)
    return Wanted(
        profiles=tuple(profiles),
        places=tuple(
            place
            for profile in profiles.values()
            for artifact in profile.artifacts
            for place in _places(profile, artifact, directory, places)
        ),
        touch_disk=touch_disk,
        skip=left_out,
        tools=() if CheckId.RUNTIME_TOOLS in left_out else _tools(profiles.values()),
        gpu=any(profile.needs.offloads_to_gpu for profile in profiles.values()),
    )


def _tools(profiles: Iterable[Profile]) -> tuple[str, ...]:
    """Ids of the tools any of the profiles needs, each once."""
    return tuple(dict.fromkeys(tool.id for profile in profiles for tool in profile.needs.tools))


def _refuse_unused(profiles: Iterable[Profile], places: Sequence[PlaceOption]) -> None:
    profiles = list(profiles)
    for role, path in places:
        if not any(profile.artifact(role) for profile in profiles):
            names = ", ".join(profile.name for profile in profiles)
            raise UsageError(f"--place {role}={path}: none of {names} has a {role}")


def _places(
    profile: Profile, artifact: Artifact, directory: str | None, places: Sequence[PlaceOption]
) -> Iterable[WantedPlace]:
    def place(requested: str | None, decided_by: str, follows: Role | None = None) -> WantedPlace:
        return WantedPlace(
            profile=profile.name,
            role=artifact.role,
            requested=requested,
            decided_by=decided_by,
            follows=follows,
            client=profile.download.client,
            directory_variable=profile.download.directory_variable,
            subfolder=artifact.subfolder,
            repository=artifact.repository,
            revision=artifact.revision,
            files=_files(artifact),
        )

    named = list(dict.fromkeys(path for role, path in places if role is artifact.role))
    if len(named) > 1 and not artifact.may_spread:
        raise UsageError(
            f"--place {artifact.role}: {profile.name} cannot spread its {artifact.role} over "
            f"{len(named)} directories",
            "Name one directory for it, or leave the profile out.",
        )
    if named:
        return [place(path, f"--place {artifact.role}") for path in named]
    if artifact.subfolder:
        home = next((path for role, path in places if role is Role.CHECKPOINT), directory)
        path = None if home is None else os.path.join(home, artifact.subfolder)  # noqa: PTH118 - a path as typed, not normalised
        return [place(path, "default", Role.CHECKPOINT)]
    return [place(directory, "--dir" if directory else "the download client")]


def _files(artifact: Artifact) -> tuple[WantedFile, ...]:
    sized = (WantedFile(name=name, bytes=size) for name, size in artifact.files.items())
    return (*sized, *(WantedFile(name=name) for name in artifact.named_files))
