"""What verify does between the probe and the page: sort the files, read them, compare digests."""

import errno
from collections.abc import Iterator

from k3preflight.assess.here import here
from k3preflight.errors import UndeterminedError
from k3preflight.models.disk import Found, Place
from k3preflight.models.profile import Artifact, Profile
from k3preflight.models.verified import Broken, Verified
from k3preflight.probe.digests import behind, left_beside, matches
from k3preflight.probe.disk import DiskFacts
from k3preflight.render.progress import progress
from k3preflight.units import exact, gb

_REFUSED = {errno.EACCES, errno.EPERM}


def inventory(profile: Profile, facts: DiskFacts) -> tuple[Verified, ...]:
    """Each artifact's files: whole, broken, missing. A derived one may not be made yet.

    Raises:
        UndeterminedError: a place could not be looked at.
    """
    parts = []
    for artifact in profile.artifacts:
        places = [place for place in facts.places if place.role is artifact.role]
        for place in places:
            if place.presence is None and place.problem is None:
                why = next(
                    (entry.reason for entry in facts.unknown if entry.fact.endswith(".presence")),
                    f"{place.path} was not looked at",
                )
                raise UndeterminedError(f"{artifact.role}: {why}")
        there = here(artifact, places)
        problem = next((place.problem for place in places if place.problem), None)
        made = there.whole or there.wrong or problem
        if artifact.obtained == "derive" and not made:
            continue
        unwritten = [item for item in there.whole if item.written is False]
        good = tuple(item for item in there.whole if item.written is not False)
        parts.append(
            Verified(
                role=artifact.role,
                paths=tuple(dict.fromkeys(place.path for place in places)),
                files=good,
                expected=len(artifact.files) + len(artifact.named_files),
                missing=there.missing,
                broken=(
                    *(Broken(item.path, _wrong(artifact, item)) for item in there.wrong),
                    *(Broken(item.path, "has parts that were never written") for item in unwritten),
                ),
                digests=_digests(artifact, good, places),
                problem=problem,
            )
        )
    return tuple(parts)


def _wrong(artifact: Artifact, item: Found) -> str:
    size = artifact.files.get(item.name)
    if size is None:
        return "is empty"
    if item.bytes == size:
        return f"is sparse: {gb(item.allocated)} of {gb(size)} are on disk"
    return f"has {exact(item.bytes)}, should have {exact(size)}"


def _digests(
    artifact: Artifact, files: tuple[Found, ...], places: list[Place]
) -> dict[str, str | None]:
    """The digest each file should have; None where nobody recorded one."""
    return {
        item.path: artifact.sha256.get(item.name) or next(iter(_recorded(item, places)), None)
        for item in files
    }


def _recorded(item: Found, places: list[Place]) -> Iterator[str]:
    for place in places:
        digest = left_beside(behind(place.path), item.name, behind(item.path))
        if digest:
            yield digest


def digests(part: Verified) -> Verified:
    """The same with every file read that has a digest to compare with."""
    known = [item for item in part.files if part.digests[item.path]]
    broken: list[Broken] = []
    with progress(f"{part.role}: reading", sum(item.bytes for item in known)) as advance:
        for item in known:
            digest = part.digests[item.path] or ""
            try:
                if not matches(behind(item.path), digest, advance):
                    broken.append(Broken(item.path, f"has another digest than {digest}"))
            except OSError as error:
                if error.errno not in _REFUSED:
                    broken.append(Broken(item.path, f"cannot be read: {error.strerror}"))
                    continue
                # It may well be whole: nothing that another user could not read is to be deleted.
                raise UndeterminedError(
                    f"{item.path} cannot be read: {error.strerror}",
                    "Run verify as a user who may read it.",
                ) from error
    bad = {item.path for item in broken}
    return part._replace(
        files=tuple(item for item in part.files if item.path not in bad),
        broken=(*part.broken, *broken),
        compared=len(known) - len(broken),
    )
