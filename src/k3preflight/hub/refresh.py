"""A profile brought up to date with a file list: the difference, and the updated text. Pure."""

import difflib
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import tomlkit
from tomlkit.items import Table

from k3preflight.errors import UsageError
from k3preflight.hub.listing import Listing, Selection, included
from k3preflight.models.names import Role
from k3preflight.models.profile import Artifact, Profile
from k3preflight.units import exact, gb

_SHORT = 8  # digits of a commit, as they are written in prose


class Refreshed(NamedTuple):
    """An updated profile: its text, what changed in a few lines, and what still speaks of before.

    `text` equals the old one where nothing changed.
    """

    text: str
    changes: tuple[str, ...]
    stale: tuple[str, ...]


def refreshable(profile: Profile) -> str:
    """The repository that the profile's checkpoint comes from.

    Raises:
        UsageError: it names none.
    """
    repository = profile.checkpoint.repository
    if repository is None:
        raise UsageError(f"{profile.name} names no repository its checkpoint comes from")
    return repository


def refreshed(profile: Profile, text: str, listing: Listing, today: str) -> Refreshed:
    """`text`, the profile's file, with the checkpoint as `listing` has it; comments are kept.

    Files, bytes, digests and the revision are replaced. Figures worked out from them are not:
    whatever still names the old revision or the old size is listed to be looked at.

    Raises:
        UsageError: no file of the listing belongs to the checkpoint.
    """
    old = profile.checkpoint
    now = included(listing, old.include)
    changes = tuple(_changes(old, now, listing.commit))
    if not changes:
        return Refreshed(text, (), ())
    document = tomlkit.parse(text)
    (artifact,) = (item for item in document["artifacts"] if item["role"] == Role.CHECKPOINT)
    _update(artifact, now, listing.commit, today)
    for part in document["memory"].get("parts", ()):
        if part.get("at_most") == old.size.bytes:
            part["at_most"] = now.bytes
    stale = tuple(_stale(document.unwrap(), old, now.bytes, listing.commit))
    return Refreshed(tomlkit.dumps(document), changes, stale)


def _changes(old: Artifact, now: Selection, commit: str) -> Iterator[str]:
    """What differs, in counts: the patch has the files."""
    if old.revision != commit:
        yield f"revision {old.revision or 'none'} -> {commit}"
    if old.size.bytes != now.bytes:
        step = now.bytes - old.size.bytes
        sign = "+" if step > 0 else "-"
        yield f"size {exact(old.size.bytes)} -> {exact(now.bytes)} ({sign}{gb(abs(step))})"
    files = {file.name: file for file in now.files}
    both = [files[name] for name in old.files if name in files]
    resized = [file for file in both if old.files[file.name] != file.bytes]
    digests = {file.name: file.sha256 for file in now.files if file.sha256}
    known = {name: digest for name, digest in digests.items() if name in old.sha256}
    rewritten = [name for name, digest in known.items() if digest != old.sha256[name]]
    for count, what in (
        (len(files) - len(both), "new in the profile"),
        (len(old.files) - len(both), "no longer there"),
        (len(resized), "of another size"),
        (len(set(rewritten) - {file.name for file in resized}), "of the same size, other content"),
        (len(digests) - len(known), "with a digest the profile has not"),
    ):
        if count:
            yield f"{count} {'file' if count == 1 else 'files'} {what}"


def _update(artifact: Table, now: Selection, commit: str, today: str) -> None:
    read = f"Hub API, {today}"
    artifact["revision"] = commit
    artifact["source"] = f"{read}, file list at {commit[:_SHORT]}"
    size = artifact["size"]
    size["bytes"] = now.bytes
    size["basis"] = "exact"
    size["source"] = f"{read}, sum of {len(now.files)} files"
    for key in (
        "other_bytes",
        "named_files",
        "file_count",
    ):  # now every file is known by name and bytes
        artifact.pop(key, None)
    digests = {file.name: file.sha256 for file in now.files if file.sha256}
    _replace(artifact, "files", {file.name: file.bytes for file in now.files})
    _replace(artifact, "sha256", digests)


def _replace(artifact: Table, key: str, values: Mapping[str, Any]) -> None:
    """The table `key` with these values: what stays keeps its place and comment."""
    if not values:
        artifact.pop(key, None)
        return
    if key not in artifact:
        artifact[key] = tomlkit.table()
        artifact[key].update(values)
        artifact[key].add(tomlkit.nl())
        return
    table = artifact[key]
    for name in [name for name in table if name not in values]:
        del table[name]
    table.update(values)


def _stale(document: Any, old: Artifact, size: int, commit: str) -> Iterator[str]:  # noqa: ANN401 - any TOML
    """Keys whose text or number is the old revision's or the old size's."""
    marks = set()
    if old.revision and old.revision != commit:
        marks.add(old.revision[:_SHORT])
    numbers = {old.size.bytes} if old.size.bytes != size else set()
    marks |= {f"{number:,}" for number in numbers}
    for key, value in _leaves(document, ""):
        if (isinstance(value, str) and any(mark in value for mark in marks)) or value in numbers:
            yield f"{key} = {value!r}" if isinstance(value, str) else f"{key} = {value:,}"


def _leaves(value: Any, path: str) -> Iterator[tuple[str, Any]]:  # noqa: ANN401 - any TOML
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _leaves(inner, f"{path}.{key}" if path else key)
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _leaves(inner, f"{path}[{index}]")
    else:
        yield path, value


def summary(profile: Profile, before: str, result: Refreshed, listing: Listing) -> str:
    """What changed, in a few lines, and below them as a patch of the profile's file."""
    lines = [f"{profile.name}: {listing.repository} at {listing.commit}"]
    if not result.changes:
        files, size = len(profile.checkpoint.files), exact(profile.checkpoint.size.bytes)
        return f"{lines[0]}\nunchanged: {files} files, {size}\n"
    lines += result.changes
    if result.stale:
        lines += ["still of before, look at:", *(f"  {entry}" for entry in result.stale)]
    patch = difflib.unified_diff(
        before.splitlines(keepends=True),
        result.text.splitlines(keepends=True),
        fromfile=f"{profile.name}.toml",
        tofile=f"{profile.name}.toml",
        fromfiledate=(profile.checkpoint.revision or "no revision")[:_SHORT],
        tofiledate=listing.commit[:_SHORT],
    )
    return "\n".join(lines) + "\n\n" + "".join(patch)
