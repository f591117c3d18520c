"""One path looked at: where it really is, what volume that is, and which files are there."""

import json
from pathlib import Path
from typing import Self

from pydantic import Field

from k3preflight.models.base import Bytes, Document, Text
from k3preflight.models.disk import Found, Presence, Trial, WantedPlace
from k3preflight.probe.mounts import mounts
from k3preflight.probe.places import Look, absolute, look, nearest
from k3preflight.probe.presence import presence, strays
from k3preflight.probe.root import Root
from k3preflight.probe.trial import try_sharing, try_writing
from k3preflight.probe.volumes import Seen, volume_at


class Question(Document):
    """A path to look at, and for whom: which of their files are there?

    `write` asks for a trial with a file of that many bytes, `shares_with` for one whether that
    other directory is the same storage.
    """

    path: str
    wants: tuple[WantedPlace, ...] = ()
    write: Bytes | None = None
    shares_with: str | None = None
    root: Path = Path("/")

    def as_json(self) -> str:
        """JSON that carries undecodable bytes, which pydantic's own does not."""
        return json.dumps(self.model_dump(), default=str)

    @classmethod
    def from_json(cls, text: bytes) -> Self:
        """The question in `text`."""
        return cls.model_validate(json.loads(text))


class Sight(Document):
    """The answer: the path, its volume, and the presence for each of `wants`, by its key.

    `strays` are whole files that another client left there.
    """

    look: Look
    seen: Seen | None = None
    volume_unknown: Text | None = None
    presence: dict[str, Presence] | None = None
    strays: dict[str, tuple[Found, ...]] = Field(default_factory=dict)
    presence_unknown: Text | None = None
    trial: Trial | None = None
    shares: bool | None = None


def answer(question: Question) -> Sight:
    """Look at the path, its volume and the files. May never return: ask in a child."""
    found = look(question.path)
    if found.measured is None:
        return Sight(look=found)
    measured = nearest(question.path)
    if question.shares_with is not None:
        return Sight(look=found, shares=try_sharing(measured, nearest(question.shares_with)))
    root = Root(question.root)
    seen, volume_unknown = None, None
    try:
        seen = volume_at(found, mounts(root), root)
    except OSError as error:
        volume_unknown = f"{error.filename} cannot be read: {error.strerror}"
    filesystem = seen.volume.filesystem if seen else None
    present, left, presence_unknown = None, {}, None
    path = absolute(question.path)
    try:
        present = {want.key: presence(path, want, root, filesystem) for want in question.wants}
        left = {want.key: strays(path, want, filesystem) for want in question.wants}
    except OSError as error:
        presence_unknown = f"{error.filename} cannot be looked at: {error.strerror}"
    trial = None
    if question.write is not None:
        trial = try_writing(measured, question.write, filesystem)
    return Sight(
        look=found,
        trial=trial,
        seen=seen,
        volume_unknown=volume_unknown,
        presence=present,
        strays=left,
        presence_unknown=presence_unknown,
    )
