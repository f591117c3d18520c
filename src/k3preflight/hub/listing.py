"""The files of a repository at one commit, and which of them make up a checkpoint. Pure."""

import re
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from glob import escape
from typing import NamedTuple

from k3preflight.errors import UsageError
from k3preflight.text import listed

REPOSITORY = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*/[A-Za-z0-9][A-Za-z0-9._-]*\Z")
_SHARD = re.compile(r"-([0-9]{5})-of-([0-9]{5})\Z")


class HubFile(NamedTuple):
    """One file: its path in the repository, its bytes, and its digest where the Hub keeps one."""

    name: str
    bytes: int
    sha256: str | None = None


class Listing(NamedTuple):
    """Every file of `repository` at `commit`; `context` is what GGUF metadata says of positions."""

    repository: str
    commit: str
    files: tuple[HubFile, ...]
    context: int | None = None


class Selection(NamedTuple):
    """The files that make up one checkpoint, and the patterns that take them and no others."""

    include: tuple[str, ...]
    files: tuple[HubFile, ...]

    @property
    def bytes(self) -> int:
        """Their sum."""
        return sum(file.bytes for file in self.files)

    @property
    def gguf(self) -> bool:
        """Whether they are GGUF files alone."""
        return all(file.name.endswith(".gguf") for file in self.files)


def repository_name(text: str) -> str:
    """`text`, where it is an owner and a name.

    Raises:
        UsageError: it is not.
    """
    if not REPOSITORY.match(text):
        raise UsageError(
            f"{text!r} is not a repository of the Hub",
            "Write OWNER/NAME, such as moonshotai/Kimi-K3.",
        )
    return text


def included(listing: Listing, include: Sequence[str]) -> Selection:
    """The files that the patterns take, as the Hub's own client does; all of them without any.

    Raises:
        UsageError: no file is taken.
    """
    taken = tuple(
        file
        for file in listing.files
        if not include or any(fnmatchcase(file.name, pattern) for pattern in include)
    )
    if not taken:
        raise UsageError(
            f"{listing.repository} has no file {' or '.join(include) or 'at all'} "
            f"at {listing.commit[:8]}",
            "It may have been renamed; k3preflight profiles new makes a profile of another name.",
        )
    return Selection(tuple(include), taken)


def chosen(listing: Listing, quant: str | None) -> Selection:
    """What `quant` names among the GGUF files; without one the repository, or its only quant.

    A quant is named by its folder, by the end of its file name, or by the whole of it.

    Raises:
        UsageError: there is none, or several are meant, or shards of it are missing.
    """
    quants = _quants(listing.files)
    if quant is None:
        if any(file.name.endswith(".safetensors") for file in listing.files):
            return Selection((), listing.files)
        if not quants:
            raise UsageError(
                f"{listing.repository} has neither safetensors nor GGUF files "
                f"at {listing.commit[:8]}"
            )
        names = list(quants)
    else:
        names = _named(quant, quants)
    if len(names) != 1:
        where = f"{listing.repository} at {listing.commit[:8]}"
        known = listed([_short(name) for name in (names or quants)], most=20)
        said = (
            f"{where} has no quant {quant!r}" if not names else f"{where} has {len(names)} quants"
        )
        raise UsageError(said, f"Write {listing.repository}:QUANT; it has {known or 'none'}.")
    files = quants[names[0]]
    _refuse_missing(names[0], files)
    return Selection((_pattern(names[0], files, listing.files),), tuple(files))


def _quants(files: Iterable[HubFile]) -> dict[str, list[HubFile]]:
    """GGUF files by their path without shard number and suffix; projectors are no quant."""
    found: dict[str, list[HubFile]] = {}
    for file in files:
        if file.name.endswith(".gguf") and not file.name.rpartition("/")[2].startswith("mmproj"):
            stem = _SHARD.sub("", file.name.removesuffix(".gguf"))
            found.setdefault(stem, []).append(file)
    return found


def _named(quant: str, quants: Iterable[str]) -> list[str]:
    """Those that are called so; those that end so only where none is."""
    wanted = quant.lower()

    def called(stem: str) -> bool:
        folder, _, name = stem.lower().rpartition("/")
        return wanted in {folder, folder.rpartition("/")[2], name, stem.lower()}

    exact = [stem for stem in quants if called(stem)]
    return exact or [
        stem for stem in quants if re.search(rf"[-._]{re.escape(wanted)}\Z", stem.lower())
    ]


def _short(stem: str) -> str:
    """The folder a quant lies in, or else its whole name."""
    folder, _, name = stem.rpartition("/")
    return folder or name


def _refuse_missing(stem: str, files: Sequence[HubFile]) -> None:
    shards = [match for file in files if (match := _SHARD.search(file.name.removesuffix(".gguf")))]
    if not shards:
        return
    there = {int(match[1]) for match in shards}
    missing = [str(n) for n in range(1, int(shards[0][2]) + 1) if n not in there]
    if missing:
        raise UsageError(
            f"{stem}: of {int(shards[0][2])} shards the repository lacks {listed(missing)}",
            "It may be in the middle of an upload; name another --revision.",
        )


def _pattern(stem: str, files: Sequence[HubFile], every: Sequence[HubFile]) -> str:
    """The pattern that takes these files and no others: their folder where that is theirs alone."""
    folder = stem.rpartition("/")[0]
    beside = [file for file in every if folder and file.name.startswith(f"{folder}/")]
    if len(beside) == len(files):
        return f"{escape(folder)}/*"
    if len(files) == 1 and not _SHARD.search(files[0].name.removesuffix(".gguf")):
        return escape(files[0].name)
    return f"{escape(stem)}-?????-of-?????.gguf"
