"""Disk facts: places, the volumes they lie on, and what of an artifact is already there."""

from typing import Literal

from pydantic import Field

from k3preflight.models.base import Bytes, Count, Document, Text
from k3preflight.models.machine import Source
from k3preflight.models.names import Role
from k3preflight.text import visible

Client = Literal["hf-local-dir", "hf-cache", "llama-cache"]
VolumeKind = Literal["local", "network", "fuse", "ram", "overlay", "image", "unknown"]


class WantedFile(Document):
    """A file to look for, by exact name; its bytes where the profile knows them."""

    name: Text
    bytes: Bytes | None = None


class WantedPlace(Document):
    """Where one artifact of one profile is to live, and which of its files to look for.

    `requested` is None where nobody named a directory: the client's own rules decide then.
    """

    profile: Text
    role: Role
    requested: str | None
    decided_by: Text
    follows: Role | None = None
    client: Client = "hf-local-dir"
    directory_variable: Text | None = None
    subfolder: Text | None = None
    repository: Text | None = None
    revision: Text | None = None
    files: tuple[WantedFile, ...] = ()

    @property
    def key(self) -> str:
        """What tells it from other wanted places."""
        return visible(f"{self.profile} {self.role} {self.requested}")


class Found(Document):
    """A file of the artifact, by its exact name.

    `allocated` is what it takes on disk, at most its size; where `verified` is False the file
    system does not say, and it is the size. `written` is False where parts were never written
    (sparse or preallocated), None where that cannot be told. `inode` is one on one machine, so
    that links count once. `target` is the file itself where `path` leads to it by links, `frees`
    what deleting that gives back on the volume of the place; None where nobody looked.
    """

    name: Text
    path: Text
    bytes: Bytes
    allocated: Bytes
    verified: bool = True
    written: bool | None = None
    inode: Text
    target: Text | None = None
    frees: Bytes | None = None


class Partial(Document):
    """What a download in progress, or one that was killed, left behind.

    `live`: locked, or changed in the last ten minutes. `resumes`: its client goes on from it.
    """

    path: Text
    allocated: Bytes
    live: bool
    resumes: bool
    inode: Text


class Elsewhere(Document):
    """Whole files of the artifact in another place this machine has: not credited."""

    path: Text
    files: Count
    bytes: Bytes


class Presence(Document):
    """What of an artifact is already at its place."""

    files: tuple[Found, ...] = ()
    partials: tuple[Partial, ...] = ()
    elsewhere: tuple[Elsewhere, ...] = ()
    git_lfs: Text | None = None


class Trial(Document):
    """What --write-probe saw: a file was created there, and could be as large as the largest."""

    created: bool
    sized: bool | None = None
    error: Text | None = None


class Place(Document):
    """Where one artifact of one profile lives, and what is really there.

    `requested` as given, `path` absolute, `resolved` behind every link, `measured` the nearest
    existing directory at or above it, which is what was looked at. `problem` says why nothing can
    be put there, `barrier` why this user cannot write there. `own_cache`: the download client
    finds it by itself. `caution`: the variable that decided is empty or relative.
    """

    profile: Text
    role: Role
    requested: Text
    decided_by: Text
    follows: Role | None = None
    path: Text
    own_cache: bool = False
    caution: Text | None = None
    resolved: Text | None = None
    measured: Text | None = None
    exists: bool | None = None
    problem: Text | None = None
    writable: bool | None = None
    barrier: Text | None = None
    read_only: bool | None = None
    volume: Text | None = None
    presence: Presence | None = None
    trial: Trial | None = None
    source: Source = "measured"


class Under(Document):
    """What a volume really lies on, where that is not a disk: it can run out before the volume.

    `path` is the backing file or pool, `free` what is left where it lies, `grows` what the backing
    file may still take there (0 where it is fully allocated).
    """

    kind: Literal["loop file", "thin pool", "Windows drive"]
    path: Text | None = None
    mount_point: Text | None = None
    free: Bytes | None = None
    grows: Bytes | None = None
    ram: bool = False


class Volume(Document):
    """A file system that places lie on.

    `free` is what this user can still fill, in bytes: without `reserved`, which only root may use,
    and within `quota_free` where a quota could be read. `unsure` says what looks like the same
    storage and is counted as such. Inodes are null where the file system has no limit.
    `purgeable` is what macOS says it could clear beyond what is free; null where it does not say,
    or where there is no such thing.
    """

    id: Text
    mount_point: Text | None = None
    device: Text | None = None
    filesystem: Text | None = None
    kind: VolumeKind | None = None
    mount_root: Text | None = None
    total: Bytes | None = None
    free: Bytes | None = None
    reserved: Bytes | None = None
    inodes_free: Count | None = None
    largest_file: Bytes | None = None
    read_only: bool | None = None
    quota_free: Bytes | None = None
    quota: Text | None = None
    under: tuple[Under, ...] = ()
    mount_points: tuple[Text, ...] = ()
    unsure: Text | None = None
    purgeable: Bytes | None = None
    source: Source = "measured"


class Scratch(Document):
    """Where the Hub client keeps side files that are not inside the target."""

    path: Text
    decided_by: Text
    volume: Text | None = None
    free: Bytes | None = None


class Disk(Document):
    """What is true of this user and process, wherever a file lies.

    `file_size_limit` is RLIMIT_FSIZE in bytes (2**63 - 1 for none). `alternatives` are local
    volumes that no place lies on; looked for only where a place is too small.
    """

    file_size_limit: Bytes | None = None
    high_performance: bool | None = Field(
        default=None, description="HF_XET_HIGH_PERFORMANCE is on."
    )
    scratch: Scratch | None = None
    alternatives: tuple[Volume, ...] = ()
