"""What verify found of one artifact."""

from typing import NamedTuple

from k3preflight.models.disk import Found
from k3preflight.models.names import Role


class Broken(NamedTuple):
    """A file that is there and is not what it should be."""

    path: str
    why: str


class Verified(NamedTuple):
    """One artifact's files. `digests` by path; `compared` is how many of them match.

    `problem` says why nothing can be where it was looked for.
    """

    role: Role
    paths: tuple[str, ...]
    files: tuple[Found, ...]
    expected: int
    missing: tuple[str, ...]
    broken: tuple[Broken, ...]
    digests: dict[str, str | None]
    compared: int = 0
    problem: str | None = None

    @property
    def whole(self) -> bool:
        """Whether nothing is missing and nothing broken."""
        return not self.problem and not self.missing and not self.broken
