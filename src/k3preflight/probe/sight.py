"""One path looked at: where it really is, what volume that is, and which files are there."""

import json
from pathlib import Path
from typing import Self

from k3preflight.models.base import Document, Text
from k3preflight.models.disk import Presence, WantedPlace
from k3preflight.probe.mounts import mounts
from k3preflight.probe.places import Look, look
from k3preflight.probe.presence import presence
from k3preflight.probe.root import Root
from k3preflight.probe.volumes import Seen, volume_at


class Question(Document):
    """A path to look at, and for whom: which of their files are there?"""

    path: str
    wants: tuple[WantedPlace, ...] = ()
    root: Path = Path("/")

    def as_json(self) -> str:
        """JSON that carries undecodable bytes, which pydantic's own does not."""
        return json.dumps(self.model_dump(), default=str)

    @classmethod
    def from_json(cls, text: bytes) -> Self:
        """The question in `text`."""
        return cls.model_validate(json.loads(text))


class Sight(Document):
    """The answer: the path, its volume, and the presence for each of `wants`, by its key."""

    look: Look
    seen: Seen | None = None
    volume_unknown: Text | None = None
    presence: dict[str, Presence] | None = None
    presence_unknown: Text | None = None


def answer(question: Question) -> Sight:
    """Look at the path, its volume and the files. May never return: ask in a child."""
    found = look(question.path)
    if found.measured is None:
        return Sight(look=found)
    root = Root(question.root)
    seen, volume_unknown = None, None
    try:
        seen = volume_at(found, mounts(root), root)
    except OSError as error:
        volume_unknown = f"{error.filename} cannot be read: {error.strerror}"
    filesystem = seen.volume.filesystem if seen else None
    present, presence_unknown = None, None
    try:
        present = {
            want.key: presence(found.path, want, root, filesystem) for want in question.wants
        }
    except OSError as error:
        presence_unknown = f"{error.filename} cannot be looked at: {error.strerror}"
    return Sight(
        look=found,
        seen=seen,
        volume_unknown=volume_unknown,
        presence=present,
        presence_unknown=presence_unknown,
    )
